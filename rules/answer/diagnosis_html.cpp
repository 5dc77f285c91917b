#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "rules/answer/diagnosis_forms.h"
#include "rules/answer/shown_text.h"
#include "rules/answer/telling.h"

namespace faultline {
namespace {

constexpr int kCell = 26;
constexpr int kGap = 4;
constexpr std::size_t kMostColumns = 32;
constexpr std::size_t kMostSymptoms = 40;
constexpr std::size_t kMostCommand = 1000;

constexpr std::string_view kStyle = R"(
:root{--ink:#1d2330;--paper:#fff;--soft:#f3f5f8;--line:#d5dae2;--bad:#c62f3b;--odd:#b3590a;--ok:#1f6b42;--dim:#556070;--wait:#cfe3d7}
@media(prefers-color-scheme:dark){:root{--ink:#e7eaf0;--paper:#14171d;--soft:#1d222b;--line:#39414f;--bad:#f0636d;--odd:#e89a4f;--ok:#58c08a;--dim:#97a1b3;--wait:#2b4436}}
body{margin:0 auto;max-width:62rem;padding:1.5rem;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.3rem;margin:0}.culprit{font-size:1.4rem;font-weight:700;line-height:1.3;border-left:.35rem solid var(--bad);padding-left:.7rem;margin:.8rem 0}.culprit .meta{font-weight:400;display:block}h2{font-size:1.1rem;margin:2rem 0 .5rem}h3{font-size:1rem;margin:0 0 .3rem}
.verdict{display:inline-block;padding:.1rem .6rem;border-radius:.3rem;color:#fff;background:#596476}
.hang,.failed,.corrupt{background:#b82834}.slow{background:#95500a}.healthy{background:#1f6b42}
.card{border:1px solid var(--line);border-radius:.5rem;padding:1rem;margin:.8rem 0}
.meta{color:var(--dim);font-size:.88rem}pre{background:var(--soft);padding:.6rem;border-radius:.3rem;white-space:pre-wrap;font-size:.82rem;margin:.5rem 0}
table{border-collapse:collapse;width:100%;font-size:.9rem}td,th{border-bottom:1px solid var(--line);padding:.25rem .5rem;text-align:left;vertical-align:top}
.fail{color:var(--bad)}.pass{color:var(--ok)}.unknown{color:var(--dim)}
svg{max-width:100%;height:auto}svg text{font:11px system-ui,sans-serif;fill:var(--ink);text-anchor:middle}svg .host{text-anchor:start}svg .behind+text,svg .diverged+text{fill:#fff}summary{cursor:pointer}
rect.in_step{fill:var(--wait)}rect.behind{fill:#c22a37}rect.diverged{fill:#95500a}rect.unknown{fill:var(--soft);stroke:var(--line)}
rect.unseen{fill:none;stroke:var(--dim);stroke-dasharray:3 2}rect.blamed{stroke:var(--bad);stroke-width:3}
)";

std::string time_text(const std::optional<Timestamp>& time) {
  return time ? to_rfc3339(*time) : std::string();
}

struct Cell {
  int rank = -1;
  std::string state;
  std::string tooltip;
};

struct HostRow {
  std::string host;
  std::vector<Cell> cells;
  bool is_odd = false;  // not all of it is where its peers are, or it is blamed
};

std::string tooltip_of(const RankView& rank) {
  std::string text = fmt::format("rank {} {} {}", rank.rank, rank.gpu, rank.state);
  constexpr std::size_t kMostStandings = 4;
  for (std::size_t i = 0; i < std::min(rank.standings.size(), kMostStandings); ++i) {
    const StandingView& standing = rank.standings[i];
    text += fmt::format("; {}: {} calls, last {}{}", standing.communicator, standing.position,
                        standing.last_call,
                        standing.behind > 0 ? fmt::format(", {} behind", standing.behind) : "");
  }
  return text;
}

// By host, in the order of ranks; those that were never seen come last, and odd ones before others.
std::vector<HostRow> rows_of(const Diagnosis& diagnosis, const std::vector<RankView>& ranks,
                             const Subject& blamed) {
  std::vector<HostRow> rows;
  std::map<std::string, std::size_t> row_of;
  std::set<int> seen;
  for (const RankView& rank : ranks) {
    const auto [row, is_new] = row_of.try_emplace(rank.host, rows.size());
    if (is_new)
      rows.push_back(
          {rank.host, {}, std::ranges::find(blamed.hosts, rank.host) != blamed.hosts.end()});
    rows[row->second].cells.push_back({rank.rank, rank.state, tooltip_of(rank)});
    rows[row->second].is_odd |=
        rank.state != "in_step" || std::ranges::find(blamed.ranks, rank.rank) != blamed.ranks.end();
    seen.insert(rank.rank);
  }
  std::vector<Cell> unseen;
  if (!seen.contains(-1))
    for (int rank = 0; rank < diagnosis.ranks.expected; ++rank)
      if (!seen.contains(rank)) unseen.push_back({rank, "unseen", "no line of this rank was seen"});
  if (!unseen.empty()) rows.push_back({"not seen", std::move(unseen), true});
  std::ranges::stable_partition(rows, &HostRow::is_odd);
  return rows;
}

// With tooltips a rank takes three times the bytes.
std::string drawing(std::span<const HostRow> rows, const std::vector<int>& blamed, bool tooltips) {
  constexpr int kLabel = 170;
  std::string cells;
  int y = 0;
  std::size_t widest = 0;
  for (const HostRow& row : rows) {
    cells += fmt::format("<text class=\"host\" y=\"{}\">{}</text>\n", y + 17,
                         shown_in_html(row.host, 26));
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const Cell& cell = row.cells[i];
      const std::size_t column = i % kMostColumns;
      if (i > 0 && column == 0) y += kCell + kGap;
      widest = std::max(widest, column + 1);
      const int x = kLabel + static_cast<int>(column) * (kCell + kGap);
      const bool is_blamed = std::ranges::find(blamed, cell.rank) != blamed.end();
      if (tooltips) cells += fmt::format("<g><title>{}</title>", shown_in_html(cell.tooltip));
      cells += fmt::format(
          "<rect class=\"{}{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"3\"/><text "
          "x=\"{}\" y=\"{}\">{}</text>{}\n",
          cell.state, is_blamed ? " blamed" : "", x, y, kCell, kCell, x + kCell / 2, y + 17,
          cell.rank < 0 ? std::string("?") : std::to_string(cell.rank), tooltips ? "</g>" : "");
    }
    y += kCell + kGap;
  }
  const int width = kLabel + static_cast<int>(widest) * (kCell + kGap);
  return fmt::format(
      "<div class=\"picture\"><svg role=\"img\" aria-label=\"where the ranks stand\" width=\"{0}\" "
      "height=\"{1}\" viewBox=\"0 -1 {0} {1}\">\n{2}</svg></div>\n",
      width, y + 2, cells);
}

// Hosts of a large job that are as they should be are folded: whoever is waited for is seen first.
std::string picture(const Diagnosis& diagnosis, const std::vector<RankView>& ranks) {
  constexpr std::size_t kMostRowsInFull = 32;
  const Subject blamed =
      diagnosis.root_causes.empty() ? Subject{} : diagnosis.root_causes.front().subject;
  const std::vector<HostRow> rows = rows_of(diagnosis, ranks, blamed);
  if (rows.empty()) return {};
  std::string out =
      "<h2>Ranks</h2>\n<p class=\"meta\">green: waits where its peers wait · red: others wait for "
      "it · orange: called something else · dashed: never seen · outlined: named by the first "
      "cause</p>\n";
  const auto first_usual = std::ranges::find(rows, false, &HostRow::is_odd);
  const auto shown = rows.size() <= kMostRowsInFull ? rows.end() : first_usual;
  const bool are_few = shown - rows.begin() <= static_cast<std::ptrdiff_t>(kMostRowsInFull);
  out += drawing({rows.begin(), shown}, blamed.ranks, are_few);
  if (shown == rows.end()) return out;
  std::size_t folded = 0;
  for (auto row = shown; row != rows.end(); ++row) folded += row->cells.size();
  return out + fmt::format(
                   "<details><summary>{} other hosts, {} ranks: in step with their "
                   "peers</summary>\n{}</details>\n",
                   rows.end() - shown, folded, drawing({shown, rows.end()}, blamed.ranks, false));
}

std::string command_block(std::string_view command) {
  return command.empty() ? std::string()
                         : fmt::format("<pre>{}</pre>", shown_in_html(command, kMostCommand));
}

std::string cause_card(const Finding& finding) {
  std::string out = fmt::format(
      "<div class=\"card\"><h3>{}</h3>\n<p class=\"meta\">{} · {} · <b>{:.0f} % sure</b> · {} · "
      "{}{}</p>\n",
      shown_in_html(finding.title), finding.cause, name_of(finding.severity),
      finding.confidence * 100, finding.id, time_text(finding.first_seen),
      finding.count > 1 ? fmt::format(" · {} times", finding.count) : "");
  for (const Evidence& line : finding.evidence)
    out += fmt::format("<pre>{}:{}\n{}</pre>\n", shown_in_html(line.source), line.line,
                       shown_in_html(line.text));
  for (const std::string& objection : finding.against)
    out += fmt::format("<p><b>Against it:</b> {}</p>\n", shown_in_html(objection));
  if (!finding.actions.empty()) out += "<ol>\n";
  for (const Action& action : finding.actions)
    out += fmt::format(
        "<li>{}{}{}</li>\n", shown_in_html(action.what),
        action.where.empty() ? "" : fmt::format(" <i>({})</i>", shown_in_html(action.where)),
        command_block(action.command));
  if (!finding.actions.empty()) out += "</ol>\n";
  return out + "</div>\n";
}

std::string list(std::string_view heading, const std::vector<Finding>& findings) {
  if (findings.empty()) return {};
  std::string out = fmt::format("<h2>{}</h2>\n<ul>\n", heading);
  for (std::size_t i = 0; i < std::min(findings.size(), kMostSymptoms); ++i)
    out += fmt::format("<li>{} <span class=\"meta\">{} {}</span></li>\n",
                       shown_in_html(findings[i].title), findings[i].cause,
                       time_text(findings[i].first_seen));
  if (findings.size() > kMostSymptoms)
    out += fmt::format("<li>and {} more</li>\n", findings.size() - kMostSymptoms);
  return out + "</ul>\n";
}

// What is needed at once: the culprit, the next step, how to acknowledge.
std::string head(const Diagnosis& diagnosis) {
  const Finding* first = causes_of(diagnosis).first();
  std::string out = fmt::format(
      "<h1>{} <span class=\"verdict {}\">{}</span></h1>\n<p{}>{}{}</p>\n",
      shown_in_html(diagnosis.job), name_of(diagnosis.verdict), verdict_of(diagnosis),
      first != nullptr ? " class=\"culprit\"" : "", shown_in_html(culprit_of(diagnosis), 2000),
      first != nullptr ? fmt::format(" <span class=\"meta\">{}</span>", how_sure(*first)) : "");
  if (const Action step = next_step(diagnosis); !step.what.empty())
    out += fmt::format("<p><b>Next{}:</b> {}</p>{}\n",
                       step.where.empty() ? "" : " on " + shown_in_html(step.where),
                       shown_in_html(step.what), command_block(step.command));
  const std::string acknowledge = acknowledge_command(diagnosis);
  if (first != nullptr)
    out +=
        fmt::format("<p class=\"meta\">finding {}{}</p>{}\n", first->id,
                    acknowledge.empty() ? "" : "; to acknowledge it:", command_block(acknowledge));
  return out;
}

std::string causes_text(const Diagnosis& diagnosis) {
  const Causes causes = causes_of(diagnosis);
  std::string out;
  if (!causes.sure.empty()) out += "<h2>Causes</h2>\n";
  for (const Finding* cause : causes.sure) out += cause_card(*cause);
  if (!causes.possible.empty()) out += "<h2>Possible</h2>\n<ul>\n";
  for (const Finding* cause : causes.possible)
    out += fmt::format("<li>{} <span class=\"meta\">{} · {}</span></li>\n",
                       shown_in_html(cause->title), how_sure(*cause), cause->id);
  if (!causes.possible.empty()) out += "</ul>\n";
  if (causes.less_likely > 0)
    out += fmt::format("<p class=\"meta\">and {} less likely</p>\n", causes.less_likely);
  return out;
}

std::string asked(const Diagnosis& diagnosis) {
  std::string out;
  if (!diagnosis.unread.empty())
    out += "<h2>Lines that look like trouble and that no rule recognizes</h2>\n<ul>\n";
  for (const auto& [line, sources] : diagnosis.unread)
    out += fmt::format("<li>{}:{} <code>{}</code></li>\n", shown_in_html(line.source), line.line,
                       shown_in_html(line.text));
  if (!diagnosis.unread.empty()) out += "</ul>\n";
  if (!diagnosis.missing_evidence.empty()) out += "<h2>Missing</h2>\n<ul>\n";
  for (const MissingEvidence& missing : diagnosis.missing_evidence)
    out += fmt::format("<li><b>{}</b>: {}{}</li>\n", shown_in_html(missing.what),
                       shown_in_html(missing.why), command_block(missing.command));
  if (!diagnosis.missing_evidence.empty()) out += "</ul>\n";
  if (!diagnosis.next_time.empty()) out += "<h2>For the next run</h2>\n<ul>\n";
  for (const NextTime& next : diagnosis.next_time)
    out +=
        fmt::format("<li>{}<pre>{}</pre></li>\n", shown_in_html(next.why), shown_in_html(next.set));
  if (!diagnosis.next_time.empty()) out += "</ul>\n";
  return out;
}

std::string tables(const Diagnosis& diagnosis) {
  std::string out = "<h2>Checked</h2>\n<table>\n";
  for (const Check& check : diagnosis.checklist)
    out += fmt::format("<tr><td>{}</td><td class=\"{}\">{}</td><td>{}</td></tr>\n",
                       shown_in_html(check.check), name_of(check.status), name_of(check.status),
                       shown_in_html(check.detail));
  out += "</table>\n";
  if (diagnosis.timeline.empty()) return out;
  out += "<h2>Timeline</h2>\n<table>\n";
  for (const TimelineEntry& entry : diagnosis.timeline)
    out += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                       entry.time ? to_rfc3339(*entry.time) : std::string("no time"),
                       shown_in_html(entry.host), shown_in_html(entry.what));
  out += "</table>\n";
  for (const ClockOffset& offset : diagnosis.clock_offsets)
    out += fmt::format(
        "<p class=\"meta\">The clock of {} is {:+.1f} s off ({}); the times above "
        "are corrected.</p>\n",
        shown_in_html(offset.host), offset.seconds, shown_in_html(offset.basis));
  return out;
}

}  // namespace

std::string to_html(const Diagnosis& diagnosis, const std::vector<RankView>& ranks) {
  const std::string job = shown_in_html(diagnosis.job);
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width\"><title>{}: {}</title><style>{}</style></head><body>\n"
      "{}<p class=\"meta\">attempt {} of {}{} · {} of {} ranks seen</p>\n",
      job, name_of(diagnosis.verdict), kStyle, head(diagnosis), diagnosis.attempt,
      diagnosis.attempts, diagnosis.as_of ? " · as of " + time_text(diagnosis.as_of) : "",
      diagnosis.ranks.seen, diagnosis.ranks.expected);
  if (!diagnosis.exclude.hosts.empty())
    out += fmt::format("<p>Restart without <b>{}</b>: <code>{}</code> or <code>{}</code></p>\n",
                       shown_in_html(fmt::format("{}", fmt::join(diagnosis.exclude.hosts, ", "))),
                       shown_in_html(diagnosis.exclude.slurm),
                       shown_in_html(diagnosis.exclude.kubernetes));
  out += picture(diagnosis, ranks);
  out += causes_text(diagnosis);
  out += list("What followed", diagnosis.symptoms);
  out += list("Also seen, and not blamed", diagnosis.observations);
  out += asked(diagnosis);
  out += tables(diagnosis);
  return out + "</body></html>\n";
}

}  // namespace faultline
