// What Kubernetes reports about pods. conditions.yaml says what its words mean: the first condition
// that a pod meets counts, because the others follow from it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "rules/detect/parts/facts.h"
#include "rules/knowledge/prose.h"

namespace faultline {
namespace {

constexpr std::size_t kMostNamed = 4;

struct Pod {
  std::set<std::string> hosts;  // none: no line says where it ran
  std::vector<ConditionHit> hits;
};

std::map<std::string, Pod> pods_in(const PartFacts& facts) {
  std::map<std::string, Pod> pods;
  for (const PartRecord& record : facts.parts().records()) {
    if (record.kind != "pod") continue;
    Pod& pod = pods[std::string(record.name("pod"))];
    if (!record.spoken_host.empty()) pod.hosts.insert(short_host(record.spoken_host));
    for (ConditionHit& hit : conditions_met(facts, record)) pod.hits.push_back(std::move(hit));
  }
  for (auto& [name, pod] : pods)
    std::ranges::stable_sort(pod.hits, {}, [](const ConditionHit& hit) { return hit.condition; });
  return pods;
}

std::string in_words(const std::vector<std::string>& pods) {
  if (pods.front().empty()) return "a pod";
  if (pods.size() == 1) return "pod " + pods.front();
  const std::size_t named = std::min(pods.size(), kMostNamed);
  const auto end = pods.begin() + static_cast<std::ptrdiff_t>(named);
  const std::string first = fmt::format("pods {}", fmt::join(pods.begin(), end, ", "));
  return pods.size() == named ? first : fmt::format("{} and {} more", first, pods.size() - named);
}

struct Alike {
  std::vector<std::string> pods;
  std::set<std::string> hosts;
  std::vector<ConditionHit> hits;
};

}  // namespace

Suspicions suspect_pods(const PartFacts& facts) {
  std::map<std::pair<const PartCondition*, std::string>, Alike> by_what;
  for (const auto& [name, pod] : pods_in(facts)) {
    if (pod.hits.empty()) continue;
    const ConditionHit& hit = pod.hits.front();
    Alike& alike = by_what[{hit.condition, hit.value}];
    alike.pods.push_back(name);
    alike.hosts.insert(pod.hosts.begin(), pod.hosts.end());
    alike.hits.push_back(hit);
  }
  Suspicions found;
  for (const auto& [what, alike] : by_what) {
    const std::string host = alike.hosts.size() == 1 ? *alike.hosts.begin() : std::string();
    Suspicion suspicion =
        suspicion_of(facts, alike.hits, {.part = in_words(alike.pods), .host = host, .gpu = {}});
    Finding& finding = suspicion.finding;
    begin_with_a_capital(finding.title);
    suspicion.stops_job = is(finding.cause, Trait::symptom);
    bool of_job = alike.hosts.empty();
    Owners owners(facts.view, finding.subject);
    for (const std::string& each : alike.hosts) {
      const Ownership ownership = owner_of_host(facts.view, each);
      owners.add(ownership, each);
      // If only pods were sent, they are the ones that are asked about.
      if (alike.hosts.size() == 1 && !facts.view.workers.all.empty())
        suspicion.sure.add(ownership.doubt);
      of_job |= ownership.part_of_job();
    }
    owners.done();
    if (!of_job) finding.part_of_job = false;
    found.push_back(std::move(suspicion));
  }
  return found;
}

}  // namespace faultline
