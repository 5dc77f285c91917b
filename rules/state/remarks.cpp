#include "rules/state/remarks.h"

#include <algorithm>
#include <cctype>

#include "rules/state/kernel_lines.h"
#include "rules/state/sources.h"

namespace faultline {
namespace {

// of one process, so that other texts do not displace warnings
constexpr std::size_t kMostNotWarnings = 64;
constexpr std::size_t kMostProcesses = 65536;  // because a hostile log could name any number
constexpr std::size_t kMostVersion = 64;       // bytes
constexpr std::size_t kMostVersions = 64;
constexpr std::size_t kMostBytes = 2048;  // of one text
// digits; numbers of statuses, retries and devices are this short
constexpr std::size_t kShortNumber = 3;
constexpr std::size_t kLongHex = 8;  // digits; pointers and keys without 0x are this long

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }

// The characters of addresses, devices and paths.
bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == ':' ||
         c == '-' || c == '/' || c == '%';
}

bool is_decimal_fraction(std::string_view word) {
  return std::ranges::count(word, '.') == 1 && is_digit(word.back()) &&
         std::ranges::all_of(word, [](char c) { return is_digit(c) || c == '.'; });
}

bool varies(std::string_view word, std::string_view word_before) {
  if (word.starts_with("0x")) return true;
  // Shared memory segments have random names.
  if (word.find("nccl-") != std::string_view::npos) return true;
  if (std::ranges::all_of(word, is_digit))
    return word.size() > kShortNumber && word_before != "rank" && word_before != "ranks";
  return is_decimal_fraction(word) ||
         (word.size() >= kLongHex && std::ranges::all_of(word, is_hex));
}

LineRef shortened(LineRef line) {
  if (line.text.size() > kMostBytes) line.text.resize(kMostBytes);
  return line;
}

}  // namespace

std::string without_what_varies(std::string_view text) {
  std::string out;
  std::string_view before;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && in_word(text[end])) ++end;
    if (end == i) {
      out.push_back(text[i++]);
      continue;
    }
    const std::string_view word = text.substr(i, end - i);
    if (varies(word, before))
      out.push_back('#');
    else
      out += word;
    before = word;
    i = end;
  }
  return out;
}

std::optional<std::size_t> Remarks::process_at(std::uint32_t source, const Source& origin,
                                               const Speaker& speaker) {
  ProcessKey key = process_of(origin, speaker);
  const auto known = index_.find(key);
  if (known != index_.end()) return known->second;
  if (processes_.size() == kMostProcesses) {
    ++left_out_;
    return std::nullopt;
  }
  RemarkingProcess process;
  process.process = key;
  process.host = short_host(speaker.host.empty() ? origin.host : speaker.host);
  process.source = source;
  process.launcher_rank = speaker.rank >= 0 ? speaker.rank : origin.rank;
  known_.emplace_back();
  const std::size_t which = processes_.add(std::move(process));
  index_.emplace(std::move(key), which);
  return which;
}

void Remarks::apply(std::uint32_t source, const Source& origin, const Batch& batch,
                    const Event& event) {
  const Speaker& speaker = batch.speakers[event.speaker];
  if (const auto* setting = std::get_if<Setting>(&event.fact))
    return learn_version(source, origin, speaker, *setting);
  const auto* remark = std::get_if<Remark>(&event.fact);
  const auto* trace = std::get_if<BackTrace>(&event.fact);
  const auto* end = std::get_if<CommunicatorEnd>(&event.fact);
  if (remark != nullptr && (is_of_a_host(*remark) || remark->dialect == "torch")) return;
  if (remark == nullptr && trace == nullptr && end == nullptr) return;
  const auto which = process_at(source, origin, speaker);
  if (!which) return;
  RemarkingProcess& process = processes_[*which];
  Known& known = known_[*which];
  const std::uint64_t order = known.next_order++;
  if (remark != nullptr) {
    say(*which, speaker, *remark, {source, event.line, event.offset, event.time, event.text});
  } else if (trace != nullptr) {
    if (!known.last_warning) return;
    std::optional<Returned>& returned = process.said[*known.last_warning].returned;
    if (!returned) returned = {trace->code, trace->place, order};
  } else if (end->ending == CommunicatorEnding::destroyed) {
    ++process.endings.destroyed;
  } else if (!process.endings.aborted) {
    process.endings.aborted = shortened({source, event.line, event.offset, event.time, event.text});
    process.endings.aborted_order = order;
  }
}

void Remarks::learn_version(std::uint32_t source, const Source& origin, const Speaker& speaker,
                            const Setting& setting) {
  if (setting.group != "version" || setting.name != "nccl" || setting.value.size() > kMostVersion)
    return;
  if (versions_.size() < kMostProcesses)
    versions_.try_emplace(process_of(origin, speaker), setting.value);
  versions_by_source_.try_emplace(source, setting.value);
  if (all_versions_.size() < kMostVersions) all_versions_.insert(setting.value);
}

std::string Remarks::nccl_version_of(const RemarkingProcess& process) const {
  if (const auto own = versions_.find(process.process); own != versions_.end()) return own->second;
  // The version line often does not name its process.
  const auto of_source = versions_by_source_.find(process.source);
  if (of_source != versions_by_source_.end()) return of_source->second;
  return all_versions_.size() == 1 ? *all_versions_.begin() : std::string();
}

void Remarks::say(std::size_t which, const Speaker& speaker, const Remark& remark, LineRef line) {
  RemarkingProcess& process = processes_[which];
  Known& known = known_[which];
  const std::uint64_t order = known.next_order - 1;
  const bool warns = remark.level == "warn";
  std::string key =
      remark.level + ' ' + without_what_varies(std::string_view(remark.text).substr(0, kMostBytes));
  const auto found = known.by_text.find(key);
  if (found == known.by_text.end()) {
    if (!warns && known.not_warnings == kMostNotWarnings) return;
    const std::uint64_t kind = kind_of_text(key);
    if (!known.limit.allows(kind) || !limit_.allows(kind)) {
      ++left_out_;
      return;
    }
    known.limit.add(kind);
    limit_.add(kind);
    if (!warns) ++known.not_warnings;
    known.by_text.emplace(std::move(key), process.said.size());
    if (warns) known.last_warning = process.said.size();
    SaidRemark& fresh = process.said.emplace_back();
    fresh.remark = remark;
    if (fresh.remark.text.size() > kMostBytes) fresh.remark.text.resize(kMostBytes);
    fresh.speaker = speaker;
    fresh.order = order;
    fresh.last_order = order;
    fresh.count = 1;
    fresh.first = shortened(line);
    line.text.clear();
    fresh.last = std::move(line);
    return;
  }
  SaidRemark& again = process.said[found->second];
  if (warns) known.last_warning = found->second;
  ++again.count;
  again.last_order = order;
  line.text.clear();
  again.last = std::move(line);
}

const RemarkingProcess* Remarks::find(const ProcessKey& process) const {
  const auto known = index_.find(process);
  return known == index_.end() ? nullptr : &processes_[known->second];
}

}  // namespace faultline
