#include "rules/diagnosis.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "model/cause.h"
#include "rules/advice.h"
#include "rules/confidence.h"
#include "rules/coverage.h"
#include "rules/detectors/detector.h"

namespace faultline {
namespace {

struct Candidate {
  Suspicion suspicion;
  bool symptom = false;
  std::vector<std::size_t> effects;  // what it explains
  std::vector<std::size_t> explained_by;

  Finding& finding() { return suspicion.finding; }
  const Finding& finding() const { return suspicion.finding; }
  bool in_question() const {
    return finding().part_of_job && suspicion.verdict != Verdict::healthy;
  }
  // What only follows from something, and stops nothing, accuses nobody by itself.
  bool means_nothing_alone() const {
    if (suspicion.needs_effect && effects.empty() && explained_by.empty()) return true;
    return symptom && !suspicion.stops_job && explained_by.empty();
  }
};

std::string id_of(const View& view, const Finding& finding) {
  std::string text = fmt::format(
      "{}|{}|{}|{}|{}|{}|{}", view.job.name(), view.attempt, finding.cause,
      fmt::join(finding.subject.hosts, ","), fmt::join(finding.subject.ranks, ","),
      fmt::join(finding.subject.gpus, ","), fmt::join(finding.subject.communicators, ","));
  if (!finding.subject.nics.empty())
    text += fmt::format("|{}", fmt::join(finding.subject.nics, ","));
  return fmt::format("f{:012x}", XXH3_64bits(text.data(), text.size()) & 0xffffffffffffU);
}

// A signature's own advice takes the place of its class's; what a symptom says of itself comes
// first.
void add_advice(const Catalog& catalog, Finding& finding) {
  const Advice* advice = catalog.advice_for(finding.cause);
  if (advice == nullptr) return;
  if (!finding.actions.empty() && !finding.cause.starts_with("collective.")) return;
  const Subject& subject = finding.subject;
  AdviceSubject about;
  if (subject.hosts.size() == 1) about.host = subject.hosts.front();
  if (subject.gpus.size() == 1)
    about.gpu = subject.gpus.front().substr(subject.gpus.front().find('/') + 1);
  if (subject.ranks.size() == 1) about.rank = subject.ranks.front();
  for (const Action& action : advice->actions) finding.actions.push_back(fill_in(action, about));
}

template <class T>
bool share(const std::vector<T>& a, const std::vector<T>& b) {
  return std::ranges::any_of(a, [&](const T& x) { return std::ranges::find(b, x) != b.end(); });
}

bool related(const Subject& a, const Subject& b, Relation relation) {
  switch (relation) {
    case Relation::same_gpu:
      return share(a.gpus, b.gpus);
    case Relation::same_host:
      return share(a.hosts, b.hosts);
    case Relation::same_rank:
      return share(a.ranks, b.ranks);
    case Relation::same_communicator:
      return share(a.communicators, b.communicators);
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

bool explains(const Catalog& catalog, const Candidate& cause, const Candidate& effect) {
  if (cause.suspicion.job_ran_with_it && effect.symptom && effect.suspicion.stops_job) return false;
  bool same_host = share(cause.finding().subject.hosts, effect.finding().subject.hosts);
  if (!is_an_absence(effect.finding()) &&
      order_of(cause.suspicion.since, effect.suspicion.since, same_host) == Order::after &&
      !foretold(catalog, cause, effect, same_host))
    return false;
  return std::ranges::any_of(kRelations, [&](Relation relation) {
    return related(cause.finding().subject, effect.finding().subject, relation) &&
           catalog.explains(cause.finding().cause, effect.finding().cause, relation);
  });
}

Verdict worse(Verdict a, Verdict b) {
  constexpr Verdict kFromWorst[] = {Verdict::corrupt, Verdict::hang,    Verdict::failed,
                                    Verdict::slow,    Verdict::unknown, Verdict::healthy};
  for (Verdict verdict : kFromWorst)
    if (a == verdict || b == verdict) return verdict;
  return Verdict::unknown;
}

// The same class of the same subject is one finding, whoever found it.
void join(Candidate& known, Suspicion&& again) {
  constexpr std::size_t kMostLines = 8;
  Finding& finding = known.finding();
  for (Evidence& line : again.finding.evidence)
    if (finding.evidence.size() < kMostLines &&
        std::ranges::find(finding.evidence, line) == finding.evidence.end())
      finding.evidence.push_back(std::move(line));
  finding.count += again.finding.count;
  finding.confidence = std::max(finding.confidence, again.finding.confidence);
  finding.severity = std::max(finding.severity, again.finding.severity);
  known.suspicion.stops_job |= again.stops_job;
  known.suspicion.needs_effect &= again.needs_effect;
  known.suspicion.verdict = worse(known.suspicion.verdict, again.verdict);
}

std::vector<Candidate> candidates_of(const View& view) {
  std::vector<Candidate> candidates;
  for (const Detector& detector : all_detectors()) {
    for (Suspicion& suspicion : detector.look(view)) {
      Finding& finding = suspicion.finding;
      finding.id = id_of(view, finding);
      const auto same = std::ranges::find_if(
          candidates, [&](const Candidate& known) { return known.finding().id == finding.id; });
      if (same != candidates.end()) {
        join(*same, std::move(suspicion));
        continue;
      }
      if (!finding.first_seen) finding.first_seen = suspicion.since.wall();
      if (!finding.last_seen) finding.last_seen = finding.first_seen;
      add_advice(view.catalog, finding);
      const CauseClass* known = cause_class(finding.cause);
      candidates.push_back(
          {.suspicion = std::move(suspicion), .symptom = known != nullptr && known->is_symptom});
    }
  }
  return candidates;
}

bool surer(const Candidate& a, const Candidate& b) {
  auto key = [](const Candidate& c) {
    return std::make_tuple(c.finding().confidence, static_cast<int>(c.finding().severity),
                           std::string_view(c.finding().id));
  };
  return key(a) > key(b);
}

void link(const Catalog& catalog, std::vector<Candidate>& candidates) {
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    for (std::size_t e = 0; e < candidates.size(); ++e) {
      if (c == e || !candidates[c].in_question() || !candidates[e].in_question()) continue;
      if (!explains(catalog, candidates[c], candidates[e])) continue;
      // Where each could explain the other, the surer one does.
      if (explains(catalog, candidates[e], candidates[c]) && !surer(candidates[c], candidates[e]))
        continue;
      candidates[c].effects.push_back(e);
      candidates[e].explained_by.push_back(c);
      candidates[c].finding().explains.push_back(candidates[e].finding().id);
      if (catalog.told_before(candidates[c].finding().cause, candidates[e].finding().cause) > 0)
        take_as_evidence(candidates[e].finding(), candidates[c].finding());
    }
  }
}

bool stops_job(const Candidate& candidate) {
  return candidate.symptom && candidate.suspicion.stops_job;
}

// Where a cause's lines tell how the job ended, what follows from it does not tell it otherwise.
bool verdict_is_told(const std::vector<Candidate>& candidates, const Candidate& effect) {
  return std::ranges::any_of(effect.explained_by, [&](std::size_t cause) {
    const Candidate& by = candidates[cause];
    return !by.symptom && by.suspicion.tells_verdict && by.finding().severity >= Severity::error;
  });
}

// What other logs would tell more of: those of the other end, or of the host.
bool leaves_open_why(const Finding& finding) {
  return finding.cause == "network.transport_error" || finding.cause == "network.peer_lost" ||
         finding.cause == "launch.connect_failed" || finding.cause == "launch.rank_missing";
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

// Ranks go on queueing calls for a while after one of them cannot end, some more and some less.
// Where ranks were shown to have called what does not fit together, others that are a few calls
// short need not have stopped.
void doubt_who_queued_less(std::vector<Candidate>& candidates) {
  auto differs = [](const Candidate& candidate) {
    const std::string& cause = candidate.finding().cause;
    return candidate.in_question() &&
           (cause == "software.p2p_mismatch" || cause == "software.collective_mismatch" ||
            cause == "software.collective_skipped");
  };
  if (std::ranges::none_of(candidates, differs)) return;
  for (Candidate& candidate : candidates)
    if (candidate.finding().cause == "collective.rank_behind" && candidate.explained_by.empty())
      candidate.finding().confidence = std::min(candidate.finding().confidence, kQueuedLess);
}

// What is said of a cause changes with what it accounts for.
void weigh(std::vector<Candidate>& candidates) {
  bool stopped = std::ranges::any_of(candidates, stops_job);
  for (Candidate& candidate : candidates) {
    if (candidate.symptom || !stopped || is_a_disagreement(candidate)) continue;
    bool explains_stop = std::ranges::any_of(
        candidate.effects, [&](std::size_t e) { return stops_job(candidates[e]); });
    double& confidence = candidate.finding().confidence;
    confidence = explains_stop ? std::min(confidence + kExplainsTheStop, kMostConfidence)
                               : confidence * kExplainsNothing;
    confidence = std::round(confidence * 100) / 100;
  }
  doubt_who_queued_less(candidates);
  if (std::ranges::none_of(candidates, is_worse_than_slow)) return;
  for (Candidate& candidate : candidates) {
    const bool explains_worse = std::ranges::any_of(
        candidate.effects, [&](std::size_t e) { return is_worse_than_slow(candidates[e]); });
    if (candidate.suspicion.verdict == Verdict::slow && !explains_worse)
      candidate.finding().confidence = std::min(candidate.finding().confidence, kSlowBesideAStop);
  }
}

void state_confidence(std::vector<Candidate>& candidates) {
  for (Candidate& candidate : candidates)
    candidate.finding().confidence = stated_confidence(candidate.finding().confidence);
}

auto rank_of(const Finding& finding) {
  return std::make_tuple(-finding.confidence, -static_cast<int>(finding.severity),
                         std::string_view(finding.cause), std::string_view(finding.id));
}

void sort(std::vector<Finding>& findings) {
  std::ranges::sort(findings, {}, [](const Finding& f) { return rank_of(f); });
}

// Setting up a communicator has a line for its beginning and one for its end.
bool began_and_never_finished(const Member& member) {
  return member.init && !member.complete && !member.first_op_count;
}

std::string summary_of(const View& view, const Diagnosis& diagnosis) {
  const RankTally& ranks = diagnosis.ranks;
  if (diagnosis.verdict == Verdict::healthy)
    return ranks.seen >= ranks.expected
               ? std::string("Nothing wrong was found.")
               : fmt::format("Nothing wrong was found in the logs of {} of {} ranks.", ranks.seen,
                             ranks.expected);
  if (diagnosis.root_causes.empty()) {
    auto stuck = std::ranges::count_if(view.members, [&](std::size_t index) {
      return began_and_never_finished(view.member(index));
    });
    if (stuck == 0 && !diagnosis.missing_evidence.empty())
      return fmt::format("What is known does not tell how the job fares; missing: {}.",
                         diagnosis.missing_evidence.front().what);
    return stuck == 0 ? "No line tells how the job fares."
                      : fmt::format(
                            "{} ranks began to set up a communicator, and no line says that "
                            "they finished.",
                            stuck);
  }
  const Finding& cause = diagnosis.root_causes.front();
  std::string summary = cause.title + ".";
  for (const Finding& symptom : diagnosis.symptoms)
    if (std::ranges::find(cause.explains, symptom.id) != cause.explains.end() &&
        symptom.cause.starts_with("collective."))
      summary += " " + symptom.title + ".";
  return summary;
}

// Health is said only where something was there to be looked at: ranks that got to work, or the
// kernel's own log, or a tool's report.
bool enough_to_call_healthy(const View& view) {
  const JobState& job = view.job;
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

}  // namespace

Diagnosis diagnose(const JobState& job, const Catalog& catalog, const Moment& moment, int attempt) {
  View view(job, catalog, moment, attempt);
  std::vector<Candidate> candidates = candidates_of(view);
  link(catalog, candidates);
  weigh(candidates);
  state_confidence(candidates);

  Diagnosis diagnosis;
  diagnosis.job = job.name();
  diagnosis.attempt = view.attempt;
  diagnosis.attempts = view.attempts.count;
  diagnosis.as_of = job.last_activity();
  diagnosis.verdict = enough_to_call_healthy(view) ? Verdict::healthy : Verdict::unknown;
  std::vector<bool> told;
  for (const Candidate& candidate : candidates)
    told.push_back(verdict_is_told(candidates, candidate));
  std::vector<Finding> unexplained;
  for (std::size_t which = 0; which < candidates.size(); ++which) {
    Candidate& candidate = candidates[which];
    if (!candidate.in_question() || candidate.means_nothing_alone()) {
      diagnosis.observations.push_back(std::move(candidate.finding()));
      continue;
    }
    if (!told[which] || candidate.suspicion.tells_verdict)
      diagnosis.verdict = worse(diagnosis.verdict, candidate.suspicion.verdict);
    if (candidate.finding().cause == "collective.rank_behind")
      for (int rank : candidate.finding().subject.ranks) diagnosis.ranks.behind.push_back(rank);
    if (!candidate.explained_by.empty()) {
      diagnosis.symptoms.push_back(std::move(candidate.finding()));
      continue;
    }
    if (candidate.symptom || leaves_open_why(candidate.finding()))
      unexplained.push_back(candidate.finding());
    diagnosis.root_causes.push_back(std::move(candidate.finding()));
  }
  sort(diagnosis.root_causes);
  sort(diagnosis.symptoms);
  sort(diagnosis.observations);
  std::ranges::sort(diagnosis.ranks.behind);
  const auto repeated = std::ranges::unique(diagnosis.ranks.behind);
  diagnosis.ranks.behind.erase(repeated.begin(), repeated.end());

  if (!diagnosis.root_causes.empty()) {
    diagnosis.chain.push_back(diagnosis.root_causes.front().id);
    for (const std::string& id : diagnosis.root_causes.front().explains)
      diagnosis.chain.push_back(id);
  }
  diagnosis.checklist = checklist_of(view);
  diagnosis.missing_evidence = missing_evidence_of(view, unexplained);
  diagnosis.ranks.expected = view.workers.expected;
  diagnosis.ranks.seen = static_cast<int>(view.workers.all.size());
  if (const JobReport* report = job.reports().latest(); report && view.workers.all.empty()) {
    diagnosis.ranks.expected = report->largest;
    diagnosis.ranks.seen = report->seen;
  } else if (view.workers.all.empty()) {
    for (const FlightGroup& group : job.flight().groups())
      if (!group.members.empty())
        diagnosis.ranks.expected = std::max(diagnosis.ranks.expected, group.members.back() + 1);
    diagnosis.ranks.seen = static_cast<int>(job.flight().latest().size());
  }
  diagnosis.summary = summary_of(view, diagnosis);
  return diagnosis;
}

std::set<std::string, std::less<>> blamed_in(const Diagnosis& diagnosis) {
  std::set<std::string, std::less<>> blamed;
  for (const Finding& finding : diagnosis.root_causes)
    if (finding.part_of_job && finding.confidence >= kLeastToBlame) blamed.insert(finding.id);
  return blamed;
}

std::vector<Finding> findings_of(const Diagnosis& diagnosis) {
  std::vector<Finding> all = diagnosis.root_causes;
  all.insert(all.end(), diagnosis.symptoms.begin(), diagnosis.symptoms.end());
  all.insert(all.end(), diagnosis.observations.begin(), diagnosis.observations.end());
  return all;
}

}  // namespace faultline
