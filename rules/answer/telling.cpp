#include "rules/answer/telling.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/handover.h"
#include "rules/knowledge/limits.h"

namespace faultline {
namespace {

// The time in the timeline, which corrects clocks.
std::optional<Timestamp> time_of(const Diagnosis& diagnosis, const Finding& finding) {
  const auto entry = std::ranges::find(diagnosis.timeline, finding.id, &TimelineEntry::finding);
  return entry == diagnosis.timeline.end() ? finding.first_seen : entry->time;
}

Action step_of(const MissingEvidence& missing) {
  const bool has_article = missing.what.starts_with("the ") || missing.what.starts_with("a ");
  return {
      .what = fmt::format("Get {}{}: {}.", has_article ? "" : "the ", missing.what, missing.why),
      .where = "",
      .command = missing.command};
}

// Get the evidence that decides between possible causes. Before a job is judged: wait.
Action step_of_undecided(const Diagnosis& diagnosis) {
  const ServerAddress& server = diagnosis.server;
  const std::string ask =
      server.url.empty()
          ? std::string()
          : fmt::format("{} -s '{}/api/v1/jobs/{}/diagnosis?format=text'", curl_command(server),
                        server.url, percent_encoded(diagnosis.job));
  if (diagnosis.judged_in && diagnosis.verdict == Verdict::undecided)
    return {.what = fmt::format("Ask again in {} s: the job is judged then, unless more logs come.",
                                diagnosis.judged_in->count()),
            .where = "",
            .command = ask};
  const auto helps = std::ranges::find_if(
      diagnosis.missing_evidence, [](const MissingEvidence& it) { return !it.command.empty(); });
  return helps == diagnosis.missing_evidence.end() ? Action{} : step_of(*helps);
}

}  // namespace

const Finding* Causes::first() const {
  if (!sure.empty()) return sure.front();
  return possible.empty() ? nullptr : possible.front();
}

Causes causes_of(const Diagnosis& diagnosis) {
  Causes causes;
  for (const Finding& finding : diagnosis.root_causes) {
    if (finding.confidence >= limits::least_to_blame)
      causes.sure.push_back(&finding);
    else if (finding.confidence >= limits::least_shown)
      causes.possible.push_back(&finding);
    else
      ++causes.less_likely;
  }
  return causes;
}

std::optional<Timestamp> trouble_since(const Diagnosis& diagnosis) {
  const Causes causes = causes_of(diagnosis);
  const Finding* first = causes.first();
  if (first == nullptr && !diagnosis.so_far.empty()) return diagnosis.so_far.front().first_seen;
  if (first == nullptr) return std::nullopt;
  if (const auto time = time_of(diagnosis, *first)) return time;
  for (const Finding* symptom : chain_of(diagnosis))
    if (const auto time = time_of(diagnosis, *symptom)) return time;
  return std::nullopt;
}

std::string verdict_of(const Diagnosis& diagnosis) {
  const auto time = trouble_since(diagnosis);
  return fmt::format(
      "{}{}", name_of(diagnosis.verdict),
      time ? fmt::format(" since {}", to_rfc3339(std::chrono::floor<std::chrono::seconds>(*time)))
           : std::string());
}

std::string culprit_of(const Diagnosis& diagnosis) {
  const Causes causes = causes_of(diagnosis);
  if (!causes.sure.empty()) return causes.sure.front()->title;
  if (!causes.possible.empty())
    return "No cause is certain; possible: " + causes.possible.front()->title;
  if (diagnosis.root_causes.empty()) return diagnosis.summary;
  return "The logs do not show the cause; what was found is unlikely to be it.";
}

Action next_step(const Diagnosis& diagnosis) {
  if (diagnosis.verdict == Verdict::healthy || diagnosis.verdict == Verdict::running) return {};
  const Causes causes = causes_of(diagnosis);
  if (causes.sure.empty())
    if (Action step = step_of_undecided(diagnosis); !step.command.empty()) return step;
  const Finding* first = causes.first();
  return first != nullptr ? next_step_of(*first) : step_of_undecided(diagnosis);
}

std::string acknowledge_command(const Diagnosis& diagnosis) {
  const Finding* finding = causes_of(diagnosis).first();
  if (finding == nullptr || diagnosis.server.url.empty()) return {};
  return acknowledge_command(diagnosis.server, finding->id);
}

std::vector<const Finding*> chain_of(const Diagnosis& diagnosis) {
  std::vector<const Finding*> chain;
  for (const std::string& id : diagnosis.chain) {
    const auto symptom = std::ranges::find(diagnosis.symptoms, id, &Finding::id);
    if (symptom != diagnosis.symptoms.end()) chain.push_back(&*symptom);
  }
  return chain;
}

std::string how_sure(const Finding& finding) {
  return fmt::format("{}, {:.0f} % sure", finding.cause, finding.confidence * 100);
}

}  // namespace faultline
