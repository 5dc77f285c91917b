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
constexpr std::size_t kMostTaken = 16;  // at once: an agent reads no more, and the next wait longer
constexpr std::size_t kMostRanks = 256;  // more mean all
constexpr std::size_t kLongestWhy = 400;
// An agent that took a request and says nothing for so long may have lost it.
constexpr std::chrono::seconds kAskAgainAfter{120};
// An agent does the same only so often.
constexpr std::chrono::seconds kBetweenAskings{300};
constexpr int kMostAskings = 3;
// Of a job. Two reports of NCCL's RAS tell what has moved, and one process answers for all.
constexpr int kMostRasReports = 2;

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

// The same asking has the same id, also after a restart of the service.
std::string id_of(const EvidenceRequest& request, int attempt) {
  const std::string asking =
      fmt::format("{}\n{}\n{}\n{}\n{}", request.job, attempt, request.host,
                  boost::describe::enum_to_string(request.kind, ""), request.askings);
  const XXH128_hash_t hash = XXH3_128bits(asking.data(), asking.size());
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

// Without ranks it is about all that are on the host.
void add_ranks(std::vector<int>& ranks, const std::vector<int>& more) {
  if (ranks.empty()) return;
  if (more.empty()) return ranks.clear();
  std::set<int> both(ranks.begin(), ranks.end());
  both.insert(more.begin(), more.end());
  ranks.assign(both.begin(), both.end());
  if (ranks.size() > kMostRanks) ranks.clear();
}

bool has_ranks(const std::vector<int>& ranks, const std::vector<int>& wanted) {
  return ranks.empty() || (!wanted.empty() && std::ranges::all_of(wanted, [&](int rank) {
           return std::ranges::find(ranks, rank) != ranks.end();
         }));
}

// One for each kind on a host.
std::vector<EvidenceRequest> wishes_of(const Diagnosis& diagnosis) {
  std::vector<EvidenceRequest> wishes;
  if (!asks_agents(diagnosis)) return wishes;
  std::map<std::pair<EvidenceKind, std::string_view>, std::size_t> places;
  for (const MissingEvidence& missing : diagnosis.missing_evidence) {
    if (!missing.kind) continue;
    for (const std::string& host : missing.hosts) {
      const auto [place, is_new] =
          places.emplace(std::pair(*missing.kind, std::string_view(host)), wishes.size());
      if (!is_new) {
        add_ranks(wishes[place->second].ranks, missing.ranks);
        continue;
      }
      wishes.push_back({.id = {},
                        .job = diagnosis.job,
                        .host = host,
                        .kind = *missing.kind,
                        .ranks = missing.ranks,
                        .why = missing.why.substr(0, kLongestWhy)});
      if (missing.ranks.size() > kMostRanks) wishes.back().ranks.clear();
    }
  }
  std::ranges::stable_sort(wishes, {}, [](const EvidenceRequest& wish) {
    return std::tuple(perishes(wish.kind), wish.kind);
  });
  return wishes;
}

}  // namespace

bool WantedEvidence::Wish::is_at_work(Timestamp now) const {
  return request.outcome == EvidenceOutcome::asked && now - *request.asked_at < kAskAgainAfter;
}

// Whether an agent may take it: for the first time, or again.
bool WantedEvidence::Wish::takes(Timestamp now) const {
  if (!is_wished) return false;
  if (request.outcome == EvidenceOutcome::waiting) return true;
  if (request.outcome == EvidenceOutcome::asked) return !is_at_work(now);
  const bool brought_it =
      request.outcome == EvidenceOutcome::sent && has_ranks(request.ranks, ranks) &&
      request.kind != EvidenceKind::ras;  // that it is still wished for means another report
  return !brought_it && request.outcome != EvidenceOutcome::dry_run &&
         request.askings + 1 < kMostAskings && now - *request.answered_at >= kBetweenAskings;
}

bool WantedEvidence::OfJob::wants_ras(Timestamp now) const {
  if (ras_reports >= kMostRasReports) return false;
  if (last_ras_report && now - *last_ras_report < kBetweenAskings) return false;
  return std::ranges::none_of(of_host, [&](const auto& host) {
    return std::ranges::any_of(host.second, [&](const Wish& wish) {
      return wish.request.kind == EvidenceKind::ras && wish.is_at_work(now);
    });
  });
}

void WantedEvidence::note(const Diagnosis& diagnosis, Timestamp until) {
  std::vector<EvidenceRequest> wishes = wishes_of(diagnosis);
  bool is_more = false;
  {
    const std::lock_guard lock(mutex_);
    if (wishes.empty() && !jobs_.contains(diagnosis.job)) return;
    OfJob& job = jobs_[diagnosis.job];
    if (job.attempt != diagnosis.attempt) {
      job = {};
      job.attempt = diagnosis.attempt;
    }
    job.noted = ++notes_;
    job.until = until;
    for (auto& [host, known] : job.of_host)
      for (Wish& wish : known) {
        wish.is_wished = false;
        if (!wish.request.asked_at) --job.count;  // until it is wished for again
      }
    for (EvidenceRequest& wish : wishes) {
      std::vector<Wish>& known = job.of_host[short_host(wish.host)];
      const auto same = std::ranges::find_if(known, [&](const Wish& before) {
        return before.request.kind == wish.kind && before.request.host == wish.host;
      });
      if (same != known.end()) {
        if (!same->is_wished && !same->request.asked_at) ++job.count;
        same->is_wished = true;
        same->ranks = std::move(wish.ranks);
        if (same->request.outcome == EvidenceOutcome::waiting) same->request.ranks = same->ranks;
        continue;
      }
      if (job.count >= kMostOfAJob) continue;
      ++job.count;
      is_more = true;
      wish.id = id_of(wish, job.attempt);
      std::vector<int> ranks = wish.ranks;
      known.push_back({.request = std::move(wish), .ranks = std::move(ranks)});
    }
    drop_unwished(job);
    make_room();
  }
  if (is_more) changes_.signal();
}

// What nobody took is forgotten if nobody wishes for it.
void WantedEvidence::drop_unwished(OfJob& job) {
  for (auto& [host, known] : job.of_host) {
    std::erase_if(known,
                  [](const Wish& wish) { return !wish.is_wished && !wish.request.asked_at; });
    std::ranges::stable_sort(known, {}, [](const Wish& wish) {
      return std::tuple(perishes(wish.request.kind), wish.request.kind);
    });
  }
  std::erase_if(job.of_host, [](const auto& host) { return host.second.empty(); });
  job.count = 0;
  for (const auto& [host, known] : job.of_host) job.count += known.size();
}

void WantedEvidence::withdraw(std::string_view job) {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return;
  for (auto& [host, known] : found->second.of_host)
    for (Wish& wish : known) wish.is_wished = false;
  drop_unwished(found->second);
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
    const auto here = job.of_host.find(short_host(host));
    if (here == job.of_host.end() || now >= job.until || !may_know(name)) continue;
    for (Wish& wish : here->second) {
      EvidenceRequest& request = wish.request;
      if (taken.size() >= kMostTaken) return taken;
      if (!is_same(request.host, host) || !kinds.contains(request.kind) || !wish.takes(now) ||
          (request.kind == EvidenceKind::ras && !job.wants_ras(now)))
        continue;
      if (request.answered_at) {
        request.ranks = wish.ranks;
        ++request.askings;
        request.id = id_of(request, job.attempt);
        request.answered_at.reset();
        request.detail.clear();
      }
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
    const auto here = job.of_host.find(short_host(host));
    if (here == job.of_host.end() || !may_know(name)) continue;
    const auto found =
        std::ranges::find(here->second, id, [](const Wish& wish) { return wish.request.id; });
    if (found == here->second.end() || !is_same(found->request.host, host) ||
        !found->request.asked_at)
      continue;
    EvidenceRequest& request = found->request;
    // The first answer counts: an agent that is asked again refuses.
    if (request.outcome != EvidenceOutcome::asked) return true;
    request.outcome = outcome;
    request.answered_at = now;
    request.detail = std::move(detail);
    if (request.kind == EvidenceKind::ras && outcome == EvidenceOutcome::sent) {
      ++job.ras_reports;
      job.last_ras_report = now;
    }
    return true;
  }
  return false;
}

std::vector<EvidenceRequest> WantedEvidence::asked(std::string_view job) const {
  const std::lock_guard lock(mutex_);
  std::vector<EvidenceRequest> all;
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return all;
  for (const auto& [host, known] : found->second.of_host)
    for (const Wish& wish : known)
      if (wish.request.asked_at) all.push_back(wish.request);
  std::ranges::stable_sort(all, {}, [](const EvidenceRequest& it) { return *it.asked_at; });
  return all;
}

}  // namespace faultline
