#include "ingest/unwrap/kernel.h"

#include <algorithm>
#include <iterator>

#include "ingest/unwrap/escapes.h"
#include "ingest/unwrap/scan.h"
#include "ingest/unwrap/stamps.h"

namespace faultline {

namespace {

constexpr std::int64_t kMinuteUs = 60'000'000;
constexpr std::int64_t kLastPriority = 191;  // local7.debug
constexpr std::int64_t kLastKernelPriority = 7;

constexpr std::string_view kFacilities[] = {"kern",     "user",   "mail",   "daemon", "auth",
                                            "syslog",   "lpr",    "news",   "uucp",   "cron",
                                            "authpriv", "ftp",    "local0", "local1", "local2",
                                            "local3",   "local4", "local5", "local6", "local7"};
constexpr std::string_view kLevels[] = {"emerg", "alert",  "crit", "err",
                                        "warn",  "notice", "info", "debug"};

// One of the words, padded with blanks to six, then ':'.
template <std::size_t Count>
std::string_view take_padded(std::string_view& rest, const std::string_view (&words)[Count]) {
  for (const std::string_view word : words) {
    std::string_view text = rest;
    if (!take(text, word)) continue;
    for (std::size_t width = word.size(); width < 6 && take(text, ' '); ++width) {
    }
    if (!take(text, ':')) continue;
    rest = text;
    return word;
  }
  return {};
}

// " <    0.000123>" or "<    0.000123>": what has passed since the line before.
bool take_delta(std::string_view& rest) {
  std::string_view text = rest;
  take(text, ' ');
  if (!take(text, '<') || !take_seconds(text) || !take(text, '>')) return false;
  rest = text;
  return true;
}

// "29459.65": a person has rounded the stamp. Other programs print such numbers, too, so what
// follows has to be the kernel's.
std::optional<EventTime> take_rounded_seconds(std::string_view& rest) {
  constexpr std::string_view kTalkers[] = {"amdgpu 0000:",
                                           "amdgpu: ",
                                           "[drm",
                                           "NVRM: ",
                                           "nvidia 0000:",
                                           "nvidia-nvlink: ",
                                           "nvidia-nvswitch",
                                           "mlx5_core 0000:",
                                           "mlx4_core 0000:",
                                           "bnxt_en 0000:",
                                           "ice 0000:",
                                           "i40e 0000:",
                                           "pcieport 0000:",
                                           "mce: [",
                                           "[Hardware Error]: ",
                                           "EDAC MC",
                                           "Out of memory: ",
                                           "oom-kill:",
                                           "oom_reaper: ",
                                           "Memory cgroup out of memory: ",
                                           "INFO: task ",
                                           "watchdog: BUG: "};
  std::string_view text = rest;
  std::int64_t whole = 0;
  if (!take_number(text, whole, 9) || !take(text, '.')) return std::nullopt;
  std::int64_t weight = 1'000'000;
  std::int64_t fraction = 0;
  for (const char digit : take_while(text, is_digit)) {
    if (weight == 10) return std::nullopt;  // it has six digits or more
    weight /= 10;
    fraction += (digit - '0') * weight;
  }
  if (weight == 1'000'000) return std::nullopt;
  std::string_view said = text;
  if (!take(said, ']')) return std::nullopt;
  take_blanks(said);
  if (std::ranges::none_of(kTalkers, [&](std::string_view it) { return said.starts_with(it); }))
    return std::nullopt;
  rest = text;
  EventTime stamp = EventTime::since_boot(whole * 1'000'000 + fraction);
  stamp.uncertainty_us = weight;
  return stamp;
}

// " [   T1946]" or "[   C12]": the thread or processor that printed it.
void take_caller(std::string_view& rest) {
  std::string_view text = rest;
  take(text, ' ');
  if (!take(text, '[')) return;
  take_blanks(text);
  std::int64_t id = 0;
  if ((!take(text, 'T') && !take(text, 'C')) || !take_number(text, id) || !take(text, ']')) return;
  rest = text;
}

void enter_kernel(Peeled& line, std::string_view rest, const EventTime& stamp) {
  line.stamped(stamp);
  line.in_kernel = true;
  line.text = rest;
}

// 2026-03-05T02:47:11,123456+00:00 msg
bool peel_dmesg_iso_stamp(Peeled& line) {
  std::string_view rest = line.text;
  const auto stamp = take_iso_stamp(rest);
  if (!stamp || !stamp->comma) return false;
  take(rest, ' ');
  enter_kernel(line, rest, stamp->time);
  return true;
}

}  // namespace

bool peel_kernel_stamp(Peeled& line) {
  std::string_view rest = line.text;
  if (!take(rest, '[')) return false;
  EventTime stamp;
  if (const auto since_boot = take_seconds(rest)) {
    stamp = EventTime::since_boot(*since_boot);
    take_delta(rest);
  } else if (const auto rounded = take_rounded_seconds(rest)) {
    stamp = *rounded;
  } else if (const auto of_day = take_ctime_stamp(rest)) {
    stamp = *of_day;
    take_delta(rest);
  } else if (!take_delta(rest)) {
    return false;
  }
  if (!take(rest, ']')) return false;
  take_caller(rest);
  // A message may begin with blanks of its own: continuations are indented.
  take(rest, ' ');
  enter_kernel(line, rest, stamp);
  return true;
}

bool peel_facility(Peeled& line) {
  std::string_view rest = line.text;
  const bool padded = rest.size() > 8 && (rest[6] == ':' || rest[8] == ':');
  if (!padded) return false;
  const std::string_view facility = take_padded(rest, kFacilities);
  if (facility.empty() || take_padded(rest, kLevels).empty()) return false;
  take(rest, ' ');
  line.text = rest;
  line.in_kernel = true;
  if (facility != kFacilities[0]) line.from_user_space = true;
  peel_dmesg_iso_stamp(line);
  return true;
}

bool peel_talos(Peeled& line) {
  std::string_view rest = line.text;
  const std::string_view host = take_while(rest, is_name);
  if (host.empty() || !take(rest, ": ")) return false;
  const std::string_view facility = take_while(rest, is_name);
  if (std::ranges::find(kFacilities, facility) == std::end(kFacilities) || !take(rest, ": "))
    return false;
  if (take_while(rest, is_letter).empty() || !take(rest, ": [")) return false;
  const auto stamp = take_iso_stamp(rest);
  if (!stamp || !take(rest, "]: ")) return false;
  line.named_by_host(host);
  enter_kernel(line, rest, stamp->time);
  if (facility != kFacilities[0]) line.from_user_space = true;
  return true;
}

bool peel_kernel_tag(Peeled& line) {
  Peeled tagged = line;
  if (!take(tagged.text, "kernel:")) return false;
  take(tagged.text, ' ');
  if (!peel_kernel_stamp(tagged)) return false;
  line = tagged;
  return true;
}

bool peel_priority(Peeled& line) {
  std::string_view rest = line.text;
  std::int64_t priority = 0;
  if (!take(rest, '<') || !take_number(rest, priority, 3) || priority > kLastPriority ||
      !take(rest, '>'))
    return false;
  line.text = rest;
  if (priority > kLastKernelPriority) line.from_user_space = true;
  return true;
}

bool peel_named_priority(Peeled& line) {
  std::string_view rest = line.text;
  const std::string_view facility = take_while(rest, is_letter);
  if (facility.empty() || !take(rest, '.') ||
      std::ranges::find(kFacilities, facility) == std::end(kFacilities))
    return false;
  const std::string_view level = take_while(rest, is_letter);
  constexpr std::string_view kLongLevels[] = {"warning", "error"};
  if ((std::ranges::find(kLevels, level) == std::end(kLevels) &&
       std::ranges::find(kLongLevels, level) == std::end(kLongLevels)) ||
      !take(rest, ": "))
    return false;
  line.text = rest;
  return true;
}

bool peel_kmsg_record(Peeled& line, TextPool& pool) {
  std::string_view rest = line.text;
  std::int64_t priority = 0;
  std::int64_t sequence = 0;
  std::int64_t since_boot = 0;
  if (!take_number(rest, priority, 5) || !take(rest, ',') || !take_number(rest, sequence) ||
      !take(rest, ',') || !take_number(rest, since_boot) || !take(rest, ','))
    return false;
  const std::string_view flags = take_while(rest, [](char c) { return c != ';' && !is_blank(c); });
  if (flags.empty() || std::string_view("-c+").find(flags.front()) == std::string_view::npos ||
      !take(rest, ';'))
    return false;
  // Pieces of a line ('c', '+') stay apart: each kernel marks them differently, and the driver's
  // last words must not wait for a record that never comes.
  enter_kernel(line, without_control_bytes(undo_hex_escapes(rest, pool), pool),
               EventTime::since_boot(since_boot));
  if (priority > kLastKernelPriority) line.from_user_space = true;
  return true;
}

bool is_kmsg_dictionary(std::string_view text) {
  return take(text, ' ') &&
         !take_while(text, [](char c) { return is_digit(c) || c == '_' || (c >= 'A' && c <= 'Z'); })
              .empty() &&
         text.starts_with('=');
}

bool is_pstore_header(std::string_view text) {
  const std::string_view reason = take_while(text, is_letter);
  std::int64_t number = 0;
  return !reason.empty() && take(text, '#') && take_number(text, number) && take(text, " Part") &&
         take_number(text, number) && text.empty();
}

bool RelativeStamps::peel(Peeled& line, Timestamp reference) {
  std::string_view rest = line.text;
  if (!take(rest, '[')) return false;
  EventTime stamp;
  if (const auto minute = take_minute_stamp(rest, reference)) {
    if (!take(rest, ']')) return false;
    minute_us = *minute->wall_us;
    passed_us = 0;
    stamp = *minute;
  } else {
    take_blanks(rest);
    if (!take(rest, '+')) return false;
    const auto delta = take_seconds(rest);
    if (!delta || !take(rest, ']')) return false;
    if (minute_us >= 0) {
      // All these lines are of the same minute, which bounds them from above even where lines in
      // between were filtered out.
      passed_us = std::min(passed_us + *delta, kMinuteUs);
      stamp.wall_us = minute_us + passed_us;
      stamp.uncertainty_us = kMinuteUs - passed_us;
      stamp.zone_assumed = true;
    }
  }
  take(rest, ' ');
  enter_kernel(line, rest, stamp);
  line.year_assumed = line.time.known();
  return true;
}

}  // namespace faultline
