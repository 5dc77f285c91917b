#include "accuracy/judgement.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/cause.h"
#include "simulate/scenario.h"
#include "simulate/version.h"

namespace faultline::accuracy {
namespace {

constexpr double kAccused = 0.9;
// Below this a diagnosis suspects but does not blame, and no alert goes out.
constexpr double kBlamed = 0.8;

template <class Value>
bool holds(const std::vector<Value>& all, const std::vector<Value>& wanted) {
  return std::ranges::all_of(
      wanted, [&](const Value& value) { return std::ranges::find(all, value) != all.end(); });
}

template <class Value>
std::vector<Value> both(std::vector<Value> a, const std::vector<Value>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Subject both(const Subject& a, const Subject& b) {
  return {.hosts = both(a.hosts, b.hosts),
          .ranks = both(a.ranks, b.ranks),
          .gpus = both(a.gpus, b.gpus),
          .nics = both(a.nics, b.nics)};
}

// Ignores communicators: a finding that names one does not accuse its ranks.
bool names_only(const Subject& named, const Subject& may) {
  return holds(may.hosts, named.hosts) && holds(may.ranks, named.ranks) &&
         holds(may.gpus, named.gpus) && holds(may.nics, named.nics);
}

std::string parts_of(const Subject& subject) {
  std::string text;
  for (const auto& host : subject.hosts) text += " " + host;
  for (const int rank : subject.ranks) text += fmt::format(" rank {}", rank);
  for (const auto& gpu : subject.gpus) text += " " + gpu;
  for (const auto& nic : subject.nics) text += " " + nic;
  return text;
}

// The right verdicts for such a fault. If one process dies and the others wait for it, `hang` and
// `failed` are both right.
std::vector<Verdict> verdicts_of(std::string_view scenario, std::string_view cause) {
  if (cause.empty()) return {Verdict::healthy};
  if (scenario == "collective_mismatch_op" || cause.starts_with("corruption."))
    return {Verdict::corrupt};
  if (cause.starts_with("config.") || cause.starts_with("performance.") ||
      cause == "software.straggler" || cause == "gpu.thermal" || cause == "pcie.degraded" ||
      cause == "network.congestion" || cause == "network.link_errors")
    return {Verdict::slow};
  if (cause.starts_with("collective.") || cause == "software.collective_skipped" ||
      cause == "software.collective_mismatch" || cause == "software.p2p_mismatch")
    return {Verdict::hang};
  return {Verdict::hang, Verdict::failed};
}

bool told_by_launcher(const Family& family) {
  return family.options.evidence.find("launcher") != std::string::npos;
}

WantedCause wanted_cause(const simulation::Truth& truth) {
  return {.name = truth.cause, .subject = truth.subject, .may_name = truth.may_name};
}

}  // namespace

bool names_the_right(const Subject& named, const Subject& must, const Subject& may) {
  return holds(named.hosts, must.hosts) && holds(named.ranks, must.ranks) &&
         holds(named.gpus, must.gpus) && holds(named.nics, must.nics) &&
         names_only(named, both(must, may));
}

Wanted wanted_of(const Family& family, std::string_view nccl, const simulation::Truth& truth) {
  Wanted wanted;
  wanted.verdicts = verdicts_of(family.options.scenario, truth.cause);
  if (truth.cause.empty()) {
    // If logs are incomplete, `unknown` is right as well.
    if (family.options.lose_percent > 0 || family.loss == Loss::but_the_middle ||
        family.options.scenario == "healthy_late_start" ||
        family.options.scenario == "healthy_torn_down")
      wanted.verdicts.push_back(Verdict::unknown);
    return wanted;
  }
  // Scenarios that show in more than NCCL's lines have twins.
  const bool hosts_tell = !simulation::scenario_named(family.options.scenario)->twins.empty();
  // Without lines of calls nothing shows that a job stands still; without logs of hosts nothing
  // shows why.
  if (family.loss == Loss::told_by_hosts || (family.loss == Loss::calls && !hosts_tell)) {
    wanted.open = true;
    wanted.not_wrong = both(truth.subject, truth.may_name);
    wanted.verdicts = {Verdict::hang, Verdict::unknown};
    if (family.loss == Loss::calls) wanted.not_wrong = {};
    return wanted;
  }
  wanted.causes.push_back(wanted_cause(truth));
  // A process that died ended the job; its peers had no time to hang.
  if (family.group == Group::ending && wanted.verdicts.size() > 1)
    wanted.verdicts = {told_by_launcher(family) ? Verdict::failed : Verdict::hang};
  if (family.loss != Loss::nothing) {
    // Only the rank's own log shows which rank used the part.
    WantedCause& cause = wanted.causes.front();
    cause.may_name.ranks = both(cause.may_name.ranks, cause.subject.ranks);
    cause.subject.ranks.clear();
  }
  for (const simulation::Truth& other : truth.also) {
    wanted.causes.push_back(wanted_cause(other));
    for (const Verdict verdict : verdicts_of({}, other.cause))
      if (std::ranges::find(wanted.verdicts, verdict) == wanted.verdicts.end())
        wanted.verdicts.push_back(verdict);
  }
  const bool half_of_lines = family.options.lose_percent > 0;
  // Before 2.22 only rank 0 prints its version.
  const bool version_untold = truth.cause == "software.version_mismatch" &&
                              !simulation::closest_version(nccl)->since(22, 3);
  if (half_of_lines || version_untold) {
    WantedCause& cause = wanted.causes.front();
    cause.may_name = both(cause.may_name, cause.subject);
    cause.subject = {};
  }
  // The seed decides whether the deciding line is left. If NCCL's logs of a host are missing,
  // nothing shows that the host belongs to the job. So a symptom is right as well.
  if (family.loss == Loss::half_of_hosts || family.loss == Loss::but_the_middle ||
      ((half_of_lines || version_untold) && !hosts_tell)) {
    wanted.open = true;
    wanted.not_wrong = both(truth.subject, truth.may_name);
    wanted.verdicts.push_back(Verdict::unknown);
  }
  return wanted;
}

namespace {

const WantedCause* match(const Finding& finding, const Wanted& wanted) {
  for (const WantedCause& cause : wanted.causes)
    if (cause.name == finding.cause) return &cause;
  return nullptr;
}

bool is_right(const Finding& finding, const Wanted& wanted) {
  const WantedCause* cause = match(finding, wanted);
  if (cause != nullptr && names_the_right(finding.subject, cause->subject, cause->may_name))
    return true;
  return wanted.open && is(finding.cause, Trait::symptom) &&
         names_only(finding.subject, wanted.not_wrong);
}

// Whether the job has this cause and the finding names no uninvolved part. It may name fewer parts
// than it must: another finding may name them.
bool is_so(const Finding& finding, const Wanted& wanted) {
  const WantedCause* cause = match(finding, wanted);
  return is_right(finding, wanted) ||
         (cause != nullptr && names_only(finding.subject, both(cause->subject, cause->may_name)));
}

Subject all_that_may_be_named(const Wanted& wanted) {
  Subject may = wanted.not_wrong;
  for (const WantedCause& cause : wanted.causes)
    may = both(may, both(cause.subject, cause.may_name));
  return may;
}

void judge_cause(const Diagnosis& diagnosis, const Wanted& wanted, Score& score) {
  const std::vector<Finding>& named = diagnosis.root_causes;
  if (named.empty()) {
    score.first = score.third = score.culprit = wanted.open;
    if (!wanted.open) score.trouble += "names no cause; ";
    return;
  }
  const Finding& first = named.front();
  score.first = match(first, wanted) != nullptr || (wanted.open && is(first.cause, Trait::symptom));
  score.culprit =
      is_right(first, wanted) ||
      (wanted.open && (names_only(first.subject, wanted.not_wrong) || first.confidence < kBlamed));
  if (!score.first)
    score.trouble += fmt::format("taken for {} ({:.2f}); ", first.cause, first.confidence);
  else if (!score.culprit)
    score.trouble += fmt::format("{} names{} ({:.2f}); ", first.cause, parts_of(first.subject),
                                 first.confidence);
  constexpr std::size_t kThree = 3;
  const auto end = named.begin() + static_cast<std::ptrdiff_t>(std::min(kThree, named.size()));
  score.third =
      wanted.open ? score.first : std::ranges::all_of(wanted.causes, [&](const WantedCause& cause) {
        return std::any_of(named.begin(), end,
                           [&](const Finding& it) { return it.cause == cause.name; });
      });
  if (!score.third) {
    score.trouble += "not among the first three:";
    for (const Finding& finding : named)
      score.trouble += fmt::format(" {} ({:.2f}){}", finding.cause, finding.confidence,
                                   parts_of(finding.subject));
    score.trouble += "; ";
  }
}

}  // namespace

std::vector<ConfidenceStep> sum_of(const Diagnosis& diagnosis, const Finding& finding) {
  const std::vector<FindingStory>& stories = diagnosis.explanation.findings;
  const auto story = std::ranges::find(stories, finding.id, &FindingStory::finding);
  return story == stories.end() ? std::vector<ConfidenceStep>{} : story->confidence;
}

Score judge(const Diagnosis& diagnosis, const Wanted& wanted) {
  Score score;
  score.verdict = std::ranges::find(wanted.verdicts, diagnosis.verdict) != wanted.verdicts.end();
  if (!score.verdict)
    score.trouble +=
        fmt::format("verdict {}; ", boost::describe::enum_to_string(diagnosis.verdict, "?"));
  const Subject may = all_that_may_be_named(wanted);
  for (const Finding& finding : diagnosis.root_causes) {
    score.stated.push_back({std::string(name_of(finding.cause)), finding.confidence,
                            is_so(finding, wanted), sum_of(diagnosis, finding)});
    if (finding.confidence >= kAccused && !names_only(finding.subject, may)) {
      score.forbidden = true;
      score.trouble += fmt::format("accuses{} of {} ({:.2f}); ", parts_of(finding.subject),
                                   finding.cause, finding.confidence);
    }
  }
  if (!wanted.healthy()) {
    judge_cause(diagnosis, wanted, score);
    return score;
  }
  score.false_alarm = !diagnosis.root_causes.empty() || (diagnosis.verdict != Verdict::healthy &&
                                                         diagnosis.verdict != Verdict::unknown);
  score.first = score.third = score.culprit = !score.false_alarm;
  for (const Finding& finding : diagnosis.root_causes)
    score.trouble += fmt::format("finds {} ({:.2f}){}; ", finding.cause, finding.confidence,
                                 parts_of(finding.subject));
  return score;
}

}  // namespace faultline::accuracy
