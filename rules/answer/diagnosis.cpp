#include "rules/answer/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "rules/answer/checklist.h"
#include "rules/answer/clock_offsets.h"
#include "rules/answer/counter_evidence.h"
#include "rules/answer/coverage.h"
#include "rules/answer/coverage_hosts.h"
#include "rules/answer/coverage_ranks.h"
#include "rules/answer/health.h"
#include "rules/answer/incident.h"
#include "rules/answer/pasteable.h"
#include "rules/answer/summary.h"
#include "rules/answer/unread.h"
#include "rules/detect/by_words.h"
#include "rules/detect/detector.h"
#include "rules/detect/placed.h"
#include "rules/knowledge/advice.h"
#include "rules/knowledge/limits.h"
#include "rules/story/fold.h"
#include "rules/story/hold.h"
#include "rules/story/inference.h"
#include "rules/story/link.h"
#include "rules/story/merge.h"
#include "rules/story/precedence.h"
#include "rules/story/ties.h"
#include "rules/story/verdict.h"
#include "rules/story/witnesses.h"

namespace faultline {
namespace {

// A finding of another time gets another id than the same finding of now.
std::string id_of(const View& view, const Suspicion& suspicion) {
  const Finding& finding = suspicion.finding;
  std::string text = fmt::format(
      "{}|{}|{}|{}|{}|{}|{}", view.job.name(), view.attempt, finding.cause,
      fmt::join(finding.subject.hosts, ","), fmt::join(finding.subject.ranks, ","),
      fmt::join(finding.subject.gpus, ","), fmt::join(finding.subject.communicators, ","));
  if (!finding.subject.nics.empty())
    text += fmt::format("|{}", fmt::join(finding.subject.nics, ","));
  if (is_of_another_time(suspicion.phase)) text += said_of(suspicion.phase);
  return id_from(text);
}

// A signature's own actions replace those of its class. For a collective, the actions of the class
// follow its own.
void add_advice(const Catalog& catalog, Finding& finding) {
  const Advice* advice = catalog.advice_for(finding.cause);
  if (advice == nullptr) return;
  finding.remedy = advice->remedy;
  if (!finding.actions.empty() && !is_of(finding.cause, Family::collective)) return;
  const AdviceSubject about = advice_subject(finding.subject);
  for (const Action& action : advice->actions) finding.actions.push_back(fill_in(action, about));
}

// Fills in what every finding has. False: a person said that the finding is wrong.
bool is_taken(const View& view, Suspicion& suspicion) {
  Finding& finding = suspicion.finding;
  finding.id = id_of(view, suspicion);
  if (!finding.first_seen) finding.first_seen = suspicion.since.wall();
  finding.zone_assumed = finding.first_seen && suspicion.since.zone_assumed;
  if (!finding.last_seen) finding.last_seen = finding.first_seen;
  return !view.moment.wrong.contains(finding.id);
}

std::vector<Candidate> candidates_of(const View& view) {
  std::vector<Candidate> candidates;
  std::unordered_set<std::string> advised;
  for (const Detector& detector : all_detectors()) {
    std::vector<Suspicion> found = detector.look(view);
    for (Suspicion& suspicion : found) work_out_confidence(view.catalog.grounds, suspicion);
    fold_what_is_over_budget(found);
    for (Suspicion& suspicion : found) {
      if (!is_taken(view, suspicion)) continue;
      Finding& finding = suspicion.finding;
      if (advised.insert(finding.id).second || !finding.part_of_job)
        add_advice(view.catalog, finding);
      complete_actions(view, finding);
      const bool symptom = is(finding.cause, Trait::symptom);
      candidates.push_back(
          {.suspicion = std::move(suspicion), .detector = detector.name, .symptom = symptom});
    }
  }
  merge(view, candidates);
  return candidates;
}

// The surest comes first: by the stated confidence, then before rounding. Then the worse one, the
// one that names its part more closely, the earlier one. Ids decide nothing: they are hashes.
bool comes_first(const Candidate& a, const Candidate& b) {
  const auto key = [](const Candidate& candidate) {
    const Finding& finding = candidate.finding();
    return std::tuple(-finding.confidence, -candidate.log_odds, -static_cast<int>(finding.severity),
                      closeness(finding.subject), !finding.first_seen,
                      finding.first_seen.value_or(Timestamp{}));
  };
  const auto key_a = key(a);
  const auto key_b = key(b);
  return key_a != key_b ? key_a < key_b : named_before(a.finding(), b.finding());
}

void add_ranks(const Finding& finding, std::vector<int>& ranks) {
  ranks.insert(ranks.end(), finding.subject.ranks.begin(), finding.subject.ranks.end());
}

// Corrects the times of hosts whose clocks are off.
void correct_clocks(const std::vector<ClockOffset>& offsets, std::vector<Candidate>& candidates) {
  for (Candidate& candidate : candidates) {
    const std::vector<std::string>& hosts = candidate.finding().subject.hosts;
    if (hosts.size() != 1 || !candidate.suspicion.since.wall_us) continue;
    const auto offset = std::ranges::find(offsets, hosts.front(), &ClockOffset::host);
    if (offset != offsets.end())
      *candidate.suspicion.since.wall_us -= static_cast<std::int64_t>(offset->seconds * 1e6);
  }
}

// Where a candidate stands in the diagnosis, and why there.
std::pair<Place, std::string> place_of(const std::vector<Candidate>& candidates,
                                       const Candidate& candidate) {
  if (!candidate.finding().part_of_job)
    return {Place::observation, "it belongs to another part or another time than the job"};
  if (candidate.suspicion.verdict == Verdict::healthy)
    return {Place::observation, "it is harmless"};
  if (candidate.means_nothing_alone())
    return {Place::observation, "it means nothing by itself and explains nothing"};
  if (candidate.held) return {Place::so_far, "more of the job's logs may come and change this"};
  if (!candidate.explained_by.empty())
    return {Place::symptom,
            "it follows from " + candidates[candidate.explained_by.front()].finding().id};
  return {Place::root_cause, candidate.symptom ? "nothing that was found explains this symptom"
                                               : "nothing that was found explains it"};
}

// A job that stands sends nothing, so its error counters stand still, too: nothing has healed.
void reopen_what_only_waits(Diagnosis& diagnosis) {
  if (diagnosis.verdict != Verdict::hang && diagnosis.verdict != Verdict::failed) return;
  for (auto* findings : {&diagnosis.root_causes, &diagnosis.symptoms, &diagnosis.observations})
    for (Finding& finding : *findings) finding.state = FindingState::open;
}

// Ids of findings that lines of several kinds report.
std::set<std::string> borne_out_in(const std::vector<Candidate>& candidates) {
  std::set<std::string> ids;
  for (const Candidate& candidate : candidates)
    if (candidate.borne_out) ids.insert(candidate.finding().id);
  return ids;
}

void sort_once(std::vector<int>& ranks) {
  std::ranges::sort(ranks);
  const auto repeated = std::ranges::unique(ranks);
  ranks.erase(repeated.begin(), repeated.end());
}

// A log still grows, and not all known ranks have ended.
bool goes_on(const View& view) {
  bool flows = false;
  bool all_ended = !view.members.empty();
  for (const std::size_t index : view.members) {
    const SourceState& log = view.job.sources().at(view.log_of(index));
    flows |= view.moment.live_sources.contains(log.source.name);
    all_ended &= view.member(index).left_cleanly();
  }
  return flows && !all_ended;
}

// While not all ranks were heard, what is missing may still come from the others.
bool is_worth_showing_so_far(const View& view, const Finding& finding) {
  const bool all_heard = view.roll.expected > 0 && view.roll.all_heard();
  return all_heard || (!is(finding.cause, Trait::absence) && !is(finding.cause, Trait::of_calls) &&
                       !is(finding.cause, Trait::symptom));
}

// The verdict if no finding decides it.
Verdict verdict_of_nothing(const View& view) {
  if (view.arrival.is_settled())
    return enough_to_call_healthy(view) ? Verdict::healthy : Verdict::unknown;
  return goes_on(view) ? Verdict::running : Verdict::undecided;
}

// Puts each finding where it belongs, and returns those that ask for more evidence.
std::vector<Finding> place(const View& view, std::vector<Candidate>&& candidates,
                           Diagnosis& diagnosis) {
  for (const Detector& detector : all_detectors())
    diagnosis.explanation.detectors.emplace_back(detector.name);
  std::vector<Place> places;
  std::vector<std::string> reasons;
  for (const Candidate& candidate : candidates) {
    auto [where, why] = place_of(candidates, candidate);
    places.push_back(where);
    reasons.push_back(std::move(why));
  }
  diagnosis.verdict =
      verdict_of(candidates, places, ending_of(view, candidates), verdict_of_nothing(view));
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return places[a] != places[b] ? places[a] < places[b]
                                  : comes_first(candidates[a], candidates[b]);
  });
  std::vector<Finding> unexplained;
  for (const std::size_t i : order) {
    Candidate& candidate = candidates[i];
    Finding& finding = candidate.finding();
    diagnosis.explanation.findings.push_back(
        {.finding = finding.id,
         .title = finding.title,
         .detector = std::string(candidate.detector),
         .place = places[i],
         .why = std::move(reasons[i]),
         .confidence = std::move(candidate.steps),
         .possible_causes = std::move(candidate.possible_causes)});
    if (places[i] == Place::observation) {
      diagnosis.observations.push_back(std::move(finding));
      continue;
    }
    if (places[i] == Place::so_far) {
      if (is_worth_showing_so_far(view, finding)) diagnosis.so_far.push_back(std::move(finding));
      continue;
    }
    if (finding.cause == Cause::collective_rank_behind) add_ranks(finding, diagnosis.ranks.behind);
    if (finding.cause == Cause::process_silent) add_ranks(finding, diagnosis.ranks.silent);
    if (places[i] == Place::symptom) {
      diagnosis.symptoms.push_back(std::move(finding));
      continue;
    }
    if (candidate.symptom || candidate.suspicion.says_not_why ||
        is(finding.cause, Trait::leaves_open_why))
      unexplained.push_back(finding);
    diagnosis.root_causes.push_back(std::move(finding));
  }
  sort_once(diagnosis.ranks.behind);
  sort_once(diagnosis.ranks.silent);
  return unexplained;
}

// Nothing is suspected, and nothing says that all is well.
bool is_left_open(const Diagnosis& diagnosis) {
  return diagnosis.verdict == Verdict::unknown && diagnosis.so_far.empty() &&
         std::ranges::none_of(diagnosis.root_causes, [](const Finding& finding) {
           return finding.confidence >= limits::least_shown;
         });
}

// If nothing else was found, adds causes by the words of lines alone. They change no verdict.
void add_what_words_tell(const View& view, Diagnosis& diagnosis) {
  if (!is_left_open(diagnosis)) return;
  std::vector<Candidate> hints;
  for (Suspicion& suspicion : find_by_words(view, diagnosis.observations)) {
    if (!is_taken(view, suspicion)) continue;
    work_out_confidence(view.catalog.grounds, suspicion);
    hints.push_back({.suspicion = std::move(suspicion), .detector = kByWords});
  }
  state_confidence(view.catalog.grounds, hints, 0);
  auto& causes = diagnosis.root_causes;
  auto next = causes.begin();
  for (Candidate& hint : hints) {
    diagnosis.explanation.findings.push_back({.finding = hint.finding().id,
                                              .title = hint.finding().title,
                                              .detector = std::string(kByWords),
                                              .place = Place::root_cause,
                                              .why = "nothing else was found",
                                              .confidence = std::move(hint.steps),
                                              .possible_causes = {}});
    next = std::next(causes.insert(next, std::move(hint.finding())));
  }
}

}  // namespace

Diagnosis diagnose(const JobState& job, const Catalog& catalog, const Moment& moment, int attempt) {
  View view(job, catalog, moment, attempt);
  Diagnosis diagnosis;
  diagnosis.job = job.name();
  diagnosis.attempt = view.attempt;
  diagnosis.attempts = view.attempts.count;
  diagnosis.as_of = job.last_told();
  diagnosis.clock_offsets = clock_offsets(view);

  std::vector<Candidate> candidates = candidates_of(view);
  correct_clocks(diagnosis.clock_offsets, candidates);
  find_held_up(view, candidates);
  find_untied(view, candidates);
  link(catalog, candidates);
  call_witnesses(candidates);
  weigh(catalog.grounds, candidates);
  state_confidence(
      catalog.grounds, candidates,
      view.workers.all.empty() ? view.roll.unheard().size() : unseen_ranks(view).size());
  hold_back(view, candidates);
  if (!view.arrival.is_settled()) diagnosis.judged_in = view.arrival.settles_in();
  const std::set<std::string> borne_out = borne_out_in(candidates);
  const std::vector<Finding> unexplained = place(view, std::move(candidates), diagnosis);
  add_what_words_tell(view, diagnosis);
  if (!diagnosis.root_causes.empty())
    diagnosis.chain = chain_of(diagnosis.root_causes.front(), diagnosis.symptoms);
  add_counter_evidence(view, diagnosis.root_causes);
  reopen_what_only_waits(diagnosis);

  diagnosis.ranks.expected = view.roll.expected;
  diagnosis.ranks.seen = view.roll.seen;
  if (const JobReport* report = job.reports().latest();
      report && view.workers.all.empty() && report->largest >= view.roll.expected) {
    diagnosis.ranks.expected = report->largest;
    diagnosis.ranks.seen = report->seen;
  }
  diagnosis.coverage = coverage_of(view);
  diagnosis.checklist = checklist_of(view, diagnosis);
  // A job with a failed check is not called healthy.
  if (diagnosis.verdict == Verdict::healthy &&
      std::ranges::any_of(diagnosis.checklist,
                          [](const Check& check) { return check.status == CheckStatus::fail; }))
    diagnosis.verdict = Verdict::unknown;
  diagnosis.missing_evidence = missing_evidence_of(view, diagnosis, unexplained, borne_out);
  diagnosis.unread = unread_of(view, diagnosis);
  diagnosis.next_time = next_time_of(view, diagnosis);
  diagnosis.timeline = timeline_of(diagnosis);
  diagnosis.exclude = exclusion_of(catalog, diagnosis.root_causes);
  diagnosis.summary = summary_of(view, diagnosis);
  return diagnosis;
}

std::set<std::string, std::less<>> blamed_in(const Diagnosis& diagnosis) {
  std::set<std::string, std::less<>> blamed;
  for (const Finding& finding : diagnosis.root_causes)
    if (finding.part_of_job && finding.confidence >= limits::least_to_blame)
      blamed.insert(finding.id);
  return blamed;
}

std::vector<Finding> findings_of(const Diagnosis& diagnosis) {
  std::vector<Finding> all = diagnosis.root_causes;
  all.insert(all.end(), diagnosis.symptoms.begin(), diagnosis.symptoms.end());
  all.insert(all.end(), diagnosis.observations.begin(), diagnosis.observations.end());
  return all;
}

}  // namespace faultline
