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
  return best;
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
