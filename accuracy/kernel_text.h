// Somebody's kernel log as bare lines in time, to be told again as another host's at another time.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "model/time.h"

namespace faultline::accuracy {

struct KernelText {
  struct Line {
    std::chrono::microseconds since;  // the first line
    std::string tag;                  // kernel, or another program that syslog names
    std::string text;
  };
  std::vector<Line> lines;

  std::chrono::microseconds span() const {
    return lines.empty() ? std::chrono::microseconds{} : lines.back().since;
  }
};

// From dmesg in any form, journalctl or a syslog's file. Lines that tell of the day in words (the
// clock that was set, audit records) are left out: they would belie the new time.
KernelText kernel_text(std::string_view log);

// Where in time a log is told again.
enum class Placed { today, during, hours_before, days_before, undated };
inline constexpr Placed kPlaces[] = {Placed::today, Placed::during, Placed::hours_before,
                                     Placed::days_before, Placed::undated};
std::string_view name_of(Placed placed);

// As the log of a host of a job that began then. `form` picks one of the forms in which such logs
// are collected. Today: from an hour before the job on. During: squeezed into its first minute,
// without the lines of the boot. Undated: stamped with the uptime, whose zero nobody knows.
std::string told_again(const KernelText& log, std::string_view host, Placed placed,
                       Timestamp job_begins, std::size_t form);

}  // namespace faultline::accuracy
