#include "rules/answer/telling.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/handover.h"
#include "rules/knowledge/limits.h"

namespace faultline {
namespace {

struct Since {
  Timestamp time;
  bool zone_assumed = false;
};

// The time in the timeline, which corrects clocks. A corrected time is one of a known zone.
std::optional<Since> since_of(const Diagnosis& diagnosis, const Finding& finding) {
  const auto entry = std::ranges::find(diagnosis.timeline, finding.id, &TimelineEntry::finding);
  const auto time = entry == diagnosis.timeline.end() ? finding.first_seen : entry->time;
  if (!time) return std::nullopt;
  return Since{.time = *time, .zone_assumed = finding.zone_assumed && time == finding.first_seen};
}

std::optional<Since> since_of_trouble(const Diagnosis& diagnosis) {
  const Causes causes = causes_of(diagnosis);
  const Finding* first = causes.first();
  if (first == nullptr && !diagnosis.so_far.empty()) first = &diagnosis.so_far.front();
  if (first == nullptr) return std::nullopt;
  if (const auto since = since_of(diagnosis, *first)) return since;
  for (const Finding* symptom : chain_of(diagnosis))
    if (const auto since = since_of(diagnosis, *symptom)) return since;
  return std::nullopt;
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
  const auto since = since_of_trouble(diagnosis);
  return since ? std::optional(since->time) : std::nullopt;
}

std::string verdict_of(const Diagnosis& diagnosis) {
  const auto since = since_of_trouble(diagnosis);
  if (!since) return std::string(name_of(diagnosis.verdict));
  std::string time = to_rfc3339(std::chrono::floor<std::chrono::seconds>(since->time));
  if (since->zone_assumed) {
    time.pop_back();  // the Z
    time += " (no time zone in the log)";
  }
  return fmt::format("{} since {}", name_of(diagnosis.verdict), time);
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
