// The end of a server that has no memory left for what it has begun.
#pragma once

namespace faultline {

// Says so and ends the process at once, needing no memory. The work that failed is lost, and with
// it maybe what accepts connections: such a server looks alive, so nobody would start it again.
// What was acknowledged is on the disk.
[[noreturn]] void end_out_of_memory() noexcept;

}  // namespace faultline
