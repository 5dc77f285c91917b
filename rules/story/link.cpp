#include "rules/story/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "rules/knowledge/causality.h"
#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/limits.h"
#include "rules/knowledge/machines.h"
#include "rules/picture/when/between.h"
#include "rules/story/precedence.h"
#include "rules/story/rings.h"

namespace faultline {
namespace {

constexpr std::size_t kMostPossibleCauses = 8;  // listed for one finding

constexpr Relation kRelations[] = {Relation::same_gpu,          Relation::same_nic,
                                   Relation::same_host,         Relation::same_rank,
                                   Relation::same_communicator, Relation::same_job};

using Numbers = std::vector<std::uint32_t>;  // ascending

bool share(const Numbers& a, const Numbers& b) {
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    if (*x == *y) return true;
    *x < *y ? ++x : ++y;
  }
  return false;
}

// What a finding is about, as numbers, so that comparing many findings compares no texts.
struct Numbered {
  Cause cause = Cause::none;
  Numbers gpus, nics, hosts, ranks, communicators, held_up;

  const Numbers& of(Relation relation) const {
    return relation == Relation::same_gpu    ? gpus
           : relation == Relation::same_nic  ? nics
           : relation == Relation::same_host ? hosts
           : relation == Relation::same_rank ? ranks
                                             : communicators;
  }
};

class Numbering {
 public:
  template <class Name>
  Numbers numbers_of(const std::vector<Name>& names) {
    Numbers numbers;
    for (const Name& name : names) numbers.push_back(number_of(name));
    std::ranges::sort(numbers);
    return numbers;
  }

 private:
  std::uint32_t number_of(int rank) { return static_cast<std::uint32_t>(rank); }
  std::uint32_t number_of(const std::string& name) {
    return numbers_.try_emplace(name, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

bool related(const Numbered& cause, const Numbered& effect, Relation relation) {
  if (relation == Relation::same_job) return true;
  if (share(cause.of(relation), effect.of(relation))) return true;
  return relation == Relation::same_communicator && share(cause.held_up, effect.ranks);
}

// Why one finding does not explain another, though their classes and parts would allow it.
enum class Objection {
  none,
  ran_with_it,
  comes_later,
  has_own_reason,
  unplaced,
  untied,
  not_firm,
  began_second,
};

std::string_view in_words(Objection objection) {
  switch (objection) {
    case Objection::none:
      break;
    case Objection::ran_with_it:
      return "the job already ran with it";
    case Objection::comes_later:
      return "its lines come later";
    case Objection::has_own_reason:
      return "its own lines say why";
    case Objection::unplaced:
      return "its time is unknown";
    case Objection::untied:
      return "its time is unknown, and nothing else ties it to the ranks that stopped";
    case Objection::not_firm:
      return "it is too uncertain to explain this";
    case Objection::began_second:
      return "each could explain the other, and the other one came first";
  }
  return "";
}

// How a finding might follow from another.
struct Possibility {
  const CausalLink* link = nullptr;
  Relation relation = Relation::same_job;
  Order order = Order::cannot_tell;  // of the cause's lines to the effect's
  Objection objection = Objection::none;
};

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

// A part that fails may make another one complain before it says so itself.
bool foretold(const CausalLink& link, const Candidate& cause, const Candidate& effect,
              bool same_host) {
  if (link.told_before == 0) return false;
  EventTime earlier = cause.suspicion.since;
  const std::int64_t lead = std::int64_t{link.told_before} * 1'000'000;
  if (earlier.wall_us) *earlier.wall_us -= lead;
  if (earlier.uptime_us) *earlier.uptime_us -= lead;
  return order_of(earlier, effect.suspicion.since, same_host) != Order::after;
}

// What was reported before the cause itself, and follows from it, is evidence for it.
void take_as_evidence(const Finding& foreteller, Finding& cause) {
  constexpr std::size_t kMostLines = 8;
  for (const Evidence& line : foreteller.evidence)
    if (cause.evidence.size() < kMostLines &&
        std::ranges::find(cause.evidence, line) == cause.evidence.end())
      cause.evidence.push_back(line);
}

// Whether something about the whole host, or the whole job, would be the explanation.
bool is_wide(Relation relation) {
  return relation == Relation::same_host || relation == Relation::same_job;
}

// A finding that asks for a reason accepts one that is less firm than itself.
bool asks_for_a_reason(const Candidate& candidate) {
  return candidate.symptom || candidate.suspicion.says_not_why ||
         is(candidate.finding().cause, Trait::leaves_open_why);
}

bool is_firm_enough(const Candidate& cause, const Candidate& effect) {
  const double share = asks_for_a_reason(effect) ? limits::firm_enough_for_a_symptom
                                                 : limits::firm_enough_for_a_cause;
  return cause.finding().confidence >= share * effect.finding().confidence;
}

// A cause that no clock places, and that only its host ties to the job, does not explain a finding
// with a reason of its own, unless one clock shows that the cause came shortly before it. Neither
// does one of the same GPU or rank explain a mistake in the code.
bool is_unplaced(const Possibility& possible, const Candidate& cause, const Candidate& effect,
                 bool same_host) {
  constexpr std::int64_t kLongestUs = 3600'000'000;
  if (cause.suspicion.phase != Phase::cannot_tell || asks_for_a_reason(effect)) return false;
  if (possible.relation == Relation::same_gpu || possible.relation == Relation::same_rank)
    return effect.suspicion.is_of_the_code;
  const auto passed = microseconds_between(cause.suspicion.since, effect.suspicion.since);
  return same_host && passed ? *passed > kLongestUs : possible.order == Order::cannot_tell;
}

// Whether it is what collectives do when anything fails, or a failure that leaves open why.
bool is_a_stop(const Candidate& candidate) {
  return (candidate.symptom && candidate.suspicion.stops_job) ||
         is(candidate.finding().cause, Trait::leaves_open_why);
}

Objection objection_to(const Possibility& possible, const Candidate& cause, const Candidate& effect,
                       bool same_host) {
  if (cause.suspicion.job_ran_with_it && effect.symptom) return Objection::ran_with_it;
  if (possible.order == Order::after && !is(effect.finding().cause, Trait::absence) &&
      !foretold(*possible.link, cause, effect, same_host))
    return Objection::comes_later;
  if (!effect.symptom && effect.suspicion.names_its_reason && is_wide(possible.relation))
    return Objection::has_own_reason;
  if (is_unplaced(possible, cause, effect, same_host)) return Objection::unplaced;
  if (cause.untied && is_a_stop(effect)) return Objection::untied;
  if (!is_firm_enough(cause, effect)) return Objection::not_firm;
  return Objection::none;
}

class Linker {
 public:
  Linker(const Catalog& catalog, std::vector<Candidate>& candidates)
      : causality_(catalog.causality), candidates_(candidates) {
    Numbering numbering;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const Finding& finding = candidates[i].finding();
      const Subject& subject = finding.subject;
      parts_.push_back({.cause = finding.cause,
                        .gpus = numbering.numbers_of(subject.gpus),
                        .nics = numbering.numbers_of(subject.nics),
                        .hosts = numbering.numbers_of(machines_of(finding)),
                        .ranks = numbering.numbers_of(subject.ranks),
                        .communicators = numbering.numbers_of(subject.communicators),
                        .held_up = numbering.numbers_of(candidates[i].held_up)});
      if (!candidates[i].in_question()) continue;
      of_class_[parts_[i].cause].push_back(i);
      for (const Relation relation : kRelations)
        if (relation != Relation::same_job)
          for (const std::uint32_t part : parts_[i].of(relation))
            with_part_[place_of(relation, parts_[i].cause)][part].push_back(i);
    }
  }

  void link_all() {
    for (std::size_t c = 0; c < candidates_.size(); ++c)
      if (candidates_[c].in_question())
        for (const std::size_t e : effects_near(c)) link(c, e, possibility(c, e));
    link_late_ones();
  }

 private:
  static std::size_t place_of(Relation relation, Cause cause) {
    return static_cast<std::size_t>(cause) * std::size(kRelations) +
           static_cast<std::size_t>(relation);
  }

  // The findings that might follow from it, by their classes and parts; ascending.
  std::vector<std::size_t> effects_near(std::size_t c) const {
    std::vector<std::size_t> near;
    for (const auto& [effect, all] : of_class_)
      if (const CausalLink* link = causality_.between(parts_[c].cause, effect))
        for (const Relation relation : link->relations) add_related(c, effect, all, relation, near);
    std::ranges::sort(near);
    const auto repeated = std::ranges::unique(near);
    near.erase(repeated.begin(), repeated.end());
    std::erase(near, c);
    return near;
  }

  void add_related(std::size_t c, Cause effect, const std::vector<std::size_t>& all,
                   Relation relation, std::vector<std::size_t>& near) const {
    const auto add_all = [&](Relation by, const Numbers& numbers) {
      const auto with_part = with_part_.find(place_of(by, effect));
      if (with_part == with_part_.end()) return;
      for (const std::uint32_t part : numbers)
        if (const auto found = with_part->second.find(part); found != with_part->second.end())
          near.insert(near.end(), found->second.begin(), found->second.end());
    };
    if (relation == Relation::same_job) {
      near.insert(near.end(), all.begin(), all.end());
      return;
    }
    add_all(relation, parts_[c].of(relation));
    if (relation == Relation::same_communicator) add_all(Relation::same_rank, parts_[c].held_up);
  }

  // The closest relation in which the catalog lets one explain the other; nullopt: there is none.
  std::optional<Possibility> possibility(std::size_t c, std::size_t e) const {
    const CausalLink* link = causality_.between(parts_[c].cause, parts_[e].cause);
    if (link == nullptr) return std::nullopt;
    const auto* const relation = std::ranges::find_if(kRelations, [&](Relation r) {
      return std::ranges::find(link->relations, r) != link->relations.end() &&
             related(parts_[c], parts_[e], r);
    });
    if (relation == std::end(kRelations)) return std::nullopt;
    return possibility(c, e, *link, *relation);
  }

  Possibility possibility(std::size_t c, std::size_t e, const CausalLink& link,
                          Relation relation) const {
    const bool same_host = share(parts_[c].hosts, parts_[e].hosts);
    Possibility possible{.link = &link,
                         .relation = relation,
                         .order = order_of(candidates_[c].suspicion.since,
                                           candidates_[e].suspicion.since, same_host)};
    possible.objection = objection_to(possible, candidates_[c], candidates_[e], same_host);
    return possible;
  }

  // Ranks that wait in a Send or Recv leave no line of it, and logs end here and there: so ranks
  // other than the one that stopped are late, too. A cause that explains one of them explains them
  // all, and so does a rank that surely stopped; of several causes the one that began.
  void link_late_ones() {
    std::vector<std::size_t> late;
    std::optional<std::size_t> cause;
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
      if (is_late(c))
        late.push_back(c);
      else if (stops_a_rank(c) && (!cause || begins_before(candidates_[c], candidates_[*cause])))
        cause = c;
    }
    if (late.empty() || !cause) return;
    const CausalLink* link =
        causality_.between(parts_[*cause].cause, Cause::collective_rank_behind);
    for (const std::size_t e : late)
      if (candidates_[e].explained_by.empty())
        this->link(*cause, e, possibility(*cause, e, *link, Relation::same_job));
  }

  bool is_late(std::size_t c) const {
    return candidates_[c].in_question() &&
           candidates_[c].finding().cause == Cause::collective_rank_behind &&
           candidates_[c].suspicion.sure.has(Ground::late_here_and_there);
  }

  bool stops_a_rank(std::size_t c) const {
    const Candidate& cause = candidates_[c];
    if (!cause.in_question() ||
        causality_.between(parts_[c].cause, Cause::collective_rank_behind) == nullptr)
      return false;
    return (cause.symptom && cause.suspicion.stops_job &&
            cause.finding().confidence >= limits::least_to_blame) ||
           std::ranges::any_of(cause.effects, [&](std::size_t e) { return is_late(e); });
  }

  void link(std::size_t c, std::size_t e, std::optional<Possibility> possible) {
    if (!possible) return;
    if (possible->objection == Objection::none) {
      const auto back = possibility(e, c);
      if (back && back->objection == Objection::none && !begins(c, e, *possible, *back))
        possible->objection = Objection::began_second;
    }
    note(c, e, *possible);
    candidates_[c].might_explain |= possible->objection == Objection::untied;
    if (possible->objection != Objection::none) return;
    candidates_[c].effects.push_back(e);
    candidates_[e].explained_by.push_back(c);
    if (possible->link->told_before > 0)
      take_as_evidence(candidates_[e].finding(), candidates_[c].finding());
  }

  // A finding that may be reported before its cause comes first, but did not begin.
  bool begins(std::size_t c, std::size_t e, const Possibility& there,
              const Possibility& back) const {
    if ((there.link->told_before > 0) != (back.link->told_before > 0))
      return there.link->told_before > 0;
    return begins_before(candidates_[c], candidates_[e]);
  }

  void note(std::size_t c, std::size_t e, const Possibility& possible) {
    Candidate& effect = candidates_[e];
    const Finding& cause = candidates_[c].finding();
    if (effect.possible_causes.size() >= kMostPossibleCauses) return;
    effect.possible_causes.push_back(
        {.finding = cause.id,
         .rule = fmt::format("{} -> {} ({})", cause.cause, effect.finding().cause,
                             name_of(possible.relation)),
         .order = std::string(name_of(possible.order)),
         .rejected = std::string(in_words(possible.objection))});
  }

  const Causality causality_;
  std::vector<Candidate>& candidates_;
  std::vector<Numbered> parts_;
  std::map<Cause, std::vector<std::size_t>> of_class_;  // candidates in question
  // By relation and class of the effect, then by part.
  std::unordered_map<std::size_t, std::unordered_map<std::uint32_t, std::vector<std::size_t>>>
      with_part_;
};

// A finding that accuses nobody by itself explains nothing either.
void drop_links_from_nothing(std::vector<Candidate>& candidates) {
  std::vector<std::size_t> next;
  for (std::size_t c = 0; c < candidates.size(); ++c) next.push_back(c);
  while (!next.empty()) {
    const std::size_t c = next.back();
    next.pop_back();
    if (!candidates[c].means_nothing_alone() || candidates[c].effects.empty()) continue;
    const std::vector<std::size_t> effects = candidates[c].effects;
    for (const std::size_t e : effects)
      unlink(candidates, c, e, "it means nothing by itself, and nothing explains it");
    next.insert(next.end(), effects.begin(), effects.end());
  }
}

// The findings of a chain, by place: 0 is the first root cause.
struct Chain {
  std::vector<const Finding*> findings;
  std::vector<std::vector<std::size_t>> effects;
};

Chain reached_from(const Finding& cause, const std::vector<Finding>& symptoms) {
  std::unordered_map<std::string_view, const Finding*> by_id;
  for (const Finding& symptom : symptoms) by_id.emplace(symptom.id, &symptom);
  Chain chain{.findings = {&cause}, .effects = {}};
  std::unordered_map<std::string_view, std::size_t> places{{cause.id, 0}};
  for (std::size_t at = 0; at < chain.findings.size(); ++at) {
    chain.effects.emplace_back();
    for (const std::string& id : chain.findings[at]->explains) {
      const auto found = by_id.find(id);
      if (found == by_id.end()) continue;
      const auto [place, is_new] = places.try_emplace(found->first, chain.findings.size());
      if (is_new) chain.findings.push_back(found->second);
      chain.effects[at].push_back(place->second);
    }
  }
  return chain;
}

// The longest path from the first to each, so that each finding comes after all its causes.
std::vector<std::size_t> depths_of(const Chain& chain) {
  std::vector<std::size_t> open(chain.findings.size());  // causes that were not yet seen
  for (const auto& effects : chain.effects)
    for (const std::size_t e : effects) ++open[e];
  std::vector<std::size_t> depths(chain.findings.size());
  std::vector<std::size_t> next{0};
  while (!next.empty()) {
    const std::size_t at = next.back();
    next.pop_back();
    for (const std::size_t e : chain.effects[at]) {
      depths[e] = std::max(depths[e], depths[at] + 1);
      if (--open[e] == 0) next.push_back(e);
    }
  }
  return depths;
}

}  // namespace

void link(const Catalog& catalog, std::vector<Candidate>& candidates) {
  Linker(catalog, candidates).link_all();
  drop_links_from_nothing(candidates);
  open_rings(candidates);
  for (Candidate& candidate : candidates)
    for (const std::size_t e : candidate.effects)
      candidate.finding().explains.push_back(candidates[e].finding().id);
}

std::vector<std::string> chain_of(const Finding& cause, const std::vector<Finding>& symptoms) {
  const Chain chain = reached_from(cause, symptoms);
  const std::vector<std::size_t> depths = depths_of(chain);
  std::vector<std::size_t> order;
  for (std::size_t i = 1; i < chain.findings.size(); ++i) order.push_back(i);
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    const auto when = [&](std::size_t i) {
      const auto& seen = chain.findings[i]->first_seen;
      return std::tuple(depths[i], !seen, seen.value_or(Timestamp{}));
    };
    if (when(a) != when(b)) return when(a) < when(b);
    return named_before(*chain.findings[a], *chain.findings[b]);
  });
  std::vector<std::string> ids{cause.id};
  for (const std::size_t i : order) ids.push_back(chain.findings[i]->id);
  return ids;
}

}  // namespace faultline
