#include "rules/detect/remarks/parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "rules/detect/detector.h"
#include "rules/knowledge/subjects.h"

namespace faultline {
namespace {

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || value < 0)
    return std::nullopt;
  return value;
}

// The ranks that the line itself names: "rank 0 and rank 1 both on CUDA device 43000". Both ranks
// may print it, each naming itself first, so they are sorted.
std::vector<int> ranks_named(const Sighting& sighting) {
  std::vector<int> ranks;
  for (const char* field : {"rank_a", "rank_b"})
    if (const auto rank = number(sighting.field(field))) ranks.push_back(*rank);
  std::ranges::sort(ranks);
  return ranks;
}

// What is blamed: sightings with the same key are one finding.
std::string key_of(const View& view, const Sighting& sighting) {
  const Cause cause = sighting.signature->cause;
  if (const auto ranks = ranks_named(sighting); !ranks.empty())
    return fmt::format("{} ranks {}", cause, fmt::join(ranks, " "));
  switch (sighting.signature->blames) {
    case Blames::nic:
      if (const std::string nic = nic_of(view, sighting); !nic.empty())
        return fmt::format("{} nic {}", cause, nic);
      [[fallthrough]];
    case Blames::host:
    case Blames::part:
      if (!sighting.host.empty()) return fmt::format("{} host {}", cause, sighting.host);
      break;
    default:
      break;
  }
  return fmt::format("{} process {} {}", cause, sighting.process->process.host,
                     sighting.process->process.pid);
}

// The line's ranks may be of any communicator: they are taken for the job's ranks if they fit what
// else the line says.
Subject subject_of_ranks(const View& view, const SightingList& said,
                         const std::vector<int>& ranks) {
  Subject subject;
  for (const int rank : ranks)
    for (const std::size_t index : view.workers.of_rank(rank)) {
      const Worker& worker = view.workers.all[index];
      Subject one;
      one.ranks = {worker.rank};
      if (!worker.host.empty()) one.hosts = {worker.host};
      if (!worker.gpu.empty()) one.gpus = {gpu_name(worker.host, worker.gpu)};
      append(subject, one);
    }
  tidy(subject);
  const Sighting& first = *said.front();
  const bool fits = first.signature->blames != Blames::host || first.host.empty() ||
                    subject.hosts == std::vector<std::string>{first.host};
  if (!subject.ranks.empty() && fits) return subject;
  Subject speakers = speakers_of(view, said);
  speakers.gpus.clear();
  speakers.ranks = view.workers.all.empty() ? ranks : std::vector<int>();
  return speakers;
}

Suspicion describe_said(const View& view, const SightingList& said) {
  Suspicion suspicion = suspicion_of(view, said);
  const Sighting& first = *said.front();
  const MessageSignature& signature = *first.signature;
  Finding& finding = suspicion.finding;
  if (const auto ranks = ranks_named(first); !ranks.empty()) {
    finding.subject = subject_of_ranks(view, said, ranks);
    return suspicion;
  }
  finding.subject = speakers_of(view, said);
  if (signature.blames == Blames::host || signature.blames == Blames::nic)
    finding.subject.gpus.clear();  // the line says nothing about them
  if (signature.blames == Blames::nic)
    if (std::string nic = nic_of(view, first); !nic.empty()) finding.subject.nics = {nic};
  if (signature.blames == Blames::process && finding.subject.ranks.size() == 1 &&
      signature.title.find("{rank}") == std::string::npos)
    finding.title += fmt::format(" (rank {})", finding.subject.ranks.front());
  return suspicion;
}

using Group = std::pair<std::string, SightingList>;

// The groups, in the order of their first sightings.
std::vector<Group> grouped(const View& view, const SightingList& causes) {
  std::map<std::string, std::size_t> known;
  std::vector<Group> groups;
  for (const Sighting* sighting : causes) {
    const std::string key = key_of(view, *sighting);
    const auto [at, is_new] = known.try_emplace(key, groups.size());
    if (is_new) groups.push_back({key, {}});
    groups[at->second].second.push_back(sighting);
  }
  return groups;
}

// If many parts have the same fault, the first is described, and the others are named with it.
Suspicion describe_all(const View& view, const std::vector<const Group*>& groups) {
  SightingList all;
  Subject subject;
  for (const Group* group : groups) {
    all.insert(all.end(), group->second.begin(), group->second.end());
    append(subject, describe_said(view, group->second).finding.subject);
  }
  tidy(subject);
  Suspicion suspicion = suspicion_of(view, all);
  suspicion.finding.subject = std::move(subject);
  suspicion.finding.title += fmt::format(", and {} others like it", groups.size() - 1);
  return suspicion;
}

}  // namespace

std::vector<Suspicion> suspect_parts(const View& view, const SightingList& causes) {
  const std::vector<Group> groups = grouped(view, causes);
  std::map<Cause, std::vector<const Group*>> by_class;
  for (const Group& group : groups)
    by_class[group.second.front()->signature->cause].push_back(&group);
  std::vector<Suspicion> found;
  for (const auto& [cause, alike] : by_class) {
    if (alike.size() > kMostAlike) {
      found.push_back(describe_all(view, alike));
    } else {
      for (const Group* group : alike) found.push_back(describe_said(view, group->second));
    }
  }
  return found;
}

}  // namespace faultline
