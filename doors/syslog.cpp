#include "doors/syslog.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace faultline {
namespace {

constexpr std::string_view kKernel = "kernel";
constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr int kFacilities = 24;
constexpr int kSeverities = 8;

// A time as its stamp says it.
struct SyslogTime {
  Timestamp at;
  bool has_zone = true;
};

struct SyslogRecord {
  std::optional<int> facility;  // 0: the kernel
  std::optional<SyslogTime> time;
  std::string_view host;
  std::string_view program;
  std::string_view perhaps_host;  // a host, or the first word of the text
  std::vector<std::pair<std::string_view, std::string>> labels;
  std::string_view text;
};

bool take_char(std::string_view& rest, char c) {
  if (!rest.starts_with(c)) return false;
  rest.remove_prefix(1);
  return true;
}

// Up to the next blank, which is taken, too.
std::string_view take_field(std::string_view& rest) {
  const std::string_view field = rest.substr(0, rest.find(' '));
  rest.remove_prefix(std::min(field.size() + 1, rest.size()));
  return field;
}

// Digits, as many as there are, but no more than `most`.
std::optional<int> take_digits(std::string_view& rest, std::size_t most) {
  int number = 0;
  const std::string_view digits = rest.substr(0, most);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || digits.front() == '-') return std::nullopt;
  rest.remove_prefix(static_cast<std::size_t>(end - digits.data()));
  return number;
}

// "<134>"
std::optional<int> take_facility(std::string_view& rest) {
  std::string_view text = rest;
  if (!take_char(text, '<')) return std::nullopt;
  const auto priority = take_digits(text, 3);
  if (!priority || !take_char(text, '>') || *priority >= kFacilities * kSeverities)
    return std::nullopt;
  rest = text;
  return *priority / kSeverities;
}

// 2026-03-05T02:47:11.123+01:00, up to the next blank.
std::optional<SyslogTime> take_iso_time(std::string_view& rest) {
  std::string_view text = rest;
  const std::string_view stamp = take_field(text);
  SyslogTime time;
  const auto at = parse_rfc3339(stamp, &time.has_zone);
  if (!at) return std::nullopt;
  time.at = *at;
  rest = text;
  return time;
}

// The year of a stamp that names none: the latest in which it does not lie well after its receipt.
// Zones and clocks make a day.
std::optional<Timestamp> with_year_of_receipt(std::chrono::month_day day,
                                              std::chrono::microseconds time_of_day,
                                              Timestamp received) {
  using namespace std::chrono;
  constexpr int kBetweenLeapYears = 8;
  const year latest = year_month_day{floor<days>(received)}.year() + years{1};
  for (int back = 0; back <= kBetweenLeapYears + 1; ++back) {
    const year_month_day date{latest - years{back}, day.month(), day.day()};
    if (!date.ok()) continue;
    const Timestamp at = sys_days{date} + time_of_day;
    if (at <= received + days{1}) return at;
  }
  return std::nullopt;
}

std::optional<std::chrono::month> take_month_name(std::string_view& rest) {
  const auto* const month = std::ranges::find(kMonths, rest.substr(0, 3));
  if (month == kMonths.end()) return std::nullopt;
  rest.remove_prefix(3);
  return std::chrono::month{static_cast<unsigned>(month - kMonths.begin()) + 1};
}

// "02:47:11", "02:47:11.123456"
std::optional<std::chrono::microseconds> take_time_of_day(std::string_view& rest) {
  using namespace std::chrono;
  const auto hour = take_digits(rest, 2);
  if (!hour || !take_char(rest, ':')) return std::nullopt;
  const auto minute = take_digits(rest, 2);
  if (!minute || !take_char(rest, ':')) return std::nullopt;
  const auto second = take_digits(rest, 2);
  if (!second || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  microseconds time = hours{*hour} + minutes{*minute} + seconds{*second};
  if (!take_char(rest, '.')) return time;
  for (microseconds weight{100'000}; !rest.empty() && rest.front() >= '0' && rest.front() <= '9';
       weight /= 10, rest.remove_prefix(1))
    time += (rest.front() - '0') * weight;
  return time;
}

// "Mar  5 02:47:11 ", and with the year behind the day, as some switches write it.
std::optional<SyslogTime> take_bsd_time(std::string_view& rest, Timestamp received) {
  using namespace std::chrono;
  std::string_view text = rest;
  const auto month_of = take_month_name(text);
  if (!month_of || !take_char(text, ' ')) return std::nullopt;
  take_char(text, ' ');
  const auto day_of = take_digits(text, 2);
  if (!day_of || !take_char(text, ' ')) return std::nullopt;
  std::optional<int> year_of;
  if (const std::string_view word = text.substr(0, text.find(' '));
      word.size() == 4 && word.find(':') == std::string_view::npos) {
    year_of = take_digits(text, 4);
    if (!year_of || !take_char(text, ' ')) return std::nullopt;
  }
  const auto time_of_day = take_time_of_day(text);
  const month_day date{*month_of, day{static_cast<unsigned>(*day_of)}};
  if (!time_of_day || !date.ok() || (!text.empty() && !take_char(text, ' '))) return std::nullopt;
  std::optional<Timestamp> at;
  if (!year_of)
    at = with_year_of_receipt(date, *time_of_day, received);
  else if (const year_month_day full{year{*year_of}, date.month(), date.day()}; full.ok())
    at = sys_days{full} + *time_of_day;
  if (!at) return std::nullopt;
  rest = text;
  return SyslogTime{.at = *at, .has_zone = false};
}

// A value in structured data, behind its first quote, up to its last one.
std::optional<std::string> take_quoted(std::string_view& rest) {
  std::string value;
  while (!rest.empty() && rest.front() != '"') {
    const bool is_escape =
        rest.size() > 1 && rest[0] == '\\' && (rest[1] == '"' || rest[1] == '\\' || rest[1] == ']');
    if (is_escape) rest.remove_prefix(1);
    value += rest.front();
    rest.remove_prefix(1);
  }
  if (!take_char(rest, '"')) return std::nullopt;
  return value;
}

// "-", or some of [id name="value" name="value"]. False: it is none, and nothing is taken.
bool take_structured_data(std::string_view& rest, SyslogRecord& record) {
  std::string_view text = rest;
  std::vector<std::pair<std::string_view, std::string>> labels;
  if (!take_char(text, '-')) {
    if (!text.starts_with('[')) return false;
    while (take_char(text, '[')) {
      text.remove_prefix(std::min(text.find_first_of(" ]"), text.size()));  // the id
      while (take_char(text, ' ')) {
        const std::size_t equals = text.find_first_of("=]\" ");
        if (equals == std::string_view::npos || text[equals] != '=') break;
        const std::string_view name = text.substr(0, equals);
        text.remove_prefix(equals + 1);
        if (!take_char(text, '"')) return false;
        auto value = take_quoted(text);
        if (!value) return false;
        labels.emplace_back(name, std::move(*value));
      }
      if (!take_char(text, ']')) return false;
    }
  }
  if (!text.empty() && !take_char(text, ' ')) return false;
  record.labels = std::move(labels);
  rest = text;
  return true;
}

// "-" says that a field is not known.
std::string_view unless_nil(std::string_view field) { return field == "-" ? "" : field; }

// What is not exactly of this form may be a text that begins with a number.
// 1 2026-03-05T02:47:11.003Z gpu-3 app procid msgid [id name="value"] text
bool read_rfc5424(std::string_view rest, SyslogRecord& record) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (!record.facility || take_field(rest) != "1") return false;
  std::optional<SyslogTime> time;
  if (rest.starts_with("- ")) {
    take_field(rest);
  } else {
    time = take_iso_time(rest);
    if (!time) return false;
  }
  const std::string_view host = take_field(rest);
  const std::string_view program = take_field(rest);
  const std::string_view process = take_field(rest);
  const std::string_view kind = take_field(rest);
  if (host.empty() || program.empty() || process.empty() || kind.empty()) return false;
  if (!take_structured_data(rest, record)) return false;
  record.time = time;
  record.host = unless_nil(host);
  record.program = unless_nil(program);
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  record.text = rest;
  return true;
}

// Of letters, digits and `others`.
bool consists_of_name(std::string_view word, std::string_view others) {
  return !word.empty() && std::ranges::all_of(word, [others](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           others.find(c) != std::string_view::npos;
  });
}

// No numbers: each text may begin with another one.
bool may_be_host(std::string_view word) {
  constexpr std::size_t kLongest = 64;
  const bool has_letter = std::ranges::any_of(
      word, [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
  return has_letter && word.size() <= kLongest && word != kKernel && consists_of_name(word, ".-_");
}

struct SyslogTag {
  std::string_view program;
  bool has_process = false;
};

// "kernel:", "python3[4242]:", "sshd[17]". rsyslog cuts tags after 32 characters, with their colon.
std::optional<SyslogTag> tag_in(std::string_view word) {
  constexpr std::size_t kCut = 32;
  const bool is_closed = word.ends_with(':');
  if (is_closed) word.remove_suffix(1);
  SyslogTag tag{.program = word};
  if (const std::size_t bracket = word.find('['); bracket != std::string_view::npos) {
    if (!word.ends_with(']')) return std::nullopt;
    tag.program = word.substr(0, bracket);
    tag.has_process = true;
  }
  const bool is_name = consists_of_name(tag.program, "_./@()#+-");
  if (!is_name || (!is_closed && !tag.has_process && word.size() != kCut)) return std::nullopt;
  return tag;
}

// "NOTICE ", which switches write between host and program.
void take_level(std::string_view& rest) {
  constexpr std::array<std::string_view, 10> kLevels{"EMERG", "ALERT",   "CRIT",   "ERR",  "ERROR",
                                                     "WARN",  "WARNING", "NOTICE", "INFO", "DEBUG"};
  std::string_view behind = rest;
  if (std::ranges::find(kLevels, take_field(behind)) != kLevels.end()) rest = behind;
}

// "gpu-3 kernel: text", "kernel: text". A word is the host only if what follows it proves that: the
// first word of a text must not be taken for one.
void take_host_and_tag(std::string_view rest, SyslogRecord& record) {
  record.text = rest;
  const std::string_view first = take_field(rest);
  if (const auto tag = tag_in(first); tag && first.ends_with(':')) {
    record.program = tag->program;
    record.text = rest;
    return;
  }
  if (!consists_of_name(first, ".-_:")) return;
  // "%LINK-3-UPDOWN:" is what a switch says, not who says it.
  if (rest.starts_with('%')) {
    record.host = unless_nil(first);
    record.text = rest;
    return;
  }
  std::string_view behind = rest;
  take_level(behind);
  if (const auto tag = tag_in(take_field(behind))) {
    record.host = unless_nil(first);
    record.program = tag->program;
    record.text = behind;
    return;
  }
  const std::string_view word = first.substr(0, first.find(':'));
  if (may_be_host(word)) record.perhaps_host = word;
}

// ": 2025 Nov 28 22:00:01 UTC: %ETHPORT-5-IF_DOWN: text", behind a number or a host, maybe:
// switches of Cisco.
bool read_switch(std::string_view rest, Timestamp received, SyslogRecord& record) {
  using namespace std::chrono;
  if (!record.facility) return false;
  take_digits(rest, 9);
  if (take_char(rest, ':') && !take_char(rest, ' ')) return false;
  std::string_view host;
  const std::size_t end = rest.find(": ");
  if (end != std::string_view::npos && may_be_host(rest.substr(0, end))) {
    host = rest.substr(0, end);
    rest.remove_prefix(end + 2);
  }
  const auto year_of = take_digits(rest, 4);
  if (year_of && !take_char(rest, ' ')) return false;
  // Stamps are taken to be at most a day later than their receipt.
  if (year_of) received = sys_days{year{*year_of} / December / 31} - microseconds{1};
  auto time = take_bsd_time(rest, received);
  if (!time) return false;
  const std::string_view zone = take_field(rest);
  if (!zone.ends_with(':') || !rest.starts_with('%')) return false;
  time->has_zone = zone == "UTC:";
  record.time = time;
  record.host = host;
  record.text = rest;
  return true;
}

// [stamp] [host] [tag:] text
void read_rfc3164(std::string_view rest, Timestamp received, SyslogRecord& record) {
  record.time = take_iso_time(rest);
  if (!record.time) record.time = take_bsd_time(rest, received);
  record.text = rest;
  if (record.time) return take_host_and_tag(rest, record);
  // Without a stamp, "word: text" may be a text with a colon.
  std::string_view behind = rest;
  const std::string_view first = take_field(behind);
  const auto tag = tag_in(first);
  if (!tag || !first.ends_with(':') || (!tag->has_process && tag->program != kKernel)) return;
  record.program = tag->program;
  record.text = behind;
}

// A program can call itself "kernel", but it cannot log with the kernel's facility.
bool is_of_kernel(const SyslogRecord& record) {
  if (record.program == kKernel) return record.facility.value_or(0) == 0;
  return record.program.empty() && record.facility == 0 && !record.text.starts_with('%');
}

// "swss#orchagent": a container of SONiC and a program in it.
bool is_of_switch(const SyslogRecord& record) {
  return record.program.find('#') != std::string_view::npos && record.time && !record.host.empty();
}

// As syslog writes it to a file, with the year: the rules for switches need host and tag.
std::string line_of_switch(const SyslogRecord& record) {
  const auto& [at, has_zone] = *record.time;
  const std::string line = fmt::format("{} {}: {}", record.host, record.program, record.text);
  if (has_zone) {
    std::string stamp = to_rfc3339(at);
    stamp.replace(stamp.size() - 1, 1, "+00:00");
    return stamp + " " + line;
  }
  using namespace std::chrono;
  const auto day = floor<days>(at);
  const year_month_day date{day};
  const hh_mm_ss time{at - day};
  return fmt::format("{} {} {:2} {:02}:{:02}:{:02}.{:06} {}", static_cast<int>(date.year()),
                     kMonths[static_cast<unsigned>(date.month()) - 1],
                     static_cast<unsigned>(date.day()), time.hours().count(),
                     time.minutes().count(), time.seconds().count(), time.subseconds().count(),
                     line);
}

}  // namespace

// A stamp of RFC 3164 has no year and no zone. A line of /var/log/messages keeps it as it is, and
// the name of its program before the text; but behind such a name, most of what tools print would
// not be read. So the door adds the year, and no zone: readers then know that the hour may be off.
void read_syslog(std::string_view text, Timestamp received, RecordVisitor& visitor) {
  while (text.ends_with('\0')) text.remove_suffix(1);  // some senders end a message so
  SyslogRecord record;
  record.facility = take_facility(text);
  if (!read_rfc5424(text, record) && !read_switch(text, received, record))
    read_rfc3164(text, received, record);
  const bool of_kernel = is_of_kernel(record);
  for (const auto& [name, value] : record.labels) visitor.label(name, value);
  visitor.label("host", record.host);
  if (of_kernel || record.program != kKernel)
    visitor.label("appname", of_kernel ? kKernel : record.program);
  // A relay sends what many hosts say. In one source, readers would take the first host that a line
  // names for that of all lines. So the word is a part of the source's name, whatever it is.
  if (record.facility && !of_kernel && record.program.empty() && record.host.empty())
    visitor.label("appname", record.perhaps_host);
  if (!record.time && of_kernel)
    visitor.message(std::nullopt, "kernel: " + std::string(record.text));
  else if (is_of_switch(record))
    visitor.message(std::nullopt, line_of_switch(record));
  else if (record.time && !record.time->has_zone)
    visitor.message_at_local_time(record.time->at, record.text);
  else
    visitor.message(record.time ? std::optional(record.time->at) : std::nullopt, record.text);
}

}  // namespace faultline
