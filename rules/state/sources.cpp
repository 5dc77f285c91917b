#include "rules/state/sources.h"

#include <algorithm>
#include <cctype>

namespace faultline {
namespace {

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

std::uint32_t Sources::apply(const Source& source, const Batch& batch, Timestamp received) {
  told_by_paths_.forget();
  auto fresh = static_cast<std::uint32_t>(all_.size());
  auto [known, is_new] = by_name_.try_emplace(source.name, fresh);
  if (is_new) all_.push_back({.source = source, .first_received = received});
  SourceState& state = all_[known->second];
  if (state.source.host.empty()) state.source.host = source.host;
  if (state.source.rank < 0) state.source.rank = source.rank;
  state.bytes += batch.to_offset - batch.from_offset;
  state.lines += batch.lines;
  state.recognized += batch.recognized;
  for (const auto& [dialect, lines] : batch.dialects) state.dialects[dialect] += lines;
  for (const auto& [subsystem, lines] : batch.subsystems) state.subsystems[subsystem] += lines;
  for (const Event& event : batch.events)
    if (!std::holds_alternative<UnreadTrouble>(event.fact)) widen(state, event.time);
  for (const CallRun& run : batch.runs) {
    widen(state, run.first_time);
    widen(state, run.last_time);
  }
  state.first_received = std::min(state.first_received, received);
  state.last_received = std::max(state.last_received, received);
  state.end = batch.end;
  const auto of_kernel = batch.dialects.find("kernel");
  if (of_kernel != batch.dialects.end() && state.dialects["kernel"] == of_kernel->second)
    kernel_logs_.add(source.name);  // the first kernel lines of this source
  for (const Speaker& speaker : batch.speakers) {
    std::string host = short_host(speaker.host);
    constexpr std::size_t kMostProcesses = 64;
    if (speaker.pid != 0 && state.processes.size() < kMostProcesses)
      state.processes.emplace(host, speaker.pid);
    if (speaker.host.empty()) continue;
    state.spoken_hosts.insert(host);
    know(std::move(host));
  }
  if (!source.host.empty()) know(short_host(source.host));
  return known->second;
}

void Sources::know(std::string host) {
  const auto [known, is_new] = hosts_.insert(std::move(host));
  if (is_new) host_names_.add(*known);
}

const SourceState* Sources::find(std::string_view name) const {
  const auto known = by_name_.find(name);
  return known == by_name_.end() ? nullptr : &all_[known->second];
}

std::optional<std::uint32_t> Sources::index_of(std::string_view name) const {
  const auto known = by_name_.find(name);
  return known == by_name_.end() ? std::nullopt : std::optional(known->second);
}

NamedHost Sources::whose(std::uint32_t index) const {
  const SourceState& state = all_[index];
  if (!state.source.host.empty()) return {short_host(state.source.host), HostTold::by_sender};
  if (state.spoken_hosts.size() == 1) return {*state.spoken_hosts.begin(), HostTold::by_lines};
  if (std::optional<NamedHost> told = told_by_paths_.of(index)) return *std::move(told);
  NamedHost told = told_by_path(state);
  told_by_paths_.keep(index, told);
  return told;
}

NamedHost Sources::told_by_path(const SourceState& state) const {
  const std::string& path = state.source.name;
  if (std::string known = host_names_.known_in(path); !known.empty())
    return {std::move(known), HostTold::by_path_and_lines};
  // If lines name several hosts, the name of the file does not decide.
  if (!state.spoken_hosts.empty()) return {};
  std::string host = host_names_.numbered_like_one(path);
  if (host.empty()) host = kernel_logs_.host_in(path, host_names_);
  if (host.empty()) host = host_by_its_words(path);
  if (host.empty()) return {};
  return {std::move(host), HostTold::by_path_alone};
}

}  // namespace faultline
