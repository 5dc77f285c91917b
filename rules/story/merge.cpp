#include "rules/story/merge.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "rules/knowledge/ground_names.h"
#include "rules/story/one_event.h"
#include "rules/story/precedence.h"
#include "rules/story/verdict.h"

namespace faultline {
namespace {

constexpr std::size_t kMostLines = 8;
constexpr std::size_t kLinesShownFirst = 2;  // of each witness

// A reader who reads only a few lines sees some of each witness, those of the surer one first.
std::vector<Evidence> lines_of_both(std::vector<Evidence> surer, std::vector<Evidence> other) {
  std::vector<Evidence> lines;
  const auto take = [&](std::vector<Evidence>& from, std::size_t most) {
    const std::size_t taken = std::min(most, from.size());
    for (std::size_t i = 0; i < taken && lines.size() < kMostLines; ++i)
      if (std::ranges::find(lines, from[i]) == lines.end()) lines.push_back(from[i]);
    from.erase(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(taken));
  };
  take(surer, kLinesShownFirst);
  take(other, kLinesShownFirst);
  take(surer, kMostLines);
  take(other, kMostLines);
  return lines;
}

template <class Name>
void add_all(std::vector<Name>& to, const std::vector<Name>& from) {
  to.insert(to.end(), from.begin(), from.end());
  std::ranges::sort(to);
  const auto repeated = std::ranges::unique(to);
  to.erase(repeated.begin(), repeated.end());
}

// If the two name different hosts, the ranks of the other finding only reported the fault.
void add_parts(Finding& finding, const Finding& again) {
  const bool of_calls = is(finding.cause, Trait::of_calls);
  if (of_calls) add_all(finding.subject.hosts, again.subject.hosts);
  if (of_calls || again.subject.hosts.empty() || finding.subject.hosts == again.subject.hosts) {
    add_all(finding.subject.gpus, again.subject.gpus);
    add_all(finding.subject.nics, again.subject.nics);
    if (!of_calls) add_all(finding.subject.ranks, again.subject.ranks);
  }
}

// For calls, each clock has its own advice; otherwise the advice is that of the class, and the
// same.
void add_actions(Finding& finding, Finding& again) {
  if (!is(finding.cause, Trait::of_calls)) return;
  for (Action& action : again.actions)
    if (std::ranges::find(finding.actions, action) == finding.actions.end())
      finding.actions.push_back(std::move(action));
}

void add_times(Suspicion& known, const Suspicion& again) {
  Finding& finding = known.finding;
  // A time stamp with its zone can be compared with those of others.
  const bool zoned_now = again.since.known() && !again.since.zone_assumed &&
                         (!known.since.known() || known.since.zone_assumed);
  if (zoned_now || (!known.since.known() && !known.since.uptime_us)) known.since = again.since;
  if (const auto& first = again.finding.first_seen;
      first && (!finding.first_seen || *first < *finding.first_seen)) {
    finding.first_seen = first;
    finding.zone_assumed = again.finding.zone_assumed;
  }
  if (const auto& last = again.finding.last_seen)
    finding.last_seen = std::max(finding.last_seen.value_or(*last), *last);
}

// What any detector knows of a fault that was found again counts for it.
void count_again(Suspicion& known, const Suspicion& again) {
  Finding& finding = known.finding;
  if (again.finding.confidence > finding.confidence) {
    finding.confidence = again.finding.confidence;
    known.sure = again.sure;
  }
  finding.severity = std::max(finding.severity, again.finding.severity);
  known.stops_job |= again.stops_job;
  known.job_ran_with_it &= again.job_ran_with_it;
  known.needs_effect &= again.needs_effect;
  known.names_its_reason |= again.names_its_reason;
  known.is_of_the_code |= again.is_of_the_code;
  known.tells_verdict |= again.tells_verdict;
  known.verdict = worse(known.verdict, again.verdict);
}

void join(Candidate& into, Candidate&& other, bool bears_out) {
  Finding& finding = into.finding();
  Finding& again = other.finding();
  const bool same = finding.id == again.id;
  finding.evidence = same || finding.confidence >= again.confidence
                         ? lines_of_both(std::move(finding.evidence), std::move(again.evidence))
                         : lines_of_both(std::move(again.evidence), std::move(finding.evidence));
  // Other findings use NCCL's names for communicators.
  if (finding.subject.communicators.empty() || clock_of(other) == Clock::nccl)
    if (!again.subject.communicators.empty())
      finding.subject.communicators = again.subject.communicators;
  if (!same) {
    add_parts(finding, again);
    add_actions(finding, again);
  }
  if (into.suspicion.says_not_why && !other.suspicion.says_not_why) {
    finding.title = again.title;
    finding.actions = again.actions;
    into.suspicion.says_not_why = false;
  }
  finding.count += again.count;
  add_times(into.suspicion, other.suspicion);
  count_again(into.suspicion, other.suspicion);
  into.borne_out |= other.borne_out || (bears_out && into.detector != other.detector &&
                                        (same || !is(finding.cause, Trait::of_calls)));
  into.clocks.insert(into.clocks.end(), other.clocks.begin(), other.clocks.end());
}

// A sort key: which clock says most about an event. A skipped call says more than one that differs;
// then the surer clock wins, with a bonus for NCCL's lines, which name communicators and GPUs.
auto how_telling(const Grounds& grounds, const Candidate& candidate) {
  Sureness sure = candidate.suspicion.sure;
  if (clock_of(candidate) == Clock::nccl) sure.add(Ground::names_the_parts);
  return std::make_tuple(candidate.finding().cause == Cause::software_collective_skipped,
                         grounds.log_odds(sure));
}

// A sort key: the fewer hosts, the closer; then the finding that names a part of them.
auto how_close(const Candidate& candidate) {
  const Finding& finding = candidate.finding();
  const auto named = [](const auto& names) { return names.empty() ? SIZE_MAX : names.size(); };
  return std::make_tuple(names_no_part(finding), named(finding.subject.hosts),
                         named(finding.subject.nics), named(finding.subject.gpus),
                         -finding.confidence);
}

class Merger {
 public:
  Merger(const View& view, std::vector<Candidate>& candidates)
      : view_(view), candidates_(candidates), gone_(candidates.size()) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      candidates[i].clocks = {candidates[i].detector};
      for (const std::string& key : keys_of(candidates[i])) alike_[key].push_back(i);
    }
  }

  void merge_all() {
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      if (!gone_[i]) merge_with_its_like(i);
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      if (!gone_[i] && names_no_part(candidates_[i].finding())) merge_into_its_like(i);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (gone_[i]) continue;
      if (kept != i) candidates_[kept] = std::move(candidates_[i]);
      ++kept;
    }
    candidates_.resize(kept);
  }

 private:
  // Findings of one event share at least one of these keys. A set, because thousands of ports may
  // have one name.
  static std::set<std::string> keys_of(const Candidate& candidate) {
    const Finding& finding = candidate.finding();
    std::set<std::string> keys{finding.id};
    if (is(finding.cause, Trait::of_calls)) {
      keys.insert(is(finding.cause, Trait::of_a_group)
                      ? std::string(name_of(finding.cause))
                      : fmt::format("{}", fmt::join(finding.subject.ranks, ",")));
      return keys;
    }
    for (const std::string& host : finding.subject.hosts)
      keys.insert(fmt::format("{}|{}", finding.cause, host));
    for (const int rank : finding.subject.ranks)
      keys.insert(fmt::format("{}|rank {}", finding.cause, rank));
    for (const auto* names : {&finding.subject.gpus, &finding.subject.nics})
      for (const std::string& name : *names) keys.insert(fmt::format("{}|{}", finding.cause, name));
    return keys;
  }

  std::vector<std::size_t> like(std::size_t i) const {
    std::vector<std::size_t> all;
    for (const std::string& key : keys_of(candidates_[i]))
      if (const auto found = alike_.find(key); found != alike_.end())
        all.insert(all.end(), found->second.begin(), found->second.end());
    std::ranges::sort(all);
    const auto repeated = std::ranges::unique(all);
    all.erase(repeated.begin(), repeated.end());
    return all;
  }

  bool is_one_with(std::size_t i, std::size_t k) const {
    return k != i && !gone_[k] && tell_of_one(view_, candidates_[i], candidates_[k]);
  }

  void merge_with_its_like(std::size_t i) {
    if (is(candidates_[i].finding().cause, Trait::of_calls)) {
      merge_with_the_most_telling(i);
      return;
    }
    for (const std::size_t k : like(i)) {
      if (!is_one_with(i, k)) continue;
      const bool closer = how_close(candidates_[k]) < how_close(candidates_[i]);
      const std::size_t kept = closer ? k : i;
      const std::size_t other = closer ? i : k;
      take(kept, other);
      i = kept;
    }
  }

  // Nested communicators: the rank may be behind in several; its own clock shows which is first.
  void merge_with_the_most_telling(std::size_t i) {
    std::optional<std::size_t> best;
    for (const std::size_t k : like(i)) {
      if (!is_one_with(i, k)) continue;
      const bool same = candidates_[i].finding().id == candidates_[k].finding().id;
      if (same && clock_of(candidates_[i]) == clock_of(candidates_[k])) {
        take(i, k);
        continue;
      }
      // NCCL's own findings wait until a finding of another clock merges with them.
      if (clock_of(candidates_[i]) == Clock::nccl) continue;
      if (!best || how_telling(view_.catalog.grounds, candidates_[*best]) <
                       how_telling(view_.catalog.grounds, candidates_[k]))
        best = k;
    }
    if (!best) return;
    const bool more = how_telling(view_.catalog.grounds, candidates_[*best]) <
                      how_telling(view_.catalog.grounds, candidates_[i]);
    take(more ? i : *best, more ? *best : i);
  }

  // It names no part. If one other finding has its class, it confirms that; of several it confirms
  // none.
  void merge_into_its_like(std::size_t i) {
    std::vector<std::size_t> all;
    for (std::size_t k = 0; k < candidates_.size(); ++k)
      if (candidates_[k].finding().cause == candidates_[i].finding().cause && is_one_with(i, k))
        all.push_back(k);
    if (all.empty()) return;
    const auto best = std::ranges::min_element(all, [&](std::size_t a, std::size_t b) {
      return begins_before(candidates_[a], candidates_[b]);
    });
    take(*best, i, all.size() == 1);
  }

  void take(std::size_t kept, std::size_t other, bool bears_out = true) {
    join(candidates_[kept], std::move(candidates_[other]), bears_out);
    gone_[other] = true;
  }

  const View& view_;
  std::vector<Candidate>& candidates_;
  std::vector<bool> gone_;
  std::unordered_map<std::string, std::vector<std::size_t>> alike_;  // by key
};

// If two findings have one id, one was before the job, or is not of it: that one gets another id.
void tell_ids_apart(std::vector<Candidate>& candidates) {
  std::set<std::string> ids;
  for (const Candidate& candidate : candidates)
    if (candidate.finding().part_of_job) ids.insert(candidate.finding().id);
  for (Candidate& candidate : candidates)
    if (!candidate.finding().part_of_job)
      while (!ids.insert(candidate.finding().id).second)
        candidate.finding().id = id_from(candidate.finding().id + "|apart");
}

}  // namespace

std::string id_from(std::string_view text) {
  return fmt::format("f{:012x}", XXH3_64bits(text.data(), text.size()) & 0xffffffffffffU);
}

void merge(const View& view, std::vector<Candidate>& candidates) {
  Merger(view, candidates).merge_all();
  tell_ids_apart(candidates);
}

}  // namespace faultline
