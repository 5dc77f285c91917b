// The kernel's messages without any program: in a container there is often no dmesg.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace faultline {

// What the kernel still has, as it keeps it: "<6>[   12.345678] text". Needs CAP_SYSLOG. Empty: why
// not is in `failure`.
std::string read_kernel_buffer(std::string& failure);

// The same as `dmesg --time-format iso` writes it: 2026-11-29T06:19:20,345678+00:00 text. A line
// without a stamp stays as it is.
std::string with_dates(std::string_view messages, std::int64_t booted_us);

// When the host booted, in microseconds since 1970, by its clock of now.
std::int64_t boot_clock_us();

}  // namespace faultline
