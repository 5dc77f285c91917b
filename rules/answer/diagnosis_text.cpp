#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "model/ranks.h"
#include "rules/answer/diagnosis_forms.h"
#include "rules/answer/shown_text.h"

namespace faultline {
namespace {

constexpr std::size_t kMostBytes = 2048;
constexpr std::size_t kMostCauses = 3;
constexpr std::size_t kMostLines = 3;
constexpr std::size_t kMostActions = 5;
constexpr std::size_t kMostLinesOfOthers = 1;
constexpr std::size_t kMostActionsOfOthers = 1;
constexpr std::size_t kMostTitle = 260;
constexpr std::size_t kMostAsked = 4;
constexpr std::size_t kMostSummary = 600;

std::string upper(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

template <class Enum>
std::string_view name_of(Enum value) {
  return boost::describe::enum_to_string(value, "?");
}

std::string cause_text(std::size_t number, const Finding& finding, std::size_t most_lines) {
  std::string out =
      fmt::format("\n{}. {}  [{}, {}, {:.0f} % sure]\n", number, shown(finding.title, kMostTitle),
                  finding.cause, name_of(finding.severity), finding.confidence * 100);
  for (std::size_t i = 0; i < std::min(finding.evidence.size(), most_lines); ++i) {
    const Evidence& line = finding.evidence[i];
    out += fmt::format("   {}:{}\n     {}\n", shown(line.source), line.line, shown(line.text));
  }
  for (const std::string& objection : finding.against)
    out += fmt::format("   but: {}\n", shown(objection));
  return out;
}

std::string action_text(const Action& action) {
  std::string out = fmt::format("   do: {}{}\n", action.what,
                                action.where.empty() ? "" : fmt::format(" ({})", action.where));
  if (!action.command.empty()) out += fmt::format("       {}\n", action.command);
  return out;
}

std::string checks_text(const Diagnosis& diagnosis, CheckStatus status, std::string_view heading) {
  std::vector<std::string> told;
  for (const Check& check : diagnosis.checklist) {
    if (check.status != status) continue;
    told.push_back(status == CheckStatus::fail
                       ? fmt::format("{} ({})", check.check, shown(check.detail, 80))
                       : check.check);
  }
  return told.empty() ? std::string() : fmt::format("{}: {}\n", heading, fmt::join(told, "; "));
}

// What does not fit is left out whole, so that no line is torn.
bool add(std::string& out, const std::string& part) {
  if (out.size() + part.size() > kMostBytes) return false;
  out += part;
  return true;
}

// The first cause in full, the others in short. An action never stands under another's cause.
void add_causes(std::string& out, const std::vector<Finding>& causes) {
  for (std::size_t i = 0; i < causes.size(); ++i) {
    const bool first = i == 0;
    if (i >= kMostCauses ||
        !add(out, cause_text(i + 1, causes[i], first ? kMostLines : kMostLinesOfOthers))) {
      add(out, fmt::format("\n(and {} more)\n", causes.size() - i));
      return;
    }
    const std::vector<Action>& actions = causes[i].actions;
    const std::size_t most = first ? kMostActions : kMostActionsOfOthers;
    for (std::size_t a = 0; a < std::min(actions.size(), most); ++a)
      if (!add(out, action_text(actions[a]))) break;
  }
}

}  // namespace

std::string to_text(const Diagnosis& diagnosis) {
  std::string out =
      fmt::format("{}: {}\n{}\n", shown(diagnosis.job), upper(name_of(diagnosis.verdict)),
                  shown(diagnosis.summary, kMostSummary));
  add_causes(out, diagnosis.root_causes);
  if (!diagnosis.exclude.hosts.empty())
    add(out, fmt::format("\nrestart without: {}   {}\n", fmt::join(diagnosis.exclude.hosts, ", "),
                         diagnosis.exclude.slurm));
  for (std::size_t i = 0; i < std::min(diagnosis.missing_evidence.size(), kMostAsked); ++i) {
    const MissingEvidence& missing = diagnosis.missing_evidence[i];
    add(out, fmt::format("{}{}: {}: {}\n  {}\n", i == 0 ? "\n" : "",
                         diagnosis.verdict == Verdict::healthy ? "not looked at" : "missing",
                         shown(missing.what), missing.why, missing.command));
  }
  const RankTally& ranks = diagnosis.ranks;
  if (ranks.expected > 0)
    add(out, fmt::format("\nranks: {} of {} seen{}\n", ranks.seen, ranks.expected,
                         ranks.behind.empty() ? "" : ", waited for: " + to_text(ranks.behind)));
  add(out, checks_text(diagnosis, CheckStatus::fail, "failed"));
  add(out, checks_text(diagnosis, CheckStatus::pass, "passed"));
  add(out, checks_text(diagnosis, CheckStatus::unknown, "not known"));
  for (const Finding& observation : diagnosis.observations)
    add(out, fmt::format("also seen: {} [{}]\n", shown(observation.title, kMostSummary),
                         observation.cause));
  return out;
}

std::string to_text(const Explanation& explanation) {
  std::string out = "\nHow this answer came about\n";
  for (const FindingStory& story : explanation.findings) {
    out += fmt::format("\n{}  {}\n  found by {}; {}: {}\n", story.finding, shown(story.title),
                       story.detector, name_of(story.place), story.why);
    for (const ConfidenceStep& step : story.confidence)
      out += fmt::format("  {:.2f}  {}\n", step.confidence, step.why);
    for (const PossibleCause& cause : story.possible_causes)
      out +=
          fmt::format("  {} {}: {}; its lines come {}{}\n",
                      cause.rejected.empty() ? "follows from" : "not from", cause.finding,
                      cause.rule, cause.order == "cannot tell" ? "at no known time" : cause.order,
                      cause.rejected.empty() ? "" : "; " + cause.rejected);
  }
  out += fmt::format("\nLooked: {}\n", fmt::join(explanation.detectors, ", "));
  return out;
}

}  // namespace faultline
