#include "rules/answer/html_timeline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "rules/answer/html_parts.h"
#include "rules/answer/shown_text.h"
#include "rules/answer/time_rows.h"

namespace faultline {
namespace {

constexpr std::size_t kMostEntries = 200;
constexpr double kWidth = 1000;

double seconds_of(Timestamp time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

std::string after(Timestamp time, Timestamp start) {
  const double gone = seconds_of(time) - seconds_of(start);
  if (gone < 0.001) return {};
  if (gone < 120) return fmt::format("+{:.4g} s", gone);
  const auto whole = static_cast<long>(gone);
  return fmt::format("+{} min {} s", whole / 60, whole % 60);
}

bool is_of(const TimelineEntry& entry, const Finding* finding) {
  return finding != nullptr && entry.finding == finding->id;
}

struct Sign {
  std::string_view state;
  std::string_view glyph;
};
constexpr std::array<Sign, 3> kSigns{{{"behind", "◀"}, {"silent", "×"}, {"unseen", "?"}}};

class Chart {
 public:
  Chart(const Diagnosis& diagnosis, const TimeRows& rows, const Finding* first)
      : rows_(rows), first_(first) {
    for (const TimelineEntry& entry : diagnosis.timeline) entries_.emplace(entry.finding, &entry);
  }

  std::string drawn() const {
    std::string items;
    for (const TimeRow& row : rows_.rows)
      items += fmt::format("<li class=\"{}\">{}{}{}</li>\n", name_of_kind(row.kind), name_of(row),
                           bar(row), note_of(row));
    if (!rows_.from) return fmt::format("<div class=\"chart\"><ul>\n{}</ul></div>\n", items);
    return fmt::format(
        "<div class=\"chart\"><ul>\n{}</ul><p class=\"axis dim\" aria-hidden=\"true\">"
        "<span>{}</span><span>{}</span></p></div>\n",
        items, clock_in_html(*rows_.from),
        rows_.last_line ? "last line " + clock_in_html(*rows_.last_line) : std::string());
  }

 private:
  static std::string name_of(const TimeRow& row) {
    std::string sign;
    for (const auto& [state, glyph] : kSigns)
      if (row.state == state)
        sign = fmt::format(" <span class=\"cell sample {}\" aria-hidden=\"true\">{}</span>", state,
                           glyph);
    const std::string name = shown_in_html(row.name, 80);
    return fmt::format("<span class=\"name\" title=\"{0}\">{0}{1}</span>", name, sign);
  }

  // For a host with a bar, the note is only read aloud: "What was read" shows the same.
  static std::string note_of(const TimeRow& row) {
    if (row.note.empty()) return {};
    return fmt::format("<span class=\"note {}\">{}</span>",
                       row.kind == TimeRow::Kind::host && row.from ? "aloud" : "dim",
                       shown_in_html(row.note));
  }

  double place(Timestamp time) const {
    const double from = seconds_of(*rows_.from);
    const double to = seconds_of(*rows_.to);
    return (std::clamp(seconds_of(time), from, to) - from) / (to - from) * kWidth;
  }

  // Empty if all of it lies outside of the chart.
  std::string box(std::string_view classes, Timestamp from, Timestamp to, double least, int y,
                  int height, std::string_view title = "") const {
    if (to < *rows_.from || from > *rows_.to) return {};
    const double begin = std::min(place(from), kWidth - least);
    return fmt::format(
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\">{}</rect>",
        classes, begin, y, std::max(least, place(to) - begin), height, title);
  }

  std::string bar(const TimeRow& row) const {
    std::string out;
    if (!rows_.from) return out;
    if (row.from && row.to) out += box("span open", *row.from, *row.to, 2, 8, 6);
    if (row.surely_from && row.surely_to)
      out += box("span", *row.surely_from, *row.surely_to, 2, 8, 6);
    for (const TimeMark& mark : row.marks) {
      const TimelineEntry* entry = entries_.at(mark.finding);
      const bool is_cause = is_of(*entry, first_);
      out += box(is_cause ? "mark cause" : "mark", mark.from, mark.to, 5, is_cause ? 6 : 3,
                 is_cause ? 10 : 16,
                 fmt::format("<title>{} {}</title>", clock_in_html(*entry->time),
                             shown_in_html(entry->what)));
    }
    return fmt::format(
        "<svg class=\"lane\" viewBox=\"0 0 {} 22\" preserveAspectRatio=\"none\" "
        "aria-hidden=\"true\">{}</svg>",
        kWidth, out);
  }

  const TimeRows& rows_;
  const Finding* first_;
  std::map<std::string_view, const TimelineEntry*> entries_;
};

std::string line_of(const TimelineEntry& entry, std::optional<Timestamp> start,
                    const Finding* first) {
  const bool names_its_host =
      entry.host.empty() || entry.what.find(entry.host) != std::string::npos;
  return fmt::format("<li{}><span class=\"time\">{} <b>{}</b></span> <span>{}{}</span></li>\n",
                     is_of(entry, first) ? " class=\"cause\"" : "",
                     entry.time ? clock_in_html(*entry.time) : "time unknown",
                     entry.time && start ? after(*entry.time, *start) : std::string(),
                     shown_in_html(entry.what),
                     names_its_host ? "" : fmt::format(" ({})", shown_in_html(entry.host, 80)));
}

std::string offsets(const std::vector<ClockOffset>& clocks) {
  std::string out;
  for (const ClockOffset& clock : clocks)
    out += fmt::format(
        "<li>The clock of {} is {:.1f} s {} ({}); its times are corrected here, to about 2 "
        "s.</li>\n",
        shown_in_html(clock.host, 80), std::abs(clock.seconds),
        clock.seconds > 0 ? "ahead" : "behind", shown_in_html(clock.basis));
  return out.empty() ? out : fmt::format("<ul class=\"dim\">{}</ul>\n", out);
}

}  // namespace

std::string timeline_in_html(const Diagnosis& diagnosis, const Heard& heard, const Finding* first) {
  if (diagnosis.timeline.empty()) return {};
  std::vector<const TimelineEntry*> dated;
  for (const TimelineEntry& entry : diagnosis.timeline)
    if (entry.time) dated.push_back(&entry);
  std::string lines;
  for (std::size_t i = 0; i < std::min(diagnosis.timeline.size(), kMostEntries); ++i)
    lines +=
        line_of(diagnosis.timeline[i], dated.empty() ? std::nullopt : dated.front()->time, first);
  if (diagnosis.timeline.size() > kMostEntries)
    lines += fmt::format("<li>and {} more</li>\n", diagnosis.timeline.size() - kMostEntries);
  const TimeRows rows = time_rows_of(diagnosis, heard);
  return section_in_html(
      "What happened when",
      (rows.rows.empty() ? std::string() : Chart(diagnosis, rows, first).drawn()) +
          fmt::format("<ol class=\"events\">{}</ol>\n", lines) +
          (rows.doubts.empty()
               ? std::string()
               : fmt::format("<p class=\"dim\">{}</p>\n",
                             shown_in_html(fmt::format("{}", fmt::join(rows.doubts, " ")), 1000))) +
          offsets(diagnosis.clock_offsets));
}

}  // namespace faultline
