#include "rules/state/sources.h"

#include <algorithm>
#include <cctype>

namespace faultline {
namespace {

bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// `name` as a word of its own: "node-1" is not in "node-12".
bool names(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    bool begins = at == 0 || !is_name_character(text[at - 1]);
    std::size_t end = at + name.size();
    bool ends = end == text.size() || !is_name_character(text[end]);
    if (begins && ends) return true;
  }
  return false;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The same but for its numbers: gpu-node-3 and gpu-node-12. There must be letters and a number.
bool is_numbered_like(std::string_view name, std::string_view host) {
  std::size_t letters = 0;
  std::size_t numbers = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < host.size();) {
    if (at >= name.size() || is_digit(host[i]) != is_digit(name[at])) return false;
    if (!is_digit(host[i])) {
      letters += is_name_character(host[i]) ? 1 : 0;
      if (host[i++] != name[at++]) return false;
      continue;
    }
    ++numbers;
    while (i < host.size() && is_digit(host[i])) ++i;
    while (at < name.size() && is_digit(name[at])) ++at;
  }
  constexpr std::size_t kLeastLetters = 3;  // attempts and ranks have numbered folders, too
  return at == name.size() && numbers > 0 && letters >= kLeastLetters;
}

// Folders are named after hosts where another is.
std::string numbered_like_a_host(std::string_view path, const std::set<std::string>& hosts) {
  for (std::size_t end = path.find('/'); end != std::string_view::npos; end = path.find('/')) {
    const std::string_view folder = path.substr(0, end);
    for (const std::string& host : hosts)
      if (is_numbered_like(folder, host)) return std::string(folder);
    path.remove_prefix(end + 1);
  }
  return {};
}

void widen(SourceState& state, const EventTime& time) {
  if (!time.wall_us) return;
  state.first_wall_us = std::min(state.first_wall_us.value_or(*time.wall_us), *time.wall_us);
  state.last_wall_us = std::max(state.last_wall_us.value_or(*time.wall_us), *time.wall_us);
}

}  // namespace

std::string short_host(std::string_view host) {
  bool address = std::all_of(host.begin(), host.end(), [](char c) {
    return c == '.' || c == ':' || std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
  return std::string(address ? host : host.substr(0, host.find('.')));
}

std::string host_in_path(std::string_view path, const std::set<std::string>& hosts) {
  std::string best;
  for (const std::string& host : hosts)
    if (host.size() > best.size() && names(path, host)) best = host;
  return best.empty() ? numbered_like_a_host(path, hosts) : best;
}

std::uint32_t Sources::apply(const Source& source, const Batch& batch, Timestamp received) {
  auto fresh = static_cast<std::uint32_t>(all_.size());
  auto [known, is_new] = by_name_.try_emplace(source.name, fresh);
  if (is_new) all_.push_back({.source = source});
  SourceState& state = all_[known->second];
  if (state.source.host.empty()) state.source.host = source.host;
  if (state.source.rank < 0) state.source.rank = source.rank;
  state.bytes += batch.to_offset - batch.from_offset;
  state.lines += batch.lines;
  state.recognized += batch.recognized;
  for (const auto& [dialect, lines] : batch.dialects) state.dialects[dialect] += lines;
  for (const auto& [subsystem, lines] : batch.subsystems) state.subsystems[subsystem] += lines;
  for (const Event& event : batch.events) widen(state, event.time);
  for (const CallRun& run : batch.runs) {
    widen(state, run.first_time);
    widen(state, run.last_time);
  }
  state.last_received = std::max(state.last_received, received);
  state.end = batch.end;
  for (const Speaker& speaker : batch.speakers) {
    if (speaker.host.empty()) continue;
    std::string host = short_host(speaker.host);
    state.spoken_hosts.insert(host);
    hosts_.insert(std::move(host));
  }
  if (!source.host.empty()) hosts_.insert(short_host(source.host));
  return known->second;
}

const SourceState* Sources::find(std::string_view name) const {
  const auto known = by_name_.find(name);
  return known == by_name_.end() ? nullptr : &all_[known->second];
}

std::string Sources::host_of(std::uint32_t index) const {
  const SourceState& state = all_[index];
  if (!state.source.host.empty()) return short_host(state.source.host);
  if (state.spoken_hosts.size() == 1) return *state.spoken_hosts.begin();
  return host_in_path(state.source.name, hosts_);
}

}  // namespace faultline
