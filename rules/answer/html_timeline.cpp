#include "rules/answer/html_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "rules/answer/html_parts.h"
#include "rules/answer/shown_text.h"

namespace faultline {
namespace {

constexpr std::size_t kMostLanes = 10;
constexpr std::size_t kMostEntries = 200;
constexpr int kWidth = 1000;
constexpr int kLane = 22;
constexpr int kTrusted = 2;  // seconds that clocks of different hosts are trusted to

double seconds_of(Timestamp time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

// A stamp without a fraction is of a log that prints seconds.
double open_seconds(Timestamp time) {
  const std::string text = to_rfc3339(time);
  const std::size_t point = text.find('.');
  if (point == text.npos) return 1;
  const std::size_t digits = text.find_first_not_of("0123456789", point + 1) - point - 1;
  return std::pow(10.0, -static_cast<double>(digits));
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

class Lanes {
 public:
  Lanes(const Diagnosis& diagnosis, std::vector<const TimelineEntry*> dated, const Finding* first)
      : diagnosis_(diagnosis), dated_(std::move(dated)), first_(first) {
    for (const TimelineEntry* entry : dated_)
      if (hosts_.size() < kMostLanes && std::ranges::find(hosts_, entry->host) == hosts_.end())
        hosts_.push_back(entry->host);
    from_ = to_ = seconds_of(*dated_.front()->time);
    for (const TimelineEntry* entry : dated_) {
      from_ = std::min(from_, seconds_of(*entry->time));
      to_ = std::max(to_, seconds_of(*entry->time) + open_seconds(*entry->time));
    }
    if (diagnosis.as_of) to_ = std::max(to_, seconds_of(*diagnosis.as_of));
    const double pad = std::max(0.5, (to_ - from_) * 0.05);
    from_ -= pad;
    to_ += pad;
  }

  std::string drawn() const {
    std::string names;
    std::string drawing;
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      names +=
          fmt::format("<li>{}</li>", hosts_[i].empty() ? "no host" : shown_in_html(hosts_[i], 80));
      drawing += lane(hosts_[i], static_cast<int>(i) * kLane);
    }
    return fmt::format(
        "<div class=\"chart\" aria-hidden=\"true\"><ul class=\"lane-names\">{}</ul><svg "
        "class=\"lanes\" viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\">\n{}</svg><p "
        "class=\"axis dim\"><span>{}</span><span>{}</span></p></div>\n",
        names, kWidth, hosts_.size() * kLane, drawing, clock_in_html(*dated_.front()->time),
        diagnosis_.as_of ? "last line " + clock_in_html(*diagnosis_.as_of) : std::string());
  }

 private:
  double place(double second) const {
    return (std::clamp(second, from_, to_) - from_) / (to_ - from_) * kWidth;
  }

  static std::string box(std::string_view classes, double begin, double least, double end, int y,
                         int height, std::string_view title = "") {
    return fmt::format(
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\">{}</rect>\n",
        classes, begin, y, std::max(least, end - begin), height, title);
  }

  std::string lane(const std::string& host, int y) const {
    std::string out;
    const auto span = std::ranges::find(diagnosis_.coverage, host, &HostCoverage::host);
    if (span != diagnosis_.coverage.end() && span->from && span->to)
      out += box("span", place(seconds_of(*span->from)), 2, place(seconds_of(*span->to)), y + 8, 6);
    for (const TimelineEntry* entry : dated_) {
      if (entry->host != host) continue;
      const double begin = seconds_of(*entry->time);
      out += box(is_of(*entry, first_) ? "mark cause" : "mark", place(begin), 5,
                 place(begin + open_seconds(*entry->time)), y + 3, 16,
                 fmt::format("<title>{} {}</title>", clock_in_html(*entry->time),
                             shown_in_html(entry->what)));
    }
    return out;
  }

  const Diagnosis& diagnosis_;
  std::vector<const TimelineEntry*> dated_;
  const Finding* first_;
  std::vector<std::string> hosts_;
  double from_ = 0;
  double to_ = 0;
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

std::string doubts(const std::vector<const TimelineEntry*>& dated, bool are_clocks_known) {
  std::string out;
  const auto coarse = static_cast<std::size_t>(std::ranges::count_if(
      dated, [](const TimelineEntry* entry) { return open_seconds(*entry->time) >= 1; }));
  if (coarse > 0)
    out += fmt::format(
        "{} of these times are known to the second only: which came first within one, nobody can "
        "tell. ",
        coarse == dated.size() ? "All" : std::to_string(coarse));
  std::set<std::string_view> hosts;
  for (const TimelineEntry* entry : dated) hosts.insert(entry->host);
  if (hosts.size() > 1 && !are_clocks_known)
    out += fmt::format("Clocks of different hosts are trusted to {} s.", kTrusted);
  return out.empty() ? out : fmt::format("<p class=\"dim\">{}</p>\n", out);
}

std::string offsets(const std::vector<ClockOffset>& clocks) {
  std::string out;
  for (const ClockOffset& clock : clocks)
    out +=
        fmt::format("<li>The clock of {} is {:.1f} s {} ({}); its times are put right here.</li>\n",
                    shown_in_html(clock.host, 80), std::abs(clock.seconds),
                    clock.seconds > 0 ? "ahead" : "behind", shown_in_html(clock.basis));
  return out.empty() ? out : fmt::format("<ul class=\"dim\">{}</ul>\n", out);
}

}  // namespace

std::string timeline_in_html(const Diagnosis& diagnosis, const Finding* first) {
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
  return section_in_html(
      "What happened when",
      (dated.size() > 1 ? Lanes(diagnosis, dated, first).drawn() : std::string()) +
          fmt::format("<ol class=\"events\">{}</ol>\n", lines) +
          doubts(dated, !diagnosis.clock_offsets.empty()) + offsets(diagnosis.clock_offsets));
}

}  // namespace faultline
