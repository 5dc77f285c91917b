#include "app/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace faultline {
namespace {

constexpr std::chrono::milliseconds kFirst{500};  // shorter runs show no progress
constexpr std::chrono::milliseconds kInterval{200};

template <std::size_t kUnits>
std::string scaled(double value, double step, const std::array<const char*, kUnits>& units) {
  std::size_t unit = 0;
  while (value >= step && unit + 1 < kUnits) {
    value /= step;
    ++unit;
  }
  return fmt::format("{:.{}f}{}", value, unit == 0 ? 0 : 1, units[unit]);
}

std::string size_text(double bytes) {
  return scaled<5>(bytes, 1024, {" bytes", " KiB", " MiB", " GiB", " TiB"});
}

std::string count_text(std::uint64_t count) {
  return scaled<4>(static_cast<double>(count), 1000, {"", " thousand", " million", " billion"});
}

}  // namespace

std::string to_text(const Advance& advance) {
  std::string text = size_text(static_cast<double>(advance.bytes));
  if (advance.total_bytes.value_or(0) > 0) {
    // A file may grow while it is read.
    const std::uint64_t total = std::max(*advance.total_bytes, advance.bytes);
    const double percent = 100.0 * static_cast<double>(advance.bytes) / static_cast<double>(total);
    text += fmt::format(" of {} ({:.0f} %)", size_text(static_cast<double>(total)), percent);
  }
  text += fmt::format(", {} lines", count_text(advance.lines));
  if (advance.elapsed.count() > 0) {
    const double seconds = std::chrono::duration<double>(advance.elapsed).count();
    text += fmt::format(", {}/s", size_text(static_cast<double>(advance.bytes) / seconds));
  }
  return text;
}

ProgressLine::ProgressLine(std::FILE* terminal)
    : stream_(terminal),
      drawing_(isatty(fileno(terminal)) == 1),
      started_(Clock::now()),
      next_(started_ + kFirst) {}

ProgressLine::~ProgressLine() { erase(); }

void ProgressLine::show(Advance advance) {
  if (!drawing_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + kInterval;
  advance.elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(now - started_);
  erase();
  fmt::print(stream_, "{}", to_text(advance));
  std::fflush(stream_);
  drawn_ = true;
}

void ProgressLine::say(std::string_view line) {
  erase();
  fmt::print(stream_, "{}\n", line);
}

void ProgressLine::erase() {
  if (!drawn_) return;
  fmt::print(stream_, "\r\x1b[K");  // to the first column, and clear the line from there
  std::fflush(stream_);
  drawn_ = false;
}

}  // namespace faultline
