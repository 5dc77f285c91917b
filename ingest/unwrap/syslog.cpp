#include "ingest/unwrap/syslog.h"

#include <algorithm>

#include "ingest/unwrap/month_names.h"
#include "ingest/unwrap/nccl_prefix.h"
#include "ingest/unwrap/scan.h"
#include "ingest/unwrap/stamps.h"

namespace faultline {

namespace {

constexpr std::string_view kKernel = "kernel";

// How sure it is that a host and a tag come next.
enum class Expect {
  header,         // nothing else prints such a stamp: "sudo: " is a tag
  perhaps_header  // only the kernel's tag or one with a process id is proof
};

struct Tag {
  std::string_view program;
  bool has_pid = false;
};

// "NOTICE ", which switches write between host and program.
void take_level(std::string_view& rest) {
  constexpr std::string_view kLevels[] = {"EMERG ", "ALERT ",   "CRIT ",   "ERR ",  "ERROR ",
                                          "WARN ",  "WARNING ", "NOTICE ", "INFO ", "DEBUG "};
  for (const std::string_view level : kLevels)
    if (take(rest, level)) return;
}

// "kernel: ", "python3[4242]: "
bool take_tag(std::string_view& rest, Tag& tag) {
  std::string_view text = rest;
  tag.program = take_while(text, [](char c) {
    return is_name(c) || std::string_view("/@()#").find(c) != std::string_view::npos;
  });
  tag.has_pid = false;
  if (tag.program.empty()) return false;
  if (take(text, '[')) {
    std::int64_t pid = 0;
    if (!take_number(text, pid) || !take(text, ']')) return false;
    tag.has_pid = true;
  }
  if (!take(text, ':') || (!text.empty() && !is_blank(text.front()))) return false;
  take(text, ' ');
  rest = text;
  return true;
}

void name_program(Peeled& line, std::string_view program) {
  if (program == kKernel)
    line.in_kernel = true;
  else
    line.from_user_space = true;
  line.program = program;
}

// "%ETHPORT-5-IF_DOWN: ", which switches write in the place of a program's name.
bool begins_with_mnemonic(std::string_view text) {
  if (!take(text, '%')) return false;
  const std::string_view word = take_while(text, [](char c) { return is_name(c); });
  const std::size_t level = word.find('-');
  return level != word.npos && level > 0 && level + 2 < word.size() && is_digit(word[level + 1]) &&
         word[level + 2] == '-' && text.starts_with(": ");
}

// "gpu-node-17 kernel: ", "leaf-3 %LINK-3-UPDOWN: "
bool peel_host_and_tag(Peeled& line, Expect expect) {
  std::string_view rest = line.text;
  Tag tag;
  const std::string_view host = take_while(rest, is_name);
  if (host.empty() || !take(rest, ' ')) return false;
  take_blanks(rest);
  take_level(rest);
  if (begins_with_mnemonic(rest)) {
    line.named_by_host(host);
    line.from_user_space = true;
    line.text = rest;
    return true;
  }
  if (!take_tag(rest, tag)) return false;
  if (expect == Expect::perhaps_header && tag.program != kKernel && !tag.has_pid) return false;
  line.named_by_host(host);
  name_program(line, tag.program);
  line.text = rest;
  return true;
}

// Some collectors leave the host out.
bool peel_bare_tag(Peeled& line) {
  std::string_view rest = line.text;
  Tag tag;
  if (!take_tag(rest, tag) || (tag.program != kKernel && !tag.has_pid)) return false;
  name_program(line, tag.program);
  line.text = rest;
  return true;
}

// One or more "[id key="value"]", or "-".
bool take_structured_data(std::string_view& rest) {
  std::string_view text = rest;
  if (!take(text, '-')) {
    if (!text.starts_with('[')) return false;
    while (take(text, '[')) {
      bool quoted = false;
      std::size_t end = 0;
      for (; end < text.size() && (quoted || text[end] != ']'); ++end) {
        if (quoted && text[end] == '\\')
          ++end;
        else if (text[end] == '"')
          quoted = !quoted;
      }
      if (end >= text.size()) return false;
      text.remove_prefix(end + 1);
    }
  }
  if (!text.empty() && !take(text, ' ')) return false;
  rest = text;
  return true;
}

// " TP13", " DP1 TP13 EP13" behind SGLang's stamp. An engine without stages of a pipeline numbers
// its ranks by TP; -1: there are such stages, or nothing is said.
int take_place_in_engine(std::string_view& rest) {
  std::string_view text = rest;
  std::int64_t rank = -1;
  bool in_stages = false;
  while (take(text, ' ')) {
    const std::string_view word =
        take_while(text, [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; });
    std::int64_t number = 0;
    if (word.empty() || !take_number(text, number, 5)) return -1;
    if (word == "TP") rank = number;
    in_stages |= word == "PP";
  }
  rest = text;
  return in_stages ? -1 : static_cast<int>(rank);
}

// Takes a year off, and returns its middle: each day of it is nearer to that than to the middle of
// another year.
std::optional<Timestamp> take_year(std::string_view& rest) {
  using namespace std::chrono;
  std::string_view text = rest;
  std::int64_t number = 0;
  if (!take_number(text, number, 4) || rest.size() - text.size() != 4 || !take(text, ' '))
    return std::nullopt;
  if (number < 1970 || number > 9999) return std::nullopt;
  rest = text;
  // A stamp is taken to be at most 31 days later than its reference: see with_year().
  return sys_days{year{static_cast<int>(number)} / December / 1} - microseconds(1);
}

}  // namespace

bool peel_bsd_syslog(Peeled& line, Timestamp reference) {
  std::string_view rest = line.text;
  // Switches put the year in front: "2026 Apr 16 10:57:07.006966 leaf3 NOTICE ...".
  const auto year = take_year(rest);
  const auto stamp = take_syslog_stamp(rest, year.value_or(reference));
  if (stamp && rest.starts_with(": %")) rest.remove_prefix(1);
  if (!stamp || (!rest.empty() && !take(rest, ' '))) return false;
  line.text = rest;
  if (year)
    line.stamped(*stamp);
  else
    line.stamped_without_year(*stamp);
  if (!peel_host_and_tag(line, Expect::header)) peel_bare_tag(line);
  return true;
}

bool peel_switch(Peeled& line, Timestamp reference) {
  if (line.text.starts_with('*')) {  // its clock is not set
    Peeled inner = line;
    inner.text.remove_prefix(1);
    if (!may_begin_with_month(inner.text) || !peel_bsd_syslog(inner, reference)) return false;
    line = inner;
    return true;
  }
  if (line.from_user_space || !begins_with_mnemonic(line.text)) return false;
  line.from_user_space = true;
  return true;
}

bool peel_rfc5424(Peeled& line) {
  std::string_view rest = line.text;
  if (!take(rest, "1 ")) return false;
  std::optional<IsoStamp> stamp;
  if (!take(rest, '-')) {
    stamp = take_iso_stamp(rest);
    if (!stamp) return false;
  }
  if (!take(rest, ' ')) return false;
  const std::string_view host = take_word(rest);
  take(rest, ' ');
  const std::string_view program = take_word(rest);
  take(rest, ' ');
  const std::string_view process_id = take_word(rest);
  take(rest, ' ');
  const std::string_view message_id = take_word(rest);
  if (host.empty() || program.empty() || process_id.empty() || message_id.empty() ||
      !take(rest, ' ') || !take_structured_data(rest))
    return false;
  take(rest, "\xef\xbb\xbf");
  if (stamp) line.stamped(stamp->time);
  line.named_by_host(host);
  if (program != "-") name_program(line, program);
  line.text = rest;
  return true;
}

bool peel_iso_stamp(Peeled& line) {
  std::string_view rest = line.text;
  const auto stamp = take_iso_stamp(rest);
  // A stamp and nothing behind it is what `date` prints: a line of its own.
  if (!stamp || rest.empty() || !is_blank(rest.front())) return false;
  rest.remove_prefix(1);
  line.text = rest;
  line.stamped(stamp->time);
  if (stamp->comma) {
    line.in_kernel = !stamp->time.zone_assumed;  // without a zone it is Python's logging, not dmesg
    return true;
  }
  if (!peel_host_and_tag(line, stamp->offset_zone ? Expect::header : Expect::perhaps_header))
    peel_bare_tag(line);
  return true;
}

bool peel_weekday_stamp(Peeled& line) {
  if (!starts_with_weekday(line.text)) return false;
  std::string_view rest = line.text.substr(3);
  if (!take(rest, ' ')) return false;
  auto stamp = take_iso_stamp(rest);
  if (!stamp || !take(rest, ' ')) return false;
  if (take(rest, "UTC ")) {
    stamp->time.zone_assumed = false;
  } else {
    const std::string_view zone = take_word(rest);
    if (zone.empty() || !take(rest, ' ')) return false;
  }
  Peeled after = line;
  after.text = rest;
  after.stamped(stamp->time);
  if (!peel_host_and_tag(after, Expect::header)) return false;
  line = after;
  return true;
}

bool peel_unix_stamp(Peeled& line) {
  std::string_view rest = line.text;
  std::int64_t seconds = 0;
  std::int64_t fraction = 0;
  if (!take_number(rest, seconds, 10) || !take(rest, '.')) return false;
  const std::size_t behind_point = rest.size();
  if (!take_number(rest, fraction, 6)) return false;
  std::chrono::microseconds weight{1'000'000};  // of the last digit
  for (std::size_t digits = behind_point - rest.size(); digits > 0; --digits) weight /= 10;
  if (!take(rest, ' ')) return false;
  const Timestamp time{std::chrono::seconds{seconds} + fraction * weight};
  if (weight == std::chrono::microseconds{1}) weight = {};  // exact
  Peeled after = line;
  after.text = rest;
  after.stamped(EventTime::at(time, weight));
  if (!peel_host_and_tag(after, Expect::perhaps_header)) return false;
  line = after;
  return true;
}

bool peel_bracketed_stamp(Peeled& line) {
  std::string_view rest = line.text;
  if (!take(rest, '[')) return false;
  const auto stamp = take_iso_stamp(rest);
  const int rank = stamp ? take_place_in_engine(rest) : -1;
  if (!stamp || !take(rest, "] ") || rest.empty()) return false;
  if (starts_like_nccl(rest)) return false;  // it is NCCL's own
  if (rank >= 0) line.rank = rank;
  // If a stamp stands in front of it, that one counts: it is on every line, and may have a zone.
  if (!line.time.known()) line.stamped(stamp->time);
  line.text = rest;
  peel_host_and_tag(line, Expect::perhaps_header);
  return true;
}

bool peel_seconds_of_notebook(Peeled& line) {
  std::string_view rest = line.text;
  std::int64_t number = 0;
  if (!take_number(rest, number, 7) || !take(rest, '.') || !take_number(rest, number, 3) ||
      !take(rest, 's'))
    return false;
  std::string_view numbered = rest;
  if (take(numbered, '\t') && take_number(numbered, number, 9) && take(numbered, '\t'))
    rest = numbered;
  else if (!take(rest, ' ') && !take(rest, '\t'))
    return false;
  line.text = rest;
  return true;
}

bool peel_host_after_uptime(Peeled& line) {
  return line.time.uptime_us && line.host.empty() &&
         peel_host_and_tag(line, Expect::perhaps_header);
}

bool peel_repeated(Peeled& line) {
  std::string_view rest = line.text;
  std::int64_t times = 0;
  if (!take(rest, "message repeated ") || !take_number(rest, times) || !take(rest, " times: ["))
    return false;
  take(rest, ' ');
  if (rest.ends_with(']')) rest.remove_suffix(1);
  line.repeat(times);
  line.text = rest;
  return true;
}

}  // namespace faultline
