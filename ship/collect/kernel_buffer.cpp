#include "ship/collect/kernel_buffer.h"

#include <fmt/format.h>
#include <sys/klog.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <ctime>
#include <system_error>

#include "model/time.h"

namespace faultline {
namespace {

constexpr int kReadAll = 3;      // SYSLOG_ACTION_READ_ALL
constexpr int kSizeBuffer = 10;  // SYSLOG_ACTION_SIZE_BUFFER
constexpr std::int64_t kMicros = 1'000'000;

// Takes the number that `text` begins with.
bool take_number(std::string_view& text, std::int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

// Takes "<6>[   12.345678] ". False: there is no such stamp, and nothing is taken.
bool take_stamp(std::string_view& line, std::int64_t& uptime_us) {
  std::string_view rest = line;
  if (rest.starts_with('<')) rest.remove_prefix(std::min(rest.find('>'), rest.size() - 1) + 1);
  if (!rest.starts_with('[')) return false;
  rest.remove_prefix(1);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  std::int64_t seconds = 0;
  std::int64_t micros = 0;
  if (!take_number(rest, seconds) || !rest.starts_with('.')) return false;
  rest.remove_prefix(1);
  if (!take_number(rest, micros) || !rest.starts_with("] ")) return false;
  if (seconds < 0 || micros < 0 || micros >= kMicros) return false;
  rest.remove_prefix(2);
  line = rest;
  uptime_us = seconds * kMicros + micros;
  return true;
}

std::int64_t clock_us(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * kMicros + time.tv_nsec / 1000;
}

}  // namespace

std::string read_kernel_buffer(std::string& failure) {
  const int size = klogctl(kSizeBuffer, nullptr, 0);
  std::string text(static_cast<std::size_t>(std::max(size, 0)), '\0');
  const int count = size <= 0 ? size : klogctl(kReadAll, text.data(), size);
  if (count < 0) failure = std::generic_category().message(errno);
  text.resize(static_cast<std::size_t>(std::max(count, 0)));
  return text;
}

std::string with_dates(std::string_view messages, std::int64_t booted_us) {
  std::string dated;
  while (!messages.empty()) {
    std::string_view line = messages.substr(0, messages.find('\n'));
    messages.remove_prefix(std::min(line.size() + 1, messages.size()));
    std::int64_t uptime_us = 0;
    if (take_stamp(line, uptime_us)) {
      const Timestamp time{std::chrono::microseconds{booted_us + uptime_us}};
      const auto second = std::chrono::floor<std::chrono::seconds>(time);
      std::string stamp = to_rfc3339(second);
      stamp.pop_back();  // Z
      dated += fmt::format("{},{:06}+00:00 ", stamp, (time - second).count());
    }
    dated.append(line).append("\n");
  }
  return dated;
}

// Stamps of the kernel do not count the time in which the host slept.
std::int64_t boot_clock_us() { return clock_us(CLOCK_REALTIME) - clock_us(CLOCK_MONOTONIC); }

}  // namespace faultline
