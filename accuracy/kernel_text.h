// A kernel log as bare lines with relative times, so that it can be written again as the log of
// another host at another time.
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

// Reads dmesg in any form, journalctl or a syslog file. Leaves out lines that contain a date (the
// clock being set, audit records): it would contradict the new time.
KernelText kernel_text(std::string_view log);

// The time at which a log is written again, relative to the job.
enum class Placed { today, during, hours_before, days_before, undated };
inline constexpr Placed kPlaces[] = {Placed::today, Placed::during, Placed::hours_before,
                                     Placed::days_before, Placed::undated};
std::string_view name_of(Placed placed);

// Writes the log as that of a host of a job that began at `job_begins`. `form` picks one of the
// forms in which such logs are collected. Today: from an hour before the job on. During: squeezed
// into its first minute, without the lines of the boot. Undated: stamped with the uptime alone.
std::string told_again(const KernelText& log, std::string_view host, Placed placed,
                       Timestamp job_begins, std::size_t form);

}  // namespace faultline::accuracy
