#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "rules/answer/coverage_ranks.h"
#include "rules/answer/diagnosis_forms.h"
#include "rules/answer/html_parts.h"
#include "rules/answer/html_ranks.h"
#include "rules/answer/html_timeline.h"
#include "rules/answer/page_style.h"
#include "rules/answer/shown_text.h"
#include "rules/answer/telling.h"
#include "rules/knowledge/limits.h"

// The parts stand in the order of the page at /, and under the same words (http/web/job_view.js).

namespace faultline {
namespace {

constexpr std::size_t kLongTitle = 90;
constexpr std::size_t kLinesAtOnce = 4;
constexpr std::size_t kMostListed = 40;
constexpr std::size_t kMostTitle = 2000;

// What a page without buttons needs besides the style.
constexpr std::string_view kOwnStyle =
    ".square{font:.6rem/.95rem var(--mono);text-align:center;overflow:hidden}"
    ".head .dim{margin-left:auto}"
    "@media print{.first-screen{display:block}}";

std::string list_in_html(const std::vector<std::string>& items, std::string_view classes = "") {
  std::string out;
  for (std::size_t i = 0; i < std::min(items.size(), kMostListed); ++i)
    out += fmt::format("<li>{}</li>\n", items[i]);
  if (items.size() > kMostListed)
    out += fmt::format("<li>and {} more</li>\n", items.size() - kMostListed);
  return fmt::format("<ul{}>{}</ul>\n",
                     classes.empty() ? "" : fmt::format(" class=\"{}\"", classes), out);
}

std::string joined(std::string_view one, std::string_view several,
                   const std::vector<std::string>& names, bool without_host) {
  constexpr std::size_t kMost = 6;
  if (names.empty()) return {};
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) {
    const std::string_view name = names[i];
    const std::size_t host = without_host ? name.find('/') : name.npos;
    out +=
        (i > 0 ? ", " : "") + shown_in_html(host == name.npos ? name : name.substr(host + 1), 120);
  }
  return fmt::format("<li><span class=\"dim\">{}</span> <b>{}</b>{}</li>",
                     names.size() == 1 ? one : several, out,
                     names.size() > kMost ? fmt::format(" and {} more", names.size() - kMost) : "");
}

// Rank 45, on gpu-node-6, GPU 0000:bb:00.0. A single host is not repeated in the names of parts.
std::string subject_in_html(const Subject& subject) {
  const bool one_host = subject.hosts.size() == 1;
  std::string out;
  if (!subject.ranks.empty())
    out += fmt::format("<li><span class=\"dim\">{}</span> <b>{}</b></li>",
                       subject.ranks.size() == 1 ? "rank" : "ranks", ranges(subject.ranks));
  out += joined("host", "hosts", subject.hosts, false);
  out += joined("GPU", "GPUs", subject.gpus, one_host);
  out += joined("NIC", "NICs", subject.nics, one_host);
  return out.empty() ? out : fmt::format("<ul class=\"subject\">{}</ul>\n", out);
}

std::string facts_in_html(const Finding& finding, std::optional<Timestamp> since) {
  const auto fact = [](std::string_view what, std::string_view is) {
    return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", what, is);
  };
  std::string out = fact("how sure", sureness_in_html(finding)) +
                    fact("since", since ? clock_in_html(*since) : "time unknown");
  if (finding.count > 1) out += fact("how often", counted_in_html(finding.count, "time", "times"));
  return fmt::format("<dl class=\"facts\">{}</dl>\n", out);
}

// The first thing that the summary says besides the cause: who waits.
std::string effect_in_html(const Diagnosis& diagnosis, const Finding& first) {
  std::string_view rest = diagnosis.summary;
  if (rest.starts_with(first.title)) rest.remove_prefix(first.title.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(". \n"), rest.size()));
  const std::size_t end = rest.find(". ");
  if (end != rest.npos) rest = rest.substr(0, end + 1);
  return rest.empty() ? std::string()
                      : fmt::format("<p class=\"effect\">{}</p>\n", shown_in_html(rest));
}

std::string culprit_in_html(const Diagnosis& diagnosis, const Causes& causes) {
  const Finding* first = causes.first();
  if (first == nullptr)
    return fmt::format("<section class=\"card\"><h2 class=\"summary\">{}</h2></section>\n",
                       shown_in_html(culprit_of(diagnosis), kMostTitle));
  const bool is_sure = !causes.sure.empty();
  const std::string rivals =
      causes.sure.size() > 1 ? fmt::format("<p>{} as certain; see below.</p>\n",
                                           counted_in_html(causes.sure.size() - 1, "other cause is",
                                                           "other causes are"))
                             : std::string();
  return fmt::format(
      "<section class=\"card culprit{}\"><p class=\"kicker\">{} <code>{}</code></p>\n"
      "<h2{}>{}</h2>\n{}{}{}{}</section>\n",
      is_sure ? "" : " possible",
      is_sure ? "The cause:" : "No cause is certain; possible:", first->cause,
      first->title.size() > kLongTitle ? " class=\"long\"" : "",
      shown_in_html(first->title, kMostTitle), subject_in_html(first->subject),
      facts_in_html(*first, trouble_since(diagnosis)), rivals, effect_in_html(diagnosis, *first));
}

std::string step_in_html(const Action& action) {
  return fmt::format("<div class=\"step\"><p>{}{}</p>{}</div>\n", shown_in_html(action.what),
                     action.where.empty() ? ""
                                          : fmt::format(" <span class=\"dim\">(on {})</span>",
                                                        shown_in_html(action.where, 80)),
                     code_in_html(action.command));
}

std::string steps_in_html(std::span<const Action> actions) {
  std::string out;
  for (const Action& action : actions) out += fmt::format("<li>{}</li>", step_in_html(action));
  return fmt::format("<ol class=\"steps\">{}</ol>\n", out);
}

// What to do now, and folded what comes after.
std::string next_in_html(const Diagnosis& diagnosis, const Finding* first) {
  const Action next = next_step(diagnosis);
  if (next.what.empty()) return {};
  std::string out = step_in_html(next);
  if (!diagnosis.exclude.hosts.empty())
    out += fmt::format(
        "<p class=\"dim\">Restart without it: <code>{}</code> or <code>{}</code></p>\n",
        shown_in_html(diagnosis.exclude.slurm), shown_in_html(diagnosis.exclude.kubernetes));
  if (const std::string acknowledge = acknowledge_command(diagnosis); !acknowledge.empty())
    out += fold_in_html("Acknowledge: say that you are working on it", code_in_html(acknowledge));
  std::vector<Action> others = first != nullptr ? first->actions : std::vector<Action>{};
  std::erase(others, next);
  if (!others.empty())
    out += fold_in_html(fmt::format("Then ({})", counted_in_html(others.size(), "step", "steps")),
                        steps_in_html(others));
  return fmt::format(
      "<section class=\"card next\"><h2 class=\"kicker\">Do this next</h2>\n{}</section>\n", out);
}

std::string chain_in_html(const Diagnosis& diagnosis, const Finding* first) {
  const std::vector<const Finding*> followed = chain_of(diagnosis);
  if (first == nullptr || followed.empty()) return {};
  std::string out = fmt::format("<li class=\"cause\">{}</li>\n", shown_in_html(first->title));
  for (std::size_t i = 0; i < std::min(followed.size(), kMostListed); ++i)
    out += fmt::format("<li>{}</li>\n", shown_in_html(followed[i]->title));
  return section_in_html("What led to what", fmt::format("<ol class=\"chain\">{}</ol>\n", out));
}

std::string line_in_html(const Evidence& line, std::string_view more = "") {
  return fmt::format("<p class=\"dim\">{}, line {}{}{}</p><pre>{}</pre>",
                     shown_in_html(line.source), grouped_digits(line.line),
                     line.time ? ", " + clock_in_html(*line.time) : std::string(), more,
                     shown_in_html(line.text));
}

std::string lines_in_html(const std::vector<Evidence>& evidence) {
  std::vector<std::string> lines;
  for (const Evidence& line : evidence) lines.push_back(line_in_html(line));
  if (lines.empty())
    return "<p>No single line shows it; it follows from where the ranks stand.</p>\n";
  const auto at_once = static_cast<std::ptrdiff_t>(std::min(lines.size(), kLinesAtOnce));
  std::string out = list_in_html({lines.begin(), lines.begin() + at_once}, "lines");
  if (lines.size() > kLinesAtOnce)
    out += fold_in_html(counted_in_html(lines.size() - kLinesAtOnce, "more line", "more lines"),
                        list_in_html({lines.begin() + at_once, lines.end()}, "lines"));
  return out;
}

std::string against_in_html(const Finding& finding) {
  if (finding.against.empty()) return {};
  std::vector<std::string> items;
  for (const std::string& why : finding.against) items.push_back(shown_in_html(why));
  return "<h3>What speaks against it</h3>\n" + list_in_html(items);
}

std::string one_line(const Finding& finding) {
  return fmt::format("{} <span class=\"dim\">{}, {}{}</span>", shown_in_html(finding.title),
                     finding.cause, sureness_in_html(finding),
                     finding.first_seen ? ", " + clock_in_html(*finding.first_seen) : "");
}

// The page has a link to each cause; a file has to hold what is behind it.
std::string cause_in_html(const Finding& cause) {
  return fold_in_html(one_line(cause),
                      subject_in_html(cause.subject) + lines_in_html(cause.evidence) +
                          against_in_html(cause) +
                          (cause.actions.empty() ? "" : steps_in_html(cause.actions)));
}

std::string findings_in_html(std::string_view heading, const std::vector<const Finding*>& findings,
                             bool folded) {
  if (findings.empty()) return {};
  std::vector<std::string> items;
  for (const Finding* finding : findings) items.push_back(one_line(*finding));
  return folded ? fold_in_html(fmt::format("{} ({})", heading, items.size()), list_in_html(items))
                : section_in_html(heading, list_in_html(items));
}

std::vector<const Finding*> pointers_to(const std::vector<Finding>& findings) {
  std::vector<const Finding*> pointers;
  for (const Finding& finding : findings) pointers.push_back(&finding);
  return pointers;
}

std::string others_in_html(const Diagnosis& diagnosis, Causes causes) {
  std::erase(causes.possible, causes.first());
  std::string sure;
  for (std::size_t i = 1; i < causes.sure.size(); ++i) sure += cause_in_html(*causes.sure[i]);
  std::string possible;
  for (const Finding* cause : causes.possible) possible += cause_in_html(*cause);
  std::vector<const Finding*> followed;
  for (const Finding& finding : diagnosis.symptoms)
    if (std::ranges::find(diagnosis.chain, finding.id) == diagnosis.chain.end())
      followed.push_back(&finding);
  std::vector<const Finding*> unlikely;
  for (const Finding& cause : diagnosis.root_causes)
    if (cause.confidence < limits::least_shown) unlikely.push_back(&cause);
  return (sure.empty() ? sure : section_in_html("Other causes", sure)) +
         (possible.empty() ? possible : section_in_html("Possible causes", possible)) +
         findings_in_html("Found so far; needs more logs to decide", pointers_to(diagnosis.so_far),
                          false) +
         findings_in_html("What else followed", followed, true) +
         findings_in_html("Also seen, and not blamed", pointers_to(diagnosis.observations), true) +
         findings_in_html("Causes that are unlikely", unlikely, true);
}

std::string missing_in_html(const Diagnosis& diagnosis) {
  std::vector<std::string> unread;
  for (const auto& [line, sources] : diagnosis.unread)
    unread.push_back(line_in_html(
        line, sources > 1
                  ? fmt::format(", and such lines in {}",
                                counted_in_html(sources - 1, "other source", "other sources"))
                  : std::string()));
  std::vector<std::string> missing;
  for (const MissingEvidence& evidence : diagnosis.missing_evidence)
    missing.push_back(fmt::format("<b>{}</b>: {}{}", shown_in_html(evidence.what),
                                  shown_in_html(evidence.why), code_in_html(evidence.command)));
  std::vector<std::string> settings;
  for (const NextTime& next : diagnosis.next_time)
    settings.push_back(shown_in_html(next.why) + code_in_html(next.set));
  const auto folded = [](std::string_view heading, const std::vector<std::string>& items,
                         std::string_view classes) {
    return items.empty() ? std::string()
                         : fold_in_html(fmt::format("{} ({})", heading, items.size()),
                                        list_in_html(items, classes));
  };
  return folded("Lines that look like trouble and that no rule recognizes", unread, "lines") +
         folded("What is missing", missing, "") + folded("For the next run", settings, "");
}

std::string checks_in_html(const std::vector<Check>& checks) {
  if (checks.empty()) return {};
  constexpr std::array<std::pair<CheckStatus, std::string_view>, 3> kInOrder{{
      {CheckStatus::fail, "failed"},
      {CheckStatus::unknown, "unknown"},
      {CheckStatus::pass, "passed"},
  }};
  std::string tally;
  std::string items;
  for (const auto& [status, word] : kInOrder) {
    tally += fmt::format("{}{} {}", tally.empty() ? "" : ", ",
                         std::ranges::count(checks, status, &Check::status), word);
    for (const Check& check : checks)
      if (check.status == status)
        items += fmt::format("<li><span class=\"status {}\">{}</span> <b>{}</b>{}{}</li>\n",
                             name_of(status), word, shown_in_html(check.check),
                             check.detail.empty() ? "" : ": " + shown_in_html(check.detail),
                             status == CheckStatus::pass ? "" : code_in_html(check.command));
  }
  return fold_in_html(fmt::format("What was checked ({})", tally),
                      fmt::format("<ul class=\"checks\">{}</ul>\n", items));
}

std::string coverage_in_html(const Diagnosis& diagnosis) {
  if (diagnosis.coverage.empty()) return {};
  std::string rows;
  for (const HostCoverage& host : diagnosis.coverage) {
    std::string lines;
    for (const auto& [dialect, count] : host.lines)
      lines += fmt::format("{}{} {}", lines.empty() ? "" : ", ", shown_in_html(dialect, 40),
                           grouped_digits(count));
    rows += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                        host.host.empty() ? "unknown host" : shown_in_html(host.host, 80),
                        ranges(host.ranks), lines,
                        host.from && host.to ? fmt::format("{} to {}", clock_in_html(*host.from),
                                                           clock_in_html(*host.to))
                                             : "no line carries a date");
  }
  return fold_in_html(
      fmt::format("What was read ({})",
                  counted_in_html(diagnosis.coverage.size(), "host", "hosts")),
      (diagnosis.as_of ? fmt::format("<p class=\"dim\">The latest line is from {}.</p>\n",
                                     clock_in_html(*diagnosis.as_of))
                       : std::string()) +
          table_in_html("What was read, by host", {"host", "ranks", "lines", "dated"}, rows));
}

std::string evidence_in_html(const Finding& first) {
  return section_in_html("The lines that show it",
                         lines_in_html(first.evidence) + against_in_html(first));
}

}  // namespace

std::string to_html(const Diagnosis& diagnosis, const std::vector<RankView>& ranks,
                    const Heard& heard) {
  const Causes causes = causes_of(diagnosis);
  const Finding* first = causes.first();
  const std::string job = shown_in_html(diagnosis.job);
  const std::string_view verdict = name_of(diagnosis.verdict);
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width\">\n"
      "<title>{0}: {1}</title>\n<style>\n{2}{3}\n</style></head><body><main>\n<div class=\"head\">"
      "<h1>{0}</h1><span class=\"badge {1}\">{1}</span><span class=\"dim\">attempt {4} of {5}"
      "</span></div>\n",
      job, verdict, page_style(), kOwnStyle, diagnosis.attempt, diagnosis.attempts);
  out += fmt::format("<div class=\"first-screen\"><div>\n{}{}</div>\n<div>{}{}</div></div>\n",
                     culprit_in_html(diagnosis, causes), next_in_html(diagnosis, first),
                     ranks_in_html(diagnosis, ranks, first), chain_in_html(diagnosis, first));
  if (first != nullptr) out += evidence_in_html(*first);
  out += timeline_in_html(diagnosis, heard, first);
  out += others_in_html(diagnosis, causes);
  out += missing_in_html(diagnosis);
  out += checks_in_html(diagnosis.checklist);
  out += coverage_in_html(diagnosis);
  return out + "</main></body></html>\n";
}

}  // namespace faultline
