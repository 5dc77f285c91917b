// Reads a file of /proc or /sys.
#pragma once

#include <cstddef>
#include <string>

namespace faultline {

// Up to `most` bytes; empty if it cannot be read. A process can make its files in /proc as large as
// it likes.
std::string read_small_file(const std::string& path, std::size_t most = std::size_t{64} << 10);

}  // namespace faultline
