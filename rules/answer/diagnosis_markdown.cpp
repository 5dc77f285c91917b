#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "model/ranks.h"
#include "rules/answer/diagnosis_forms.h"
#include "rules/answer/shown_text.h"
#include "rules/answer/telling.h"

namespace faultline {
namespace {

constexpr std::size_t kMostSymptoms = 10;
constexpr std::size_t kMostCodeBytes = 400;
constexpr std::size_t kMostCommandBytes = 1000;

std::string time_text(const std::optional<Timestamp>& time) {
  return time ? to_rfc3339(*time) : std::string("no time");
}

// Code in a line; no character of the text ends it.
std::string code_span(std::string_view text) {
  std::string code = shown(text, kMostCommandBytes);
  std::ranges::replace(code, '`', '\'');
  return code;
}

// A block of code that no line of a log can end.
std::string code(const std::vector<std::string>& lines) {
  std::string out = "~~~~text\n";
  for (const std::string& line : lines) {
    const std::string text = shown(line, kMostCodeBytes);
    out += (text.starts_with("~~~") ? " " : "") + text + "\n";
  }
  return out + "~~~~\n";
}

std::string cause_text(std::size_t number, const Finding& finding) {
  std::string out =
      fmt::format("### {}. {}\n\n`{}` · {} · **{:.0f} % sure** · {} · seen {}{}\n\n", number,
                  shown_in_markdown(finding.title), finding.cause, name_of(finding.severity),
                  finding.confidence * 100, finding.id, time_text(finding.first_seen),
                  finding.count > 1 ? fmt::format(", {} times", finding.count) : "");
  std::vector<std::string> lines;
  for (const Evidence& line : finding.evidence)
    lines.push_back(fmt::format("{}:{}  {}", line.source, line.line, line.text));
  if (!lines.empty()) out += code(lines) + "\n";
  for (const std::string& objection : finding.against)
    out += fmt::format("- against it: {}\n", shown_in_markdown(objection));
  for (const Action& action : finding.actions) {
    out += fmt::format(
        "- [ ] {}{}\n", shown_in_markdown(action.what),
        action.where.empty() ? "" : fmt::format(" (on {})", shown_in_markdown(action.where)));
    if (!action.command.empty())
      out += fmt::format("\n      {}\n\n", shown(action.command, kMostCommandBytes));
  }
  return out + "\n";
}

// What is needed at once: the culprit, the next step, how to acknowledge.
std::string head(const Diagnosis& diagnosis) {
  const Finding* first = causes_of(diagnosis).first();
  std::string out =
      fmt::format("# {}: {}\n\n{}{}\n\n", shown_in_markdown(diagnosis.job), verdict_of(diagnosis),
                  shown_in_markdown(culprit_of(diagnosis), 2000),
                  first != nullptr ? fmt::format(" ({})", how_sure(*first)) : "");
  if (const Action step = next_step(diagnosis); !step.what.empty()) {
    out += fmt::format("**Next**{}: {}\n\n",
                       step.where.empty() ? "" : " on " + shown_in_markdown(step.where),
                       shown_in_markdown(step.what));
    if (!step.command.empty())
      out += fmt::format("    {}\n\n", shown(step.command, kMostCommandBytes));
  }
  if (first != nullptr) {
    const std::string command = acknowledge_command(diagnosis);
    out += fmt::format("Finding `{}`{}\n\n", first->id,
                       command.empty() ? "." : "; to acknowledge it:\n\n    " + command);
  }
  return out;
}

std::string causes_text(const Diagnosis& diagnosis) {
  const Causes causes = causes_of(diagnosis);
  std::string out;
  if (!causes.sure.empty()) out += "## Causes\n\n";
  for (std::size_t i = 0; i < causes.sure.size(); ++i) out += cause_text(i + 1, *causes.sure[i]);
  if (!causes.possible.empty()) out += "## Possible\n\n";
  for (const Finding* finding : causes.possible)
    out += fmt::format("- {} (`{}`, {})\n", shown_in_markdown(finding->title), finding->id,
                       how_sure(*finding));
  if (causes.less_likely > 0)
    out += fmt::format("{}and {} less likely\n", causes.possible.empty() ? "" : "- ",
                       causes.less_likely);
  if (!causes.possible.empty() || causes.less_likely > 0) out += "\n";
  return out;
}

}  // namespace

std::string to_markdown(const Diagnosis& diagnosis) {
  std::string out = fmt::format("{}Attempt {} of {}; as of {}.", head(diagnosis), diagnosis.attempt,
                                diagnosis.attempts, time_text(diagnosis.as_of));
  const RankTally& ranks = diagnosis.ranks;
  if (ranks.expected > 0)
    out += fmt::format(" Ranks: {} of {} seen{}.", ranks.seen, ranks.expected,
                       ranks.behind.empty() ? "" : ", waited for: " + to_text(ranks.behind));
  out += "\n\n";
  if (!diagnosis.exclude.hosts.empty())
    out +=
        fmt::format("Restart without **{}**: `{}`, or `{}`.\n\n",
                    shown_in_markdown(fmt::format("{}", fmt::join(diagnosis.exclude.hosts, ", "))),
                    code_span(diagnosis.exclude.slurm), code_span(diagnosis.exclude.kubernetes));

  out += causes_text(diagnosis);
  if (!diagnosis.symptoms.empty()) out += "## What followed\n\n";
  for (std::size_t i = 0; i < std::min(diagnosis.symptoms.size(), kMostSymptoms); ++i) {
    const Finding& symptom = diagnosis.symptoms[i];
    out += fmt::format("- {} (`{}`, {})\n", shown_in_markdown(symptom.title), symptom.cause,
                       time_text(symptom.first_seen));
  }
  if (diagnosis.symptoms.size() > kMostSymptoms)
    out += fmt::format("- and {} more\n", diagnosis.symptoms.size() - kMostSymptoms);
  if (!diagnosis.symptoms.empty()) out += "\n";

  if (!diagnosis.observations.empty()) out += "## Also seen, and not blamed\n\n";
  for (const Finding& observation : diagnosis.observations)
    out += fmt::format("- {} (`{}`)\n", shown_in_markdown(observation.title), observation.cause);
  if (!diagnosis.observations.empty()) out += "\n";

  if (!diagnosis.unread.empty())
    out += "## Lines that look like trouble and that no rule recognizes\n\n";
  for (const auto& [line, sources] : diagnosis.unread)
    out += fmt::format("- {}:{} {}\n", shown_in_markdown(line.source), line.line,
                       shown_in_markdown(line.text));
  if (!diagnosis.unread.empty()) out += "\n";

  if (!diagnosis.missing_evidence.empty()) out += "## Missing\n\n";
  for (const MissingEvidence& missing : diagnosis.missing_evidence)
    out += fmt::format(
        "- **{}**: {}\n\n{}", shown_in_markdown(missing.what), shown_in_markdown(missing.why),
        missing.command.empty()
            ? std::string()
            : fmt::format("      {}\n\n", shown(missing.command, kMostCommandBytes)));
  if (!diagnosis.next_time.empty()) out += "## For the next run\n\n";
  for (const NextTime& next : diagnosis.next_time)
    out += fmt::format("- {}\n\n      {}\n\n", shown_in_markdown(next.why),
                       shown(next.set, kMostCodeBytes));

  out += "## Checked\n\n| check | | |\n|---|---|---|\n";
  for (const Check& check : diagnosis.checklist)
    out += fmt::format("| {} | {} | {} |\n", shown_in_markdown(check.check), name_of(check.status),
                       shown_in_markdown(check.detail));
  if (!diagnosis.timeline.empty()) out += "\n## Timeline\n\n| time | host | |\n|---|---|---|\n";
  for (const TimelineEntry& entry : diagnosis.timeline)
    out += fmt::format("| {} | {} | {} |\n", time_text(entry.time), shown_in_markdown(entry.host),
                       shown_in_markdown(entry.what));
  for (const ClockOffset& offset : diagnosis.clock_offsets)
    out += fmt::format("\nThe clock of {} is {:+.1f} s off ({}); times above are corrected.\n",
                       shown_in_markdown(offset.host), offset.seconds,
                       shown_in_markdown(offset.basis));
  return out;
}

}  // namespace faultline
