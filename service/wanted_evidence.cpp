#include "service/wanted_evidence.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "rules/state/sources.h"

namespace faultline {
namespace {

constexpr std::size_t kMostJobs = 1000;
constexpr std::size_t kMostOfAJob = 5000;
// An agent that took a request and says nothing for so long may have lost it.
constexpr std::chrono::seconds kAskAgainAfter{120};

// A process lives only until its launcher kills it, and its memory goes with it.
int perishes(EvidenceKind kind) {
  switch (kind) {
    case EvidenceKind::stacks:
      return 0;
    case EvidenceKind::ras:
      return 1;
    case EvidenceKind::flight_recorder:
      return 2;
    default:
      return 3;
  }
}

// The same wish has the same id, also after a restart of the service.
std::string id_of(const Diagnosis& diagnosis, const EvidenceRequest& request) {
  const std::string wish =
      fmt::format("{}\n{}\n{}\n{}\n{}", diagnosis.job, diagnosis.attempt, request.host,
                  boost::describe::enum_to_string(request.kind, ""), fmt::join(request.ranks, ","));
  const XXH128_hash_t hash = XXH3_128bits(wish.data(), wish.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

// Of a name without a domain it is not known which one it has.
bool is_same(std::string_view a, std::string_view b) {
  const bool both_whole =
      a.find('.') != std::string_view::npos && b.find('.') != std::string_view::npos;
  return both_whole ? a == b : short_host(a) == short_host(b);
}

// Something is wrong, and it is not known for sure what: to a job that runs nothing is done.
bool asks_agents(const Diagnosis& diagnosis) {
  return !diagnosis.root_causes.empty() && diagnosis.verdict != Verdict::healthy &&
         diagnosis.verdict != Verdict::running;
}

std::vector<EvidenceRequest> wishes_of(const Diagnosis& diagnosis) {
  std::vector<EvidenceRequest> wishes;
  if (!asks_agents(diagnosis)) return wishes;
  for (const MissingEvidence& missing : diagnosis.missing_evidence) {
    if (!missing.kind) continue;
    for (const std::string& host : missing.hosts) {
      if (wishes.size() == kMostOfAJob) break;
      EvidenceRequest wish{.id = {},
                           .job = diagnosis.job,
                           .host = host,
                           .kind = *missing.kind,
                           .ranks = missing.ranks,
                           .why = missing.why};
      wish.id = id_of(diagnosis, wish);
      wishes.push_back(std::move(wish));
    }
  }
  std::ranges::stable_sort(wishes, {},
                           [](const EvidenceRequest& wish) { return perishes(wish.kind); });
  return wishes;
}

}  // namespace

void WantedEvidence::note(const Diagnosis& diagnosis) {
  std::vector<EvidenceRequest> wishes = wishes_of(diagnosis);
  bool is_more = false;
  {
    const std::lock_guard lock(mutex_);
    if (wishes.empty() && !jobs_.contains(diagnosis.job)) return;
    OfJob& job = jobs_[diagnosis.job];
    job.noted = ++notes_;
    std::set<std::string> wished;
    for (const EvidenceRequest& wish : wishes) wished.insert(wish.id);
    std::erase_if(job.requests, [&](const auto& known) {
      return known.second.outcome == EvidenceOutcome::waiting && !wished.contains(known.first);
    });
    for (EvidenceRequest& wish : wishes) {
      if (job.requests.size() >= kMostOfAJob) break;
      std::string id = wish.id;
      is_more |= job.requests.emplace(std::move(id), std::move(wish)).second;
    }
    job.of_host.clear();
    for (const auto& [id, request] : job.requests)
      job.of_host[short_host(request.host)].push_back(id);
    for (auto& [host, ids] : job.of_host)
      std::ranges::sort(ids, {}, [&](const std::string& id) {
        const EvidenceKind kind = job.requests.at(id).kind;
        return std::tuple(perishes(kind), kind, id);
      });
    make_room();
  }
  if (is_more) changes_.signal();
}

void WantedEvidence::make_room() {
  if (jobs_.size() <= kMostJobs) return;
  jobs_.erase(
      std::ranges::min_element(jobs_, {}, [](const auto& job) { return job.second.noted; }));
}

void WantedEvidence::forget(std::string_view job) {
  const std::lock_guard lock(mutex_);
  if (const auto found = jobs_.find(job); found != jobs_.end()) jobs_.erase(found);
}

std::vector<EvidenceRequest> WantedEvidence::take(
    std::string_view host, const std::set<EvidenceKind>& kinds,
    const std::function<bool(std::string_view)>& may_know, Timestamp now) {
  const std::lock_guard lock(mutex_);
  std::vector<EvidenceRequest> taken;
  for (auto& [name, job] : jobs_) {
    if (!may_know(name)) continue;
    const auto is_lost = [&](const EvidenceRequest& request) {
      return request.outcome == EvidenceOutcome::asked && now - *request.asked_at >= kAskAgainAfter;
    };
    // One process of a job answers for all that NCCL's RAS knows.
    const bool has_ras = std::ranges::any_of(job.requests, [&](const auto& known) {
      const auto& [id, request] = known;
      return request.kind == EvidenceKind::ras &&
             (request.outcome == EvidenceOutcome::sent ||
              (request.outcome == EvidenceOutcome::asked && !is_lost(request)));
    });
    const auto here = job.of_host.find(short_host(host));
    if (here == job.of_host.end()) continue;
    for (const std::string& id : here->second) {
      EvidenceRequest& request = job.requests.at(id);
      if (!is_same(request.host, host) || !kinds.contains(request.kind) ||
          (request.outcome != EvidenceOutcome::waiting && !is_lost(request)) ||
          (request.kind == EvidenceKind::ras && has_ras))
        continue;
      request.outcome = EvidenceOutcome::asked;
      request.asked_at = now;
      taken.push_back(request);
    }
  }
  return taken;
}

bool WantedEvidence::answer(std::string_view host, std::string_view id, EvidenceOutcome outcome,
                            std::string detail,
                            const std::function<bool(std::string_view)>& may_know, Timestamp now) {
  const std::lock_guard lock(mutex_);
  for (auto& [name, job] : jobs_) {
    const auto found = job.requests.find(id);
    if (found == job.requests.end() || !may_know(name) || !is_same(found->second.host, host) ||
        !found->second.asked_at)
      continue;
    EvidenceRequest& request = found->second;
    // The first answer counts: an agent that is asked again refuses.
    if (request.outcome != EvidenceOutcome::asked) return true;
    request.outcome = outcome;
    request.answered_at = now;
    request.detail = std::move(detail);
    return true;
  }
  return false;
}

std::vector<EvidenceRequest> WantedEvidence::asked(std::string_view job) const {
  const std::lock_guard lock(mutex_);
  std::vector<EvidenceRequest> all;
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return all;
  for (const auto& [id, request] : found->second.requests)
    if (request.asked_at) all.push_back(request);
  std::ranges::stable_sort(all, {}, [](const EvidenceRequest& it) { return *it.asked_at; });
  return all;
}

}  // namespace faultline
