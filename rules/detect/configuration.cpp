#include "rules/detect/configuration.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "rules/detect/configuration/faults.h"

namespace faultline {
namespace {

constexpr std::size_t kMostSettingLines = 6;
constexpr std::size_t kMostTitles = 6;

using Look = std::vector<Suspicion> (*)(const View&, const Crew&);

// In the order in which their titles are joined.
constexpr Look kLooks[] = {find_network_fallback,   find_gdr_disabled,
                           find_p2p_disabled,       find_differing_devices,
                           find_differing_settings, find_suspicious_settings};

// Joins two findings if they are equally severe; otherwise the more severe one stays alone.
void join(const Grounds& grounds, Suspicion& into, Suspicion&& other, std::size_t& titles) {
  if (other.finding.severity > into.finding.severity) std::swap(into, other);
  Finding& finding = into.finding;
  if (other.finding.severity < finding.severity) return;
  if (++titles <= kMostTitles) finding.title += "; " + other.finding.title;
  if (grounds.log_odds(other.sure) > grounds.log_odds(into.sure)) into.sure = other.sure;
  for (Evidence& line : other.finding.evidence)
    if (finding.evidence.size() < kMostSettingLines &&
        std::ranges::find(finding.evidence, line) == finding.evidence.end())
      finding.evidence.push_back(std::move(line));
}

using Names = std::vector<std::string>;
using CauseAndSubject = std::tuple<Cause, Names, std::vector<int>, Names, Names, Names>;

CauseAndSubject what_it_is(const Finding& finding) {
  const Subject& subject = finding.subject;
  return {finding.cause, subject.hosts, subject.ranks,
          subject.gpus,  subject.nics,  subject.communicators};
}

// Whether all ranks of a communicator made more calls than ranks queue before the first one ends.
bool got_to_work(const View& view) {
  constexpr std::uint64_t kQueued = 16;
  return std::ranges::any_of(view.alignments, [](const Alignment& alignment) {
    return alignment.members.size() > 1 && alignment.slowest > kQueued;
  });
}

}  // namespace

std::vector<Suspicion> joined(const Grounds& grounds, std::vector<Suspicion> found) {
  std::vector<Suspicion> all;
  std::vector<std::size_t> titles;
  std::map<CauseAndSubject, std::size_t> known;
  for (Suspicion& suspicion : found) {
    const auto [same, is_new] = known.try_emplace(what_it_is(suspicion.finding), all.size());
    if (is_new) {
      all.push_back(std::move(suspicion));
      titles.push_back(1);
    } else {
      join(grounds, all[same->second], std::move(suspicion), titles[same->second]);
    }
  }
  return all;
}

std::vector<Suspicion> find_configuration_faults(const View& view) {
  std::vector<Suspicion> found;
  for (const Crew& crew : crews_of(view))
    for (const Look look : kLooks) std::ranges::move(look(view, crew), std::back_inserter(found));
  std::ranges::move(find_misunderstood_variables(view), std::back_inserter(found));
  std::ranges::move(find_changes_since_last_start(view), std::back_inserter(found));
  const bool ran = got_to_work(view);
  for (Suspicion& suspicion : found) suspicion.job_ran_with_it = ran;
  return joined(view.catalog.grounds, std::move(found));
}

}  // namespace faultline
