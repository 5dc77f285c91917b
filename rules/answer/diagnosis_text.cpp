#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "model/handover.h"
#include "model/ranks.h"
#include "rules/answer/diagnosis_forms.h"
#include "rules/answer/shown_text.h"
#include "rules/answer/telling.h"

namespace faultline {
namespace {

constexpr std::size_t kMostLines = 25;
constexpr std::size_t kMostOfEach = 3;  // lines of evidence, causes, steps
constexpr std::size_t kMostTitle = 300;
constexpr std::size_t kMostSummary = 600;
constexpr std::size_t kMostStep = 400;
constexpr std::size_t kMostCommand = 1000;
constexpr std::size_t kMostDetail = 80;

// Lines, at most as many as a reader sees at a glance. What does not fit is left out as a whole.
class Page {
 public:
  explicit Page(bool whole) : whole_(whole) {}

  // Adds lines that belong together: all of them, or none.
  bool add(const std::vector<std::string>& lines) {
    const std::size_t gap = pending_gap_ && !lines_.empty() ? 1 : 0;
    if (!whole_ && lines_.size() + gap + lines.size() > kMostLines) return false;
    if (gap > 0) lines_.emplace_back();
    pending_gap_ = false;
    // Names of hosts are text of strangers, too.
    for (const std::string& line : lines) lines_.push_back(shown(line, SIZE_MAX));
    return true;
  }
  bool add(std::string line) { return add(std::vector{std::move(line)}); }

  // An empty line before what is added next.
  void part() { pending_gap_ = true; }

  // How many lines of one kind are shown.
  std::size_t most(std::size_t usual = kMostOfEach) const { return whole_ ? SIZE_MAX : usual; }

  std::string text() const { return fmt::format("{}\n", fmt::join(lines_, "\n")); }

 private:
  bool whole_;
  bool pending_gap_ = false;
  std::vector<std::string> lines_;
};

std::vector<std::string> step_lines(std::string_view label, const Action& action) {
  std::vector<std::string> lines{
      fmt::format("{}: {}{}", label, shown_words(action.what, kMostStep),
                  action.where.empty() ? "" : fmt::format(" (on {})", shown(action.where)))};
  if (!action.command.empty())
    lines.push_back(fmt::format("    {}", shown(action.command, kMostCommand)));
  return lines;
}

std::string cause_line(std::string_view label, const Finding& finding) {
  return fmt::format("{}: {}  [{}]", label, shown_words(finding.title, kMostTitle),
                     how_sure(finding));
}

void add_head(const Diagnosis& diagnosis, Page& page) {
  page.add(fmt::format("{}: {}", shown(diagnosis.job), [&] {
    const std::string verdict = verdict_of(diagnosis);
    const std::size_t end = std::min(verdict.find(' '), verdict.size());
    return upper(verdict.substr(0, end)) + verdict.substr(end);
  }()));
  const Causes causes = causes_of(diagnosis);
  const Finding* first = causes.first();
  page.add(shown_words(culprit_of(diagnosis), kMostSummary) +
           (first != nullptr ? fmt::format("  [{}]", how_sure(*first)) : std::string()));
  const Action step = next_step(diagnosis);
  if (!step.what.empty()) page.add(step_lines("next", step));
  if (first != nullptr) {
    const std::string command = acknowledge_command(diagnosis);
    page.add(fmt::format("finding: {}{}", first->id,
                         command.empty() ? "" : ", to acknowledge it: " + command));
  }
}

bool is_of_a_traceback(const Evidence& line) {
  return line.text.find("Traceback (most recent call last)") != std::string::npos ||
         line.text.find("File \"") != std::string::npos;
}

// The lines of a finding for which there is room: the first ones. The last lines of a traceback say
// more than its first ones.
std::vector<const Evidence*> lines_to_show(const Finding& finding, std::size_t most) {
  std::vector<const Evidence*> lines;
  for (const Evidence& line : finding.evidence) lines.push_back(&line);
  if (lines.size() <= most) return lines;
  if (is_of_a_traceback(*lines.front())) {
    const auto end = std::ranges::adjacent_find(lines, [](const Evidence* a, const Evidence* b) {
      return a->source != b->source || a->line >= b->line;
    });
    const auto traceback =
        static_cast<std::size_t>(end - lines.begin()) + (end == lines.end() ? 0 : 1);
    if (traceback > most)
      lines.erase(lines.begin() + 1,
                  lines.begin() + static_cast<std::ptrdiff_t>(traceback - most + 1));
  }
  lines.resize(most);
  return lines;
}

void add_evidence(const Diagnosis& diagnosis, const Finding& first, Page& page) {
  page.part();
  for (const Evidence* line : lines_to_show(first, page.most()))
    page.add(
        fmt::format("evidence: {}:{}  {}", shown(line->source), line->line, shown(line->text)));
  for (std::size_t i = 0; i < std::min(first.against.size(), page.most(2)); ++i)
    page.add(fmt::format("but: {}", shown_words(first.against[i], kMostTitle)));
  const std::vector<const Finding*> chain = chain_of(diagnosis);
  const bool of_first = !diagnosis.root_causes.empty() && &first == &diagnosis.root_causes.front();
  for (std::size_t i = 0; of_first && i < chain.size(); ++i) {
    if (i == page.most()) {
      page.add(fmt::format("followed by {} more", chain.size() - i));
      break;
    }
    // What came of a cause may have been logged before it.
    const auto& time = chain[i]->first_seen;
    const bool earlier = time && first.first_seen && *time < *first.first_seen;
    page.add(fmt::format("{}: {}", earlier ? "explains" : "followed by",
                         shown_words(chain[i]->title, kMostTitle)));
  }
}

// The other causes that are sure, those that are possible, and how many are neither.
void add_causes(const Causes& causes, Page& page) {
  page.part();
  // Returns how many there was no room for.
  const auto add = [&](std::string_view label, const std::vector<const Finding*>& findings) {
    std::size_t told = 0;
    std::size_t left = 0;
    for (const Finding* finding : findings) {
      if (finding == causes.first()) continue;
      if (told < page.most() && page.add(cause_line(label, *finding)))
        ++told;
      else
        ++left;
    }
    return left;
  };
  if (const std::size_t left = add("also a cause", causes.sure); left > 0)
    page.add(fmt::format("and {} more as sure", left));
  if (const std::size_t left = add("possible", causes.possible) + causes.less_likely; left > 0)
    page.add(fmt::format("and {} less likely", left));
}

void add_steps(const Diagnosis& diagnosis, const Finding& first, Page& page) {
  page.part();
  const Action taken = next_step(diagnosis);
  std::size_t shown_steps = 0;
  for (const Action& action : first.actions) {
    if (action == taken) continue;
    if (shown_steps++ >= page.most() || !page.add(step_lines("then", action))) break;
  }
  if (!diagnosis.exclude.hosts.empty())
    page.add(fmt::format("restart without: {}   {}", fmt::join(diagnosis.exclude.hosts, ", "),
                         diagnosis.exclude.slurm));
}

void add_unread(const Diagnosis& diagnosis, Page& page) {
  page.part();
  for (std::size_t i = 0; i < std::min(diagnosis.unread.size(), page.most()); ++i) {
    const auto& [line, sources] = diagnosis.unread[i];
    page.add(fmt::format("not recognized: {}:{}  {}{}", shown(line.source), line.line,
                         shown(line.text),
                         sources > 1 ? fmt::format("  (in {} logs)", sources) : ""));
  }
}

void add_missing(const Diagnosis& diagnosis, Page& page) {
  const bool healthy = diagnosis.verdict == Verdict::healthy;
  if (healthy && page.most() != SIZE_MAX) return;  // nothing is wrong that it would explain
  page.part();
  const Action taken = next_step(diagnosis);
  std::size_t told = 0;
  for (const MissingEvidence& missing : diagnosis.missing_evidence) {
    if (!missing.command.empty() && missing.command == taken.command) continue;
    if (told++ >= page.most(2)) return;
    page.add(step_lines(healthy ? "not looked at" : "missing",
                        {.what = fmt::format("{}: {}", missing.what, missing.why),
                         .where = "",
                         .command = missing.command}));
  }
}

std::string checks_text(const Diagnosis& diagnosis, CheckStatus status, std::string_view heading) {
  std::vector<std::string> told;
  for (const Check& check : diagnosis.checklist) {
    if (check.status != status) continue;
    told.push_back(status == CheckStatus::fail
                       ? fmt::format("{} ({})", check.check, shown_words(check.detail, kMostDetail))
                       : check.check);
  }
  return told.empty() ? std::string() : fmt::format("{}: {}", heading, fmt::join(told, "; "));
}

// What passed and what is not known helps nobody at night: it is shown only if verbose.
void add_checks(const Diagnosis& diagnosis, bool verbose, Page& page) {
  page.part();
  const RankTally& ranks = diagnosis.ranks;
  if (ranks.expected > 0)
    page.add(fmt::format("ranks: {} of {} seen{}", ranks.seen, ranks.expected,
                         ranks.behind.empty() ? "" : ", waited for: " + to_text(ranks.behind)));
  for (const auto& [status, heading] :
       {std::pair{CheckStatus::fail, "failed"}, std::pair{CheckStatus::pass, "passed"},
        std::pair{CheckStatus::unknown, "not known"}}) {
    if (!verbose && status != CheckStatus::fail) continue;
    if (std::string text = checks_text(diagnosis, status, heading); !text.empty())
      page.add(std::move(text));
  }
  for (std::size_t i = 0; i < std::min(diagnosis.observations.size(), page.most(2)); ++i)
    page.add(fmt::format("also seen: {} [{}]",
                         shown_words(diagnosis.observations[i].title, kMostTitle),
                         diagnosis.observations[i].cause));
}

}  // namespace

std::string to_text(const Diagnosis& diagnosis, bool verbose) {
  Page page(verbose);
  add_head(diagnosis, page);
  const Causes causes = causes_of(diagnosis);
  const Finding* first = causes.first();
  if (first != nullptr) add_evidence(diagnosis, *first, page);
  add_causes(causes, page);
  if (first != nullptr) add_steps(diagnosis, *first, page);
  add_unread(diagnosis, page);
  add_missing(diagnosis, page);
  add_checks(diagnosis, verbose, page);
  return page.text();
}

std::string to_text(const Explanation& explanation) {
  std::string out = "\nHow this answer came about\n";
  for (const FindingStory& story : explanation.findings) {
    out += fmt::format("\n{}  {}\n  found by {}; {}: {}\n", story.finding, shown(story.title),
                       story.detector, name_of(story.place), shown(story.why, kMostSummary));
    for (const ConfidenceStep& step : story.confidence)
      out += fmt::format("  {:.2f}  {}\n", step.confidence, shown(step.why, kMostSummary));
    for (const PossibleCause& cause : story.possible_causes)
      out +=
          fmt::format("  {} {}: {}; its lines come {}{}\n",
                      cause.rejected.empty() ? "follows from" : "not from", cause.finding,
                      cause.rule, cause.order == "cannot tell" ? "at no known time" : cause.order,
                      cause.rejected.empty() ? "" : "; " + shown(cause.rejected, kMostSummary));
  }
  out += fmt::format("\nDetectors: {}\n", fmt::join(explanation.detectors, ", "));
  return out;
}

}  // namespace faultline
