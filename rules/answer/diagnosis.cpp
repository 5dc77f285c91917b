#include "rules/answer/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_set>

#include "rules/answer/checklist.h"
#include "rules/answer/clock_offsets.h"
#include "rules/answer/counter_evidence.h"
#include "rules/answer/coverage.h"
#include "rules/answer/coverage_hosts.h"
#include "rules/answer/coverage_performance.h"
#include "rules/answer/coverage_ranks.h"
#include "rules/answer/incident.h"
#include "rules/detect/detector.h"
#include "rules/knowledge/advice.h"
#include "rules/knowledge/limits.h"
#include "rules/story/fold.h"
#include "rules/story/inference.h"
#include "rules/story/link.h"
#include "rules/story/merge.h"
#include "rules/story/precedence.h"
#include "rules/story/ties.h"
#include "rules/story/verdict.h"
#include "rules/story/witnesses.h"

namespace faultline {
namespace {

// What was seen at another time is not what is seen now.
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

// A signature's own advice takes the place of its class's; what a symptom says of itself comes
// first.
void add_advice(const Catalog& catalog, Finding& finding) {
  const Advice* advice = catalog.advice_for(finding.cause);
  if (advice == nullptr) return;
  finding.remedy = advice->remedy;
  if (!finding.actions.empty() && !is_of(finding.cause, Family::collective)) return;
  const AdviceSubject about = advice_subject(finding.subject);
  for (const Action& action : advice->actions) finding.actions.push_back(fill_in(action, about));
}

std::vector<Candidate> candidates_of(const View& view) {
  std::vector<Candidate> candidates;
  std::unordered_set<std::string> advised;
  for (const Detector& detector : all_detectors()) {
    std::vector<Suspicion> found = detector.look(view);
    for (Suspicion& suspicion : found) work_out_confidence(view.catalog.grounds, suspicion);
    fold_what_is_over_budget(found);
    for (Suspicion& suspicion : found) {
      Finding& finding = suspicion.finding;
      finding.id = id_of(view, suspicion);
      if (!finding.first_seen) finding.first_seen = suspicion.since.wall();
      if (!finding.last_seen) finding.last_seen = finding.first_seen;
      if (advised.insert(finding.id).second || !finding.part_of_job)
        add_advice(view.catalog, finding);
      const bool symptom = is(finding.cause, Trait::symptom);
      candidates.push_back(
          {.suspicion = std::move(suspicion), .detector = detector.name, .symptom = symptom});
    }
  }
  merge(view, candidates);
  return candidates;
}

// What is stated equally surely may differ where it was rounded; then what is worse,
// named more closely, and earlier comes first. Ids decide nothing: they are hashes.
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

// What was read, and not understood, and keeps all else from being called healthy.
const Finding* doubt_in(const Diagnosis& diagnosis) {
  const auto doubt = std::ranges::find_if(diagnosis.observations, [](const Finding& finding) {
    return is(finding.cause, Trait::not_understood) && finding.part_of_job &&
           finding.severity >= Severity::error;
  });
  return doubt == diagnosis.observations.end() ? nullptr : &*doubt;
}

std::string summary_of(const View& view, const Diagnosis& diagnosis) {
  const RankTally& ranks = diagnosis.ranks;
  if (diagnosis.verdict == Verdict::healthy) {
    const std::string seen =
        ranks.seen >= ranks.expected
            ? std::string()
            : fmt::format(" in the logs of {} of {} ranks", ranks.seen, ranks.expected);
    return fmt::format("Nothing wrong was found{}.", seen);
  }
  if (diagnosis.root_causes.empty()) {
    if (const Finding* doubt = doubt_in(diagnosis)) return doubt->title + ".";
    auto stuck = std::ranges::count_if(view.members, [&](std::size_t index) {
      return began_and_never_finished(view.member(index));
    });
    if (stuck == 0 && !diagnosis.missing_evidence.empty())
      return fmt::format("What is known does not tell how the job fares; missing: {}.",
                         diagnosis.missing_evidence.front().what);
    return stuck == 0 ? "No line tells how the job fares."
                      : fmt::format(
                            "{} began to set up a communicator, and no line says that {} finished.",
                            stuck == 1 ? "1 rank" : fmt::format("{} ranks", stuck),
                            stuck == 1 ? "it" : "they");
  }
  const Finding& cause = diagnosis.root_causes.front();
  std::string summary = cause.title + ".";
  for (const Finding& symptom : diagnosis.symptoms)
    if (std::ranges::find(cause.explains, symptom.id) != cause.explains.end() &&
        is_of(symptom.cause, Family::collective))
      summary += " " + symptom.title + ".";
  return summary;
}

// Health is said only where something was there to be looked at: ranks that got to work, or the
// kernel's own log, or a tool's report.
bool enough_to_call_healthy(const View& view) {
  const JobState& job = view.job;
  if (not_seen_at_work(view) || !tests_without_rows(view).empty()) return false;
  if (view.members.empty() && !hosts_heard(view).empty()) return false;  // they never got to work
  if (view.members.empty())
    return std::ranges::any_of(job.parts().records(),
                               [](const PartRecord& part) { return part.values.size() > 1; }) ||
           std::ranges::any_of(job.sources().all(),
                               [](const SourceState& s) { return s.dialects.contains("kernel"); });
  return std::ranges::none_of(
             view.members,
             [&](std::size_t index) { return began_and_never_finished(view.member(index)); }) &&
         !view.lines_are_missing() && uncompared_members(view) == 0 &&
         broken_off_sources(view).empty();
}

void add_ranks(const Finding& finding, std::vector<int>& ranks) {
  ranks.insert(ranks.end(), finding.subject.ranks.begin(), finding.subject.ranks.end());
}

// A host's own clock puts its lines elsewhere than they were.
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
    return {Place::observation, "it is of another part, or of another time, than the job"};
  if (candidate.suspicion.verdict == Verdict::healthy)
    return {Place::observation, "it is harmless"};
  if (candidate.means_nothing_alone())
    return {Place::observation, "it means nothing by itself, and accounts for nothing"};
  if (!candidate.explained_by.empty())
    return {Place::symptom,
            "it follows from " + candidates[candidate.explained_by.front()].finding().id};
  return {Place::root_cause, candidate.symptom ? "nothing that was found accounts for this symptom"
                                               : "nothing that was found accounts for it"};
}

// A job that stands sends nothing: what counts errors stands still, too, and has not healed.
void reopen_what_only_waits(Diagnosis& diagnosis) {
  if (diagnosis.verdict != Verdict::hang && diagnosis.verdict != Verdict::failed) return;
  for (auto* findings : {&diagnosis.root_causes, &diagnosis.symptoms, &diagnosis.observations})
    for (Finding& finding : *findings) finding.state = FindingState::open;
}

// Ids of findings that lines of several kinds tell.
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
      verdict_of(candidates, places, ending_of(view, candidates), diagnosis.verdict);
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
    if (finding.cause == Cause::collective_rank_behind) add_ranks(finding, diagnosis.ranks.behind);
    if (finding.cause == Cause::process_silent) add_ranks(finding, diagnosis.ranks.silent);
    if (places[i] == Place::symptom) {
      diagnosis.symptoms.push_back(std::move(finding));
      continue;
    }
    if (candidate.symptom || is(finding.cause, Trait::leaves_open_why))
      unexplained.push_back(finding);
    diagnosis.root_causes.push_back(std::move(finding));
  }
  sort_once(diagnosis.ranks.behind);
  sort_once(diagnosis.ranks.silent);
  return unexplained;
}

}  // namespace

Diagnosis diagnose(const JobState& job, const Catalog& catalog, const Moment& moment, int attempt) {
  View view(job, catalog, moment, attempt);
  Diagnosis diagnosis;
  diagnosis.job = job.name();
  diagnosis.attempt = view.attempt;
  diagnosis.attempts = view.attempts.count;
  diagnosis.as_of = job.last_activity();
  diagnosis.verdict = enough_to_call_healthy(view) ? Verdict::healthy : Verdict::unknown;
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
  const std::set<std::string> borne_out = borne_out_in(candidates);
  const std::vector<Finding> unexplained = place(view, std::move(candidates), diagnosis);
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
  diagnosis.missing_evidence = missing_evidence_of(view, diagnosis, unexplained, borne_out);
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
