// How far a long run has come: one line on a terminal, redrawn in place and erased at the end.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace faultline {

struct Advance {
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> total_bytes;  // not known of pipes
  std::uint64_t lines = 0;
  std::chrono::milliseconds elapsed{0};
};

// "312.0 MiB of 1.2 GiB (25 %), 2.4 million lines, 480.0 MiB/s"
std::string to_text(const Advance& advance);

class ProgressLine {
 public:
  // Draws only if `terminal` is a terminal.
  explicit ProgressLine(std::FILE* terminal);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // May be called often: draws a few times a second, and nothing in the first half second.
  void show(Advance advance);

  // A line that stays, such as a warning; printed to a file or pipe as well.
  void say(std::string_view line);

  void erase();

 private:
  using Clock = std::chrono::steady_clock;

  std::FILE* stream_;
  bool drawing_;
  bool drawn_ = false;
  Clock::time_point started_;
  Clock::time_point next_;
};

}  // namespace faultline
