#include "accuracy/kernel_text.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <optional>

#include "simulate/calendar.h"

namespace faultline::accuracy {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

constexpr auto kAfterTheJob = 15min;  // when the logs were collected
constexpr auto kDuring = 60s;

struct Peeled {
  std::optional<microseconds> uptime;
  std::optional<microseconds> wall;
  std::string tag = "kernel";
  std::string text;
};

std::optional<microseconds> wall_of(std::string_view month, int day, int hours, int minutes,
                                    int seconds) {
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const std::size_t at = kMonths.find(month);
  if (at == std::string_view::npos) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(2024),
                                         std::chrono::month(static_cast<unsigned>(at / 3 + 1)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  return std::chrono::sys_days(date).time_since_epoch() + std::chrono::hours(hours) +
         std::chrono::minutes(minutes) + std::chrono::seconds(seconds);
}

// Takes off what journald, syslog or dmesg -T put before a line.
void peel_wall(re2::StringPiece& rest, Peeled& line) {
  static const RE2 kIso(R"((\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?) )");
  static const RE2 kSyslog(R"((\S{3}) +(\d+) (\d\d):(\d\d):(\d\d) )");
  static const RE2 kCtime(R"(\[\w{3} (\w{3}) +(\d+) (\d\d):(\d\d):(\d\d) \d{4}\] ?)");
  static const RE2 kTagged(R"(\S+ ([\w./-]+)(?:\[\d+\])?: )");
  static const RE2 kKernel(R"((?:\S+ )?kernel: )");
  std::string stamp;
  std::string month;
  int day = 0;
  int hours = 0;
  int minutes = 0;
  int seconds = 0;
  bool of_a_daemon = false;
  if (RE2::Consume(&rest, kIso, &stamp)) {
    if (const auto time = parse_rfc3339(stamp)) line.wall = time->time_since_epoch();
    of_a_daemon = true;
  } else if (RE2::Consume(&rest, kSyslog, &month, &day, &hours, &minutes, &seconds)) {
    line.wall = wall_of(month, day, hours, minutes, seconds);
    of_a_daemon = true;
  } else if (RE2::Consume(&rest, kCtime, &month, &day, &hours, &minutes, &seconds)) {
    line.wall = wall_of(month, day, hours, minutes, seconds);
  }
  if (of_a_daemon) RE2::Consume(&rest, kTagged, &line.tag);
  RE2::Consume(&rest, kKernel);
}

Peeled peeled(std::string_view raw) {
  static const RE2 kPriority(R"(<\d+>|\w+ *: ?\w+ *: )");
  static const RE2 kUptime(R"(\[ *(\d+)\.(\d{6})\](?:\[ *[TC]\d+\])? ?)");
  static const RE2 kKernel(R"((?:[\w.-]+ )?kernel: )");
  Peeled line;
  re2::StringPiece rest(raw.data(), raw.size());
  RE2::Consume(&rest, kPriority);
  peel_wall(rest, line);
  std::int64_t seconds = 0;
  std::string fraction;
  if (RE2::Consume(&rest, kUptime, &seconds, &fraction)) {
    line.uptime = std::chrono::seconds(seconds) + microseconds(std::stoll(fraction));
    RE2::Consume(&rest, kKernel);
  }
  line.text.assign(rest.data(), rest.size());
  return line;
}

bool tells_the_day(const std::string& text) {
  static const RE2 kDay(
      R"(setting system clock to|audit\(\d+\.|^audit: |BIOS .*\d\d/\d\d/\d{4}|RTC time)");
  return RE2::PartialMatch(text, kDay);
}

bool is_of_the_boot(const std::string& text) {
  static const RE2 kBoot(
      R"(^(Linux version|(Kernel c|C)ommand line:|BIOS-|DMI:|e820:|ACPI: |smpboot|Booting|)"
      R"(Freeing unused|systemd\[1\]|Run /))");
  return RE2::PartialMatch(text, kBoot);
}

std::string stamped(std::size_t form, Timestamp when, std::string_view host,
                    const KernelText::Line& line) {
  switch (form) {
    case 0:
      return fmt::format("[{}] {}\n", simulation::ctime_stamp(when), line.text);
    case 1:
      return fmt::format("{} {} {}: {}\n", simulation::short_iso(when), host, line.tag, line.text);
    default:
      return fmt::format("{} {} {}: {}\n", simulation::syslog_stamp(when), host, line.tag,
                         line.text);
  }
}

// The new time of each line.
std::vector<Timestamp> times_of(const KernelText& log, Placed placed, Timestamp begins) {
  std::vector<Timestamp> times;
  times.reserve(log.lines.size());
  const microseconds span = std::max<microseconds>(log.span(), 1us);
  for (const KernelText::Line& line : log.lines) {
    switch (placed) {
      case Placed::during:
        times.push_back(begins + line.since / (span / kDuring + 1));
        break;
      case Placed::hours_before:
        times.push_back(begins - 6h - span + line.since);
        break;
      case Placed::days_before:
        times.push_back(begins - 48h - span + line.since);
        break;
      default:
        times.push_back(begins - 1h + line.since);
    }
  }
  return times;
}

}  // namespace

std::string_view name_of(Placed placed) {
  constexpr std::array<std::string_view, 5> kNames{"today", "during the job", "six hours before",
                                                   "two days before", "undated"};
  return kNames[static_cast<std::size_t>(placed)];
}

KernelText kernel_text(std::string_view log) {
  KernelText result;
  microseconds base{};  // where the uptime of the current boot begins
  microseconds now{};
  std::optional<microseconds> last_uptime;
  std::optional<microseconds> last_wall;
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    std::string_view raw = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    if (raw.ends_with('\r')) raw.remove_suffix(1);
    Peeled line = peeled(raw);
    if (line.uptime) {
      if (!last_uptime) base = now;
      if (last_uptime && *line.uptime + 1s < *last_uptime) base = now + 60s;  // a later boot
      if (result.lines.empty()) base = -*line.uptime;
      now = std::max(now, base + *line.uptime);
      last_uptime = line.uptime;
    } else if (line.wall) {
      if (last_wall && *line.wall > *last_wall) now += *line.wall - *last_wall;
    } else {
      now += 1ms;
    }
    if (line.wall) last_wall = line.wall;
    if (line.text.empty() || tells_the_day(line.text)) continue;
    result.lines.push_back({now, std::move(line.tag), std::move(line.text)});
  }
  return result;
}

std::string told_again(const KernelText& log, std::string_view host, Placed placed,
                       Timestamp job_begins, std::size_t form) {
  std::string text;
  if (placed == Placed::undated) {
    for (const KernelText::Line& line : log.lines)
      text +=
          fmt::format("[{:>5}.{:06}] {}\n", line.since / 1s, (line.since % 1s).count(), line.text);
    return text;
  }
  constexpr std::size_t kForms = 3;
  const bool only_kernel = std::ranges::all_of(
      log.lines, [](const KernelText::Line& line) { return line.tag == "kernel"; });
  if (form %= kForms; !only_kernel) form = kForms - 1;
  const std::vector<Timestamp> times = times_of(log, placed, job_begins);
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (times[i] > job_begins + kAfterTheJob) break;
    if (placed == Placed::during && is_of_the_boot(log.lines[i].text)) continue;
    text += stamped(form, times[i], host, log.lines[i]);
  }
  return text;
}

}  // namespace faultline::accuracy
