// The diagnosis for a terminal: verdict, cause, how sure, the lines, what to do; at most 2 KB.
#include <fmt/format.h>

#include <algorithm>

#include "rules/diagnosis.h"

namespace faultline {
namespace {

constexpr std::size_t kMostBytes = 2048;
constexpr std::size_t kMostText = 150;
constexpr std::size_t kMostCauses = 3;
constexpr std::size_t kMostLines = 3;
constexpr std::size_t kMostActions = 5;

// Log lines are strangers' text: nothing in them may move the cursor or colour the terminal.
std::string shown(std::string_view text) {
  std::string out;
  for (char c : text.substr(0, kMostText)) {
    auto byte = static_cast<unsigned char>(c);
    out.push_back(byte < 0x20 || byte == 0x7f ? ' ' : c);
  }
  // Do not end in the middle of a character.
  if (text.size() > kMostText) {
    while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80) out.pop_back();
    if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xc0) out.pop_back();
    out += "…";
  }
  return out;
}

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

std::string cause_text(std::size_t number, const Finding& finding) {
  std::string out = fmt::format("\n{}. {}  [{}, {}, {:.0f} % sure]\n", number, shown(finding.title),
                                finding.cause, name_of(finding.severity), finding.confidence * 100);
  for (std::size_t i = 0; i < std::min(finding.evidence.size(), kMostLines); ++i) {
    const Evidence& line = finding.evidence[i];
    out += fmt::format("   {}:{}\n     {}\n", shown(line.source), line.line, shown(line.text));
  }
  return out;
}

std::string action_text(const Action& action) {
  std::string out = fmt::format("   do: {}{}\n", action.what,
                                action.where.empty() ? "" : fmt::format(" ({})", action.where));
  if (!action.command.empty()) out += fmt::format("       {}\n", action.command);
  return out;
}

// What does not fit is left out whole, so that no line is torn.
void add(std::string& out, const std::string& part) {
  if (out.size() + part.size() <= kMostBytes) out += part;
}

}  // namespace

std::string to_text(const Diagnosis& diagnosis) {
  std::string out = fmt::format("{}: {}\n{}\n", shown(diagnosis.job),
                                upper(name_of(diagnosis.verdict)), diagnosis.summary);
  for (std::size_t i = 0; i < std::min(diagnosis.root_causes.size(), kMostCauses); ++i) {
    const Finding& cause = diagnosis.root_causes[i];
    add(out, cause_text(i + 1, cause));
    for (std::size_t a = 0; a < std::min(cause.actions.size(), kMostActions); ++a)
      add(out, action_text(cause.actions[a]));
  }
  const RankTally& ranks = diagnosis.ranks;
  if (ranks.expected > 0)
    add(out, fmt::format("\nranks: {} of {} seen{}\n", ranks.seen, ranks.expected,
                         ranks.behind.empty()
                             ? ""
                             : fmt::format(", waited for: {}", fmt::join(ranks.behind, ", "))));
  for (const Check& check : diagnosis.checklist)
    add(out, fmt::format("{}: {} ({})\n", check.check, name_of(check.status), check.detail));
  for (const MissingEvidence& missing : diagnosis.missing_evidence)
    add(out,
        fmt::format("missing: {}: {}\n  {}\n", shown(missing.what), missing.why, missing.command));
  for (const Finding& observation : diagnosis.observations)
    add(out, fmt::format("also seen: {} [{}]\n", shown(observation.title), observation.cause));
  return out;
}

}  // namespace faultline
