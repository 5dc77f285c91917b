#include "rules/story/inference.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "rules/knowledge/ground_names.h"

namespace faultline {
namespace {

constexpr std::size_t kMostPossibleCauses = 8;  // told of one finding

template <class T>
bool share(const std::vector<T>& a, const std::vector<T>& b) {
  return std::ranges::any_of(a, [&](const T& x) { return std::ranges::find(b, x) != b.end(); });
}

bool related(const Candidate& cause, const Candidate& effect, Relation relation) {
  const Subject& a = cause.finding().subject;
  const Subject& b = effect.finding().subject;
  switch (relation) {
    case Relation::same_gpu:
      return share(a.gpus, b.gpus);
    case Relation::same_host:
      return share(a.hosts, b.hosts);
    case Relation::same_rank:
      return share(a.ranks, b.ranks);
    case Relation::same_communicator:
      return share(a.communicators, b.communicators) || share(cause.held_up, b.ranks);
    case Relation::same_job:
      return true;
  }
  return false;
}

constexpr Relation kRelations[] = {Relation::same_gpu, Relation::same_host, Relation::same_rank,
                                   Relation::same_communicator, Relation::same_job};

// A rank that did not come did so at no moment: what is known is its last line before, and the
// cause may lie on either side of it.
bool is_an_absence(const Finding& finding) {
  return finding.cause == "collective.rank_behind" || finding.cause == "collective.stalled" ||
         finding.cause == "process.silent" || finding.cause == "launch.rank_missing";
}

// A part that fails may make another one complain before it says so itself.
bool foretold(const Catalog& catalog, const Candidate& cause, const Candidate& effect,
              bool same_host) {
  const int seconds = catalog.told_before(cause.finding().cause, effect.finding().cause);
  if (seconds == 0) return false;
  EventTime earlier = cause.suspicion.since;
  const std::int64_t lead = std::int64_t{seconds} * 1'000'000;
  if (earlier.wall_us) *earlier.wall_us -= lead;
  if (earlier.uptime_us) *earlier.uptime_us -= lead;
  return order_of(earlier, effect.suspicion.since, same_host) != Order::after;
}

// What was told before the cause itself, and follows from it, bears witness to it.
void take_as_evidence(const Finding& foreteller, Finding& cause) {
  constexpr std::size_t kMostLines = 8;
  for (const Evidence& line : foreteller.evidence)
    if (cause.evidence.size() < kMostLines &&
        std::ranges::find(cause.evidence, line) == cause.evidence.end())
      cause.evidence.push_back(line);
}

// The closest relation in which the catalog lets the one explain the other; none: it does not.
std::optional<Relation> relation_between(const Catalog& catalog, const Candidate& cause,
                                         const Candidate& effect) {
  for (Relation relation : kRelations)
    if (related(cause, effect, relation) &&
        catalog.explains(cause.finding().cause, effect.finding().cause, relation))
      return relation;
  return std::nullopt;
}

// How a finding might follow from another.
struct Possibility {
  Relation relation = Relation::same_job;
  Order order = Order::cannot_tell;  // of the cause's lines to the effect's
  std::string rejected;              // why it does not; empty: it does
};

// What no clock places, and nothing but the host ties to the job, does not account for what gives a
// reason of its own.
bool has_its_own_reason(const Candidate& cause, const Candidate& effect, const Possibility& link) {
  return cause.suspicion.phase == Phase::cannot_tell && !effect.symptom &&
         link.order == Order::cannot_tell && link.relation != Relation::same_gpu &&
         link.relation != Relation::same_rank;
}

std::optional<Possibility> possibility(const Catalog& catalog, const Candidate& cause,
                                       const Candidate& effect) {
  const auto relation = relation_between(catalog, cause, effect);
  if (!relation) return std::nullopt;
  const bool same_host = share(cause.finding().subject.hosts, effect.finding().subject.hosts);
  Possibility possible{.relation = *relation,
                       .order = order_of(cause.suspicion.since, effect.suspicion.since, same_host),
                       .rejected = {}};
  if (cause.suspicion.job_ran_with_it && effect.symptom && effect.suspicion.stops_job)
    possible.rejected = "the job had got to work with it";
  else if (possible.order == Order::after && !is_an_absence(effect.finding()) &&
           !foretold(catalog, cause, effect, same_host))
    possible.rejected = "its lines come later";
  else if (has_its_own_reason(cause, effect, possible))
    possible.rejected = "no clock tells whether it was then";
  return possible;
}

bool surer(const Candidate& a, const Candidate& b) {
  auto key = [](const Candidate& c) {
    return std::make_tuple(c.finding().confidence, static_cast<int>(c.finding().severity),
                           std::string_view(c.finding().id));
  };
  return key(a) > key(b);
}

template <class Enum>
std::string_view name_of(Enum value) {
  return boost::describe::enum_to_string(value, "?");
}

std::string_view name_of(Order order) {
  switch (order) {
    case Order::before:
      return "before";
    case Order::after:
      return "after";
    case Order::cannot_tell:
      return "cannot tell";
  }
  return "?";
}

void note(Candidate& effect, const Candidate& cause, const Possibility& possible) {
  if (effect.possible_causes.size() >= kMostPossibleCauses) return;
  effect.possible_causes.push_back(
      {.finding = cause.finding().id,
       .rule = fmt::format("{} -> {} ({})", cause.finding().cause, effect.finding().cause,
                           name_of(possible.relation)),
       .order = std::string(name_of(possible.order)),
       .rejected = possible.rejected});
}

void unlink(std::vector<Candidate>& candidates, std::size_t cause, std::size_t effect,
            std::string_view why) {
  std::erase(candidates[cause].effects, effect);
  std::erase(candidates[effect].explained_by, cause);
  std::erase(candidates[cause].finding().explains, candidates[effect].finding().id);
  for (PossibleCause& possible : candidates[effect].possible_causes)
    if (possible.finding == candidates[cause].finding().id) possible.rejected = why;
}

// What accuses nobody by itself accounts for nothing either.
void drop_links_from_nothing(std::vector<Candidate>& candidates) {
  for (bool again = true; again;) {
    again = false;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      if (!candidates[c].means_nothing_alone() || candidates[c].effects.empty()) continue;
      const std::vector<std::size_t> effects = candidates[c].effects;
      for (const std::size_t e : effects)
        unlink(candidates, c, e, "it means nothing by itself, and nothing accounts for it");
      again = true;
    }
  }
}

// Where findings explain each other in a ring, the surest of them is where it begins: else nobody
// would be named.
void open_rings(std::vector<Candidate>& candidates) {
  for (;;) {
    std::vector<bool> reached(candidates.size());
    std::vector<std::size_t> next;
    for (std::size_t c = 0; c < candidates.size(); ++c)
      if (candidates[c].explained_by.empty()) next.push_back(c);
    while (!next.empty()) {
      const std::size_t c = next.back();
      next.pop_back();
      if (reached[c]) continue;
      reached[c] = true;
      next.insert(next.end(), candidates[c].effects.begin(), candidates[c].effects.end());
    }
    std::optional<std::size_t> first;
    for (std::size_t c = 0; c < candidates.size(); ++c)
      if (!reached[c] && (!first || surer(candidates[c], candidates[*first]))) first = c;
    if (!first) return;
    const std::vector<std::size_t> causes = candidates[*first].explained_by;
    for (const std::size_t c : causes)
      unlink(candidates, c, *first, "it follows from this finding as well, which is surer");
  }
}

bool stops_job(const Candidate& candidate) {
  return candidate.symptom && candidate.suspicion.stops_job;
}

bool is_worse_than_slow(const Candidate& candidate) {
  const Verdict verdict = candidate.suspicion.verdict;
  return candidate.in_question() && !candidate.means_nothing_alone() &&
         (verdict == Verdict::hang || verdict == Verdict::failed || verdict == Verdict::corrupt);
}

// Ranks called what does not fit together: that alone stops a job.
bool is_a_disagreement(const Candidate& candidate) {
  const std::string& cause = candidate.finding().cause;
  return candidate.in_question() &&
         (cause == "software.p2p_mismatch" || cause == "software.collective_mismatch" ||
          cause == "software.collective_skipped");
}

void add(const Grounds& grounds, Candidate& candidate, Ground ground) {
  candidate.suspicion.sure.add(ground);
  work_out_confidence(grounds, candidate.suspicion);
}

// Ranks go on queueing calls for a while after one of them cannot end, some more and some less.
// Where ranks were shown to have called what does not fit together, others that are a few calls
// short need not have stopped.
void doubt_who_queued_less(const Grounds& grounds, std::vector<Candidate>& candidates) {
  if (std::ranges::none_of(candidates, is_a_disagreement)) return;
  for (Candidate& candidate : candidates)
    if (candidate.finding().cause == "collective.rank_behind" && candidate.explained_by.empty())
      add(grounds, candidate, Ground::queued_less);
}

}  // namespace

Verdict worse(Verdict a, Verdict b) {
  constexpr Verdict kFromWorst[] = {Verdict::corrupt, Verdict::hang,    Verdict::failed,
                                    Verdict::slow,    Verdict::unknown, Verdict::healthy};
  for (Verdict verdict : kFromWorst)
    if (a == verdict || b == verdict) return verdict;
  return Verdict::unknown;
}

void work_out_confidence(const Grounds& grounds, Suspicion& suspicion) {
  suspicion.finding.confidence = grounds.confidence(suspicion.sure);
}

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
  known.tells_verdict |= again.tells_verdict;
  known.verdict = worse(known.verdict, again.verdict);
}

void find_held_up(const View& view, std::vector<Candidate>& candidates) {
  for (Candidate& candidate : candidates) {
    const Subject& subject = candidate.finding().subject;
    if (!candidate.finding().cause.starts_with("network.")) continue;
    if (subject.hosts.size() < 2 || subject.ranks.size() < 2) continue;
    std::size_t smallest = SIZE_MAX;
    for (const Communicator& communicator : view.communicators) {
      std::vector<int> members;
      for (const std::size_t member : communicator.members)
        members.push_back(view.worker_of(member).rank);
      const bool meet = std::ranges::all_of(subject.ranks, [&](int rank) {
        return std::ranges::find(members, rank) != members.end();
      });
      if (!meet || members.size() > smallest) continue;
      if (members.size() < smallest) candidate.held_up.clear();
      smallest = members.size();
      candidate.held_up.insert(candidate.held_up.end(), members.begin(), members.end());
    }
  }
}

void link(const Catalog& catalog, std::vector<Candidate>& candidates) {
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    for (std::size_t e = 0; e < candidates.size(); ++e) {
      if (c == e || !candidates[c].in_question() || !candidates[e].in_question()) continue;
      auto possible = possibility(catalog, candidates[c], candidates[e]);
      if (!possible) continue;
      // Where each could explain the other, the surer one does.
      if (possible->rejected.empty() && !surer(candidates[c], candidates[e])) {
        const auto back = possibility(catalog, candidates[e], candidates[c]);
        if (back && back->rejected.empty())
          possible->rejected = "each could explain the other, and it is less sure";
      }
      note(candidates[e], candidates[c], *possible);
      if (!possible->rejected.empty()) continue;
      candidates[c].effects.push_back(e);
      candidates[e].explained_by.push_back(c);
      candidates[c].finding().explains.push_back(candidates[e].finding().id);
      if (catalog.told_before(candidates[c].finding().cause, candidates[e].finding().cause) > 0)
        take_as_evidence(candidates[e].finding(), candidates[c].finding());
    }
  }
  drop_links_from_nothing(candidates);
  open_rings(candidates);
}

void weigh(const Grounds& grounds, std::vector<Candidate>& candidates) {
  const bool stopped = std::ranges::any_of(candidates, stops_job);
  for (Candidate& candidate : candidates) {
    // That results are wrong is a fault in its own right, whatever else stopped the job.
    if (candidate.symptom || !stopped || is_a_disagreement(candidate) ||
        candidate.suspicion.verdict == Verdict::corrupt)
      continue;
    const bool explains_stop = std::ranges::any_of(
        candidate.effects, [&](std::size_t e) { return stops_job(candidates[e]); });
    add(grounds, candidate, explains_stop ? Ground::explains_the_stop : Ground::explains_nothing);
  }
  doubt_who_queued_less(grounds, candidates);
  if (std::ranges::none_of(candidates, is_worse_than_slow)) return;
  for (Candidate& candidate : candidates) {
    const bool explains_worse = std::ranges::any_of(
        candidate.effects, [&](std::size_t e) { return is_worse_than_slow(candidates[e]); });
    if (candidate.suspicion.verdict == Verdict::slow && !explains_worse)
      add(grounds, candidate, Ground::slow_beside_a_stop);
  }
}

void state_confidence(const Grounds& grounds, std::vector<Candidate>& candidates,
                      std::size_t unheard) {
  for (Candidate& candidate : candidates) {
    if (candidate.borne_out) add(grounds, candidate, Ground::borne_out);
    // Of ranks that never came, that they were not heard is the evidence itself.
    if (unheard > 0 && candidate.finding().cause != "launch.rank_missing")
      add(grounds, candidate, Ground::ranks_unheard);
    const Sureness& sure = candidate.suspicion.sure;
    candidate.log_odds = grounds.log_odds(sure);
    candidate.steps = grounds.steps(sure);
    candidate.finding().confidence = rounded_confidence(candidate.finding().confidence);
  }
}

bool verdict_is_told(const std::vector<Candidate>& candidates, const Candidate& effect) {
  return std::ranges::any_of(effect.explained_by, [&](std::size_t cause) {
    const Candidate& by = candidates[cause];
    return !by.symptom && by.suspicion.tells_verdict && by.finding().severity >= Severity::error;
  });
}

std::vector<std::string> chain_of(const Finding& cause, const std::vector<Finding>& symptoms) {
  std::map<std::string_view, const Finding*> by_id;
  for (const Finding& symptom : symptoms) by_id.emplace(symptom.id, &symptom);
  // The longest way from the cause to each: what has a nearer cause of its own comes after it.
  std::map<std::string_view, std::size_t> depth{{cause.id, 0}};
  std::vector<const Finding*> next{&cause};
  while (!next.empty()) {
    const Finding* from = next.back();
    next.pop_back();
    const std::size_t below = depth[from->id] + 1;
    for (const std::string& id : from->explains) {
      const auto found = by_id.find(id);
      if (found == by_id.end()) continue;
      std::size_t& known = depth[found->second->id];
      if (known >= below || below > by_id.size()) continue;
      known = below;
      next.push_back(found->second);
    }
  }
  std::vector<const Finding*> order;
  for (const auto& [id, unused] : depth)
    if (const auto found = by_id.find(id); found != by_id.end()) order.push_back(found->second);
  std::ranges::sort(order, {}, [&](const Finding* finding) {
    return std::make_tuple(depth[finding->id], !finding->first_seen,
                           finding->first_seen.value_or(Timestamp{}),
                           std::string_view(finding->id));
  });
  std::vector<std::string> chain{cause.id};
  for (const Finding* finding : order) chain.push_back(finding->id);
  return chain;
}

}  // namespace faultline
