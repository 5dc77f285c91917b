#include "rules/detectors/remarks/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace faultline {
namespace {

// Of one class: more of them are told as one.
constexpr std::size_t kMostAlike = 4;

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || value < 0)
    return std::nullopt;
  return value;
}

// Two ranks that do not go together: "rank 0 and rank 1 both on CUDA device 43000". Each rank may
// say so of itself and the other.
std::optional<std::pair<int, int>> ranks_named(const Sighting& sighting) {
  const auto a = number(sighting.field("rank_a"));
  const auto b = number(sighting.field("rank_b"));
  if (!a || !b) return std::nullopt;
  return std::minmax(*a, *b);
}

// What is blamed: sightings with the same key are one finding.
std::string key_of(const View& view, const Sighting& sighting) {
  const std::string& cause = sighting.signature->cause;
  if (const auto ranks = ranks_named(sighting))
    return fmt::format("{} ranks {} {}", cause, ranks->first, ranks->second);
  switch (sighting.signature->blames) {
    case Blames::nic:
      if (const std::string nic = nic_of(view, sighting); !nic.empty())
        return fmt::format("{} nic {}", cause, nic);
      [[fallthrough]];
    case Blames::host:
      if (!sighting.host.empty()) return fmt::format("{} host {}", cause, sighting.host);
      break;
    default:
      break;
  }
  return fmt::format("{} process {} {}", cause, sighting.process->process.host,
                     sighting.process->process.pid);
}

Subject subject_of_ranks(const View& view, const SightingList& said, std::pair<int, int> ranks) {
  Subject subject;
  for (const Worker& worker : view.workers.all) {
    if (worker.rank != ranks.first && worker.rank != ranks.second) continue;
    Subject one;
    one.ranks = {worker.rank};
    if (!worker.host.empty()) one.hosts = {worker.host};
    if (!worker.gpu.empty()) one.gpus = {gpu_name(worker.host, worker.gpu)};
    add_to(subject, one);
  }
  if (subject.ranks.empty()) {
    subject.hosts = speakers_of(view, said).hosts;
    subject.ranks = {ranks.first, ranks.second};
  }
  return subject;
}

Suspicion describe(const View& view, const SightingList& said) {
  Suspicion suspicion = suspicion_of(view, said);
  const Sighting& first = *said.front();
  Subject& subject = suspicion.finding.subject;
  if (const auto ranks = ranks_named(first)) {
    subject = subject_of_ranks(view, said, *ranks);
    return suspicion;
  }
  subject = speakers_of(view, said);
  if (first.signature->blames == Blames::host || first.signature->blames == Blames::nic)
    subject.gpus.clear();  // nothing is said of them
  if (first.signature->blames == Blames::nic)
    if (std::string nic = nic_of(view, first); !nic.empty()) subject.nics = {std::move(nic)};
  return suspicion;
}

using Group = std::pair<std::string, SightingList>;

// The groups, in the order of their first sightings.
std::vector<Group> grouped(const View& view, const SightingList& causes) {
  std::map<std::string, std::size_t> known;
  std::vector<Group> groups;
  for (const Sighting* sighting : causes) {
    std::string key = key_of(view, *sighting);
    const auto [at, is_new] = known.try_emplace(key, groups.size());
    if (is_new) groups.push_back({std::move(key), {}});
    groups[at->second].second.push_back(sighting);
  }
  return groups;
}

// Many parts with the same trouble: the first one is described, the others are named with it.
Suspicion describe_all(const View& view, const std::vector<const Group*>& groups) {
  SightingList all;
  Subject subject;
  for (const Group* group : groups) {
    all.insert(all.end(), group->second.begin(), group->second.end());
    add_to(subject, describe(view, group->second).finding.subject);
  }
  Suspicion suspicion = suspicion_of(view, all);
  suspicion.finding.subject = std::move(subject);
  suspicion.finding.title += fmt::format(", and {} others like it", groups.size() - 1);
  return suspicion;
}

}  // namespace

std::vector<Suspicion> suspect_parts(const View& view, const SightingList& causes) {
  const std::vector<Group> groups = grouped(view, causes);
  std::map<std::string, std::vector<const Group*>> by_class;
  for (const Group& group : groups)
    by_class[group.second.front()->signature->cause].push_back(&group);
  std::vector<Suspicion> found;
  for (const auto& [cause, alike] : by_class) {
    if (alike.size() > kMostAlike) {
      found.push_back(describe_all(view, alike));
    } else {
      for (const Group* group : alike) found.push_back(describe(view, group->second));
    }
  }
  return found;
}

}  // namespace faultline
