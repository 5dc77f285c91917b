#include "parsers/kernel/kernel_host.h"

#include <algorithm>

#include "parsers/scan.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using tool_text::trimmed;

constexpr std::int64_t kSecondUs = 1'000'000;
// A clock that was never set shows 1970, or a date that its maker left.
constexpr std::int64_t kFirstSensibleSecond = 1'262'304'000;  // 2010
constexpr std::int64_t kLastSensibleSecond = 4'102'444'800;   // 2100

bool is_sensible(std::int64_t second) {
  return second >= kFirstSensibleSecond && second <= kLastSensibleSecond;
}

}  // namespace

bool parse_driver_unloading(std::string_view text, std::vector<Reading>& readings) {
  text = trimmed(text);
  const auto begins = [&](std::string_view with) { return text.starts_with(with); };
  if (!begins("nvidia-modeset: Unloading") && !begins("nvidia-nvlink: Unregistered") &&
      !begins("nvidia-uvm: Unloaded the UVM driver"))
    return false;
  readings.push_back({.fact = GpuDriver{.loaded = false}});
  return true;
}

bool parse_host_stopping(std::string_view text, std::vector<Reading>& readings) {
  text = trimmed(text);
  const auto begins = [&](std::string_view with) { return text.starts_with(with); };
  if (!begins("reboot: Restarting system") && !begins("reboot: machine restart") &&
      !begins("reboot: Power down") && !begins("reboot: System halted") &&
      !begins("kvm: exiting hardware virtualization") && !begins("systemd-shutdown[1]: "))
    return false;
  constexpr std::size_t kLongest = 120;
  readings.push_back({.fact = HostStopping{.how = std::string(text.substr(0, kLongest))}});
  return true;
}

bool parse_clock(std::string_view text, std::vector<Reading>& readings) {
  text = trimmed(text);
  constexpr std::string_view kSetting = "setting system clock to ";
  constexpr std::string_view kAudit = "audit: type=2000 audit(";
  std::int64_t second = 0;
  if (text.starts_with(kAudit)) {
    Scan in(text.substr(kAudit.size()));
    std::int64_t milli = 0;
    if (!in.decimal(second) || !in.skip(".") || !in.decimal(milli) || milli > 999 ||
        !is_sensible(second))
      return false;
    readings.push_back(
        {.fact = ClockReading{.wall_us = second * kSecondUs + milli * 1000, .teller = "audit"}});
    return true;
  }
  const std::size_t at = text.find(kSetting);
  if (at == std::string_view::npos || !text.starts_with("rtc")) return false;
  const std::size_t bracket = text.find('(', at);
  if (bracket == std::string_view::npos) return false;
  Scan in(text.substr(bracket + 1));
  if (!in.decimal(second) || !in.skip(")") || !is_sensible(second)) return false;
  readings.push_back({.fact = ClockReading{.wall_us = second * kSecondUs, .teller = "rtc"}});
  return true;
}

bool parse_lost_lines(std::string_view text, std::vector<Reading>& readings) {
  text = trimmed(text);
  LinesLost lost;
  Scan in(text);
  if (in.skip("Missed ")) {
    lost.teller = "journald";
    if (!in.decimal(lost.lines) || !in.skip(" kernel messages")) return false;
  } else if (in.skip("printk: ")) {
    lost.teller = "kernel";
    if (!in.decimal(lost.lines) || !in.skip(" messages ")) return false;
    if (!in.skip("suppressed") && !in.skip("dropped")) return false;
  } else {
    return false;
  }
  readings.push_back({.fact = std::move(lost)});
  return true;
}

}  // namespace faultline
