#include "rules/state/kernel_lines.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "rules/state/sources.h"

namespace faultline {
namespace {

constexpr std::size_t kMostLogs = 16384;
constexpr std::size_t kMostBoots = 256;
constexpr std::size_t kFirstSayings = 4;
constexpr std::size_t kLastSayings = 4;
constexpr std::size_t kMostBytes = 1024;
// How many lines may come before the first boot's line.
constexpr std::uint64_t kMostHeadLines = 20;

constexpr std::int64_t kSecondUs = 1'000'000;
// Stamps of one boot may be a little out of order, and a boot is younger than this when its log
// begins.
constexpr std::int64_t kBackwardsUs = 60 * kSecondUs;
constexpr std::int64_t kYoungUs = 600 * kSecondUs;

constexpr std::array<std::int64_t, 3> kSpansUs = {60 * kSecondUs, 3600 * kSecondUs,
                                                  86400 * kSecondUs};

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_hex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

std::size_t end_of(std::string_view text, std::size_t from, bool (*is_part)(char)) {
  while (from < text.size() && is_part(text[from])) ++from;
  return from;
}

// The number after a word that precedes a pid.
std::string_view number_after(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + word.size());
  return text.substr(0, end_of(text, 0, is_digit));
}

// Whether the digits from `begin` to `end` are a number of their own, such as a count, a duration
// or a sector; not a piece of an address or a device name, nor the pid in "python3[4242]".
bool stands_alone(std::string_view text, std::size_t begin, std::size_t end) {
  constexpr std::string_view kJoins = "_.:-/#@";
  const auto joins = [&](std::size_t at) {
    return kJoins.find(text[at]) != std::string_view::npos;
  };
  if (begin > 0 && (is_word(text[begin - 1]) || joins(begin - 1))) return false;
  if (begin > 1 && text[begin - 1] == '[' && is_word(text[begin - 2])) return false;
  if (text.substr(0, begin).ends_with("Port: ")) return false;
  if (end == text.size()) return true;
  return !is_word(text[end]) && !(joins(end) && end + 1 < text.size() && is_word(text[end + 1]));
}

std::string without_numbers(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with("0x")) {
      out += '#';
      at = end_of(text, at + 2, is_hex);
    } else if (is_digit(text[at])) {
      const std::size_t end = end_of(text, at, is_digit);
      if (stands_alone(text, at, end))
        out += '#';
      else
        out += text.substr(at, end - at);
      at = end;
    } else {
      out += text[at++];
    }
  }
  return out;
}

// Keeps pids: two killed processes are two texts, even if the lines are otherwise equal.
std::string key_of(const Remark& remark) {
  const std::string_view text = std::string_view(remark.text).substr(0, kMostBytes);
  std::string key = without_numbers(text);
  for (const char* word : {"process ", "pid="}) {
    key += ' ';
    key += number_after(text, word);
  }
  return key;
}

void count(KernelText& text, const EventTime& time) {
  const auto now = time.uptime_us ? time.uptime_us : time.wall_us;
  for (std::size_t i = 0; i < kSpansUs.size(); ++i) {
    KernelText::Busiest& busiest = text.busiest[i];
    const bool goes_on = now && busiest.since_us && *now - *busiest.since_us < kSpansUs[i] &&
                         *now >= *busiest.since_us;
    if (!goes_on) {
      busiest.since_us = now;
      busiest.count = 0;
    }
    busiest.most = std::max(busiest.most, ++busiest.count);
  }
}

LineRef shortened(LineRef line) {
  if (line.text.size() > kMostBytes) line.text.resize(kMostBytes);
  return line;
}

}  // namespace

bool is_of_a_host(const Remark& remark) {
  return remark.dialect == "kernel" || remark.dialect == "system";
}

const KernelBoot* KernelLog::boot_of(const KernelText& text) const {
  const KernelBoot* found = nullptr;
  for (const KernelBoot& begun : boots)
    if (begun.order <= text.first().order) found = &begun;
  return found;
}

void KernelLines::apply(std::uint32_t source, const Batch& batch, const Event& event) {
  const auto* remark = std::get_if<Remark>(&event.fact);
  const bool booted = std::holds_alternative<HostBooted>(event.fact);
  if (!booted && (remark == nullptr || !is_of_a_host(*remark))) return;
  const auto which = log_of(source, short_host(batch.speakers[event.speaker].host), event);
  if (!which) return;
  Memory& memory = memories_[*which];
  const auto uptime = event.time.uptime_us;
  if (booted)
    begin_boot(*which, event, true);
  else if (uptime && memory.uptime_us && *uptime < kYoungUs &&
           *uptime < *memory.uptime_us - kBackwardsUs)
    begin_boot(*which, event, false);
  if (uptime) memory.uptime_us = uptime;
  if (remark != nullptr)
    say(*which, *remark, {source, event.line, event.offset, event.time, event.text});
}

std::optional<std::size_t> KernelLines::log_of(std::uint32_t source, const std::string& host,
                                               const Event& event) {
  const auto known = known_.find({source, host});
  if (known != known_.end()) return known->second;
  if (logs_.size() == kMostLogs) {
    ++left_out_;
    return std::nullopt;
  }
  constexpr std::size_t kTellsApart = 200;
  memories_.emplace_back();
  const std::size_t which = logs_.add(
      {.spoken_host = host, .source = source, .begins = event.text.substr(0, kTellsApart)});
  known_.emplace(std::pair(source, host), which);
  return which;
}

void KernelLines::begin_boot(std::size_t which, const Event& event, bool told) {
  KernelLog& log = logs_[which];
  // A kernel may report its start twice.
  const bool again =
      !log.boots.empty() && memories_[which].next_order == log.boots.back().order + 1;
  if (again) return;
  const bool first = memories_[which].next_order == 0;
  const std::uint64_t order = memories_[which].next_order++;
  ++log.boot;
  if (log.boots.size() == kMostBoots) return;
  LineRef line{log.source, event.line, event.offset, event.time, event.text};
  log.boots.push_back(
      {order, shortened(std::move(line)), !first || (told && event.line > kMostHeadLines)});
}

void KernelLines::say(std::size_t which, const Remark& remark, LineRef line) {
  KernelLog& log = logs_[which];
  Memory& memory = memories_[which];
  const std::uint64_t order = memory.next_order++;
  auto [known, is_new] = memory.texts.try_emplace({log.boot, key_of(remark)}, log.texts.size());
  if (is_new) {
    const std::uint64_t kind = kind_of_text(known->first.second);
    if (!memory.limit.allows(kind) || !limit_.allows(kind)) {
      memory.texts.erase(known);
      ++left_out_;
      return;
    }
    memory.limit.add(kind);
    limit_.add(kind);
    KernelText& fresh = log.texts.emplace_back();
    fresh.remark = remark;
    fresh.boot = log.boot;
    if (fresh.remark.text.size() > kMostBytes) fresh.remark.text.resize(kMostBytes);
  }
  KernelText& text = log.texts[known->second];
  ++text.count;
  count(text, line.time);
  if (text.sayings.size() == kFirstSayings + kLastSayings)
    text.sayings.erase(text.sayings.begin() + kFirstSayings);
  text.sayings.push_back({order, shortened(std::move(line))});
}

}  // namespace faultline
