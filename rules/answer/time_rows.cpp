#include "rules/answer/time_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "rules/answer/coverage_ranks.h"
#include "rules/answer/diagnosis.h"
#include "rules/answer/html_parts.h"
#include "rules/answer/put_right.h"
#include "rules/answer/telling.h"

namespace faultline {
namespace {

using std::chrono::microseconds;

constexpr std::size_t kMostHosts = 10;
constexpr std::size_t kMostRanks = 8;
constexpr std::size_t kMostUnheard = 2;  // an empty row shows nothing but its name
constexpr std::size_t kOwn = 2;          // an event of at most so many ranks stands in their rows

// Why ranks have a row of their own. The strongest reason comes first.
struct Group {
  std::string_view state;
  std::string_view in_words;
  bool is_named = false;  // by a cause
  std::size_t most = kMostRanks;
  std::vector<const HeardRank*> heard;
  std::vector<int> unheard;

  std::size_t size() const { return heard.size() + unheard.size(); }
};

class Rows {
 public:
  Rows(const Diagnosis& diagnosis, const Heard& heard)
      : diagnosis_(diagnosis),
        heard_(heard),
        times_(diagnosis, heard),
        behind_(as_set(diagnosis.ranks.behind)),
        silent_(as_set(diagnosis.ranks.silent)),
        unheard_(as_set(heard.unheard)) {
    for (const Finding& finding : findings_of(diagnosis)) subjects_[finding.id] = finding.subject;
  }

  TimeRows made() {
    choose_ranks();
    put_hosts();
    put_ranks();
    put_groups();
    bound();
    doubt();
    if (!is_worth_drawing()) out_.rows.clear();
    return std::move(out_);
  }

 private:
  bool is_worth_drawing() const {
    std::size_t things = 0;
    for (const TimeRow& row : out_.rows)
      things += row.marks.size() + (row.kind == TimeRow::Kind::host ? 0 : 1);
    return things > 1;
  }

  // A rank with several reasons has a row for the strongest.
  void choose_ranks() {
    const Causes causes = causes_of(diagnosis_);
    const Finding* first = causes.first();
    const auto named = [&](const std::vector<const Finding*>& some) {
      std::set<int> ranks;
      for (const Finding* cause : some)
        if (cause != first) ranks.insert(cause->subject.ranks.begin(), cause->subject.ranks.end());
      return ranks;
    };
    if (first != nullptr)
      take({.state = "",
            .in_words = causes.sure.empty() ? "named by the possible cause" : "named by the cause",
            .is_named = true},
           as_set(first->subject.ranks));
    take({.state = "behind", .in_words = "behind"}, behind_);
    take({.state = "silent", .in_words = "silent: their logs break off"}, silent_);
    take({.state = "", .in_words = "named by another cause", .is_named = true}, named(causes.sure));
    take({.state = "", .in_words = "named by a possible cause", .is_named = true},
         named(causes.possible));
    std::set<int> acting;
    for (const TimelineEntry& entry : diagnosis_.timeline)
      if (const std::vector<int>& ranks = subjects_[entry.finding].ranks;
          entry.time && ranks.size() <= kOwn)
        acting.insert(ranks.begin(), ranks.end());
    take({.state = "", .in_words = "something happened there"}, acting);
    take({.state = "unseen", .in_words = "never heard", .most = kMostUnheard}, unheard_);
    take_all_others();
  }

  static std::set<int> as_set(const std::vector<int>& ranks) {
    return {ranks.begin(), ranks.end()};
  }

  void take(Group group, const std::set<int>& ranks) {
    for (const HeardRank& rank : heard_.ranks)
      if (rank.rank >= 0 && ranks.contains(rank.rank) && taken_.insert(&rank).second)
        group.heard.push_back(&rank);
    for (const int rank : ranks)
      if (unheard_.contains(rank) && taken_unheard_.insert(rank).second)
        group.unheard.push_back(rank);
    if (group.size() == 0) return;
    // If not all fit, a few arbitrary ranks would say less than what all have in common.
    if (group.size() > std::min(group.most, kMostRanks - shown_)) {
      groups_.push_back(std::move(group));
      return;
    }
    shown_ += group.size();
    for (const HeardRank* rank : group.heard) rows_.push_back(row_of(group, *rank));
    for (const int rank : group.unheard) rows_.push_back(row_of_unheard(rank));
  }

  void take_all_others() {
    Group others{.state = "", .in_words = ""};
    for (const HeardRank& rank : heard_.ranks)
      if (taken_.insert(&rank).second) others.heard.push_back(&rank);
    if (others.size() > 0) groups_.push_back(std::move(others));
  }

  bool is_in(const std::vector<int>& ranks, int rank) const {
    return std::ranges::find(ranks, rank) != ranks.end();
  }

  // The state of the rank, whatever the reason for its row.
  std::string_view state_of(const Group& group, int rank) const {
    if (!group.state.empty()) return group.state;
    if (behind_.contains(rank)) return "behind";
    return silent_.contains(rank) ? "silent" : "";
  }

  TimeRow row_of(const Group& group, const HeardRank& rank) {
    TimeRow row{.kind = TimeRow::Kind::rank,
                .name = fmt::format("rank {}", rank.rank),
                .host = rank.host,
                .ranks = {rank.rank},
                .state = std::string(state_of(group, rank.rank))};
    if (const auto reach = times_.reach_of(rank))
      put_reach(*reach, times_.firm_reach_of(rank), row);
    const std::string_view state = row.state;
    row.note = state == "behind"   ? "behind; "
               : state == "silent" ? "silent: its log breaks off; "
               : group.is_named    ? fmt::format("{}; ", group.in_words)
                                   : "";
    row.note += rank.last ? "heard " + stretch_in_words(times_.stamp(rank.host, rank.first->time),
                                                        times_.stamp(rank.host, rank.last->time),
                                                        !rank.last->zone_assumed)
                          : "no line of it carries a date";
    if (!rank.did.empty()) row.note += "; " + rank.did;
    for (const TimelineEntry& entry : diagnosis_.timeline)
      if (const std::vector<int>& ranks = subjects_[entry.finding].ranks;
          entry.time && ranks.size() <= kOwn && is_in(ranks, rank.rank))
        row.marks.push_back(mark_of(entry));
    put_cause_last(row);
    return row;
  }

  TimeRow row_of_unheard(int rank) const {
    TimeRow row{.kind = TimeRow::Kind::rank,
                .name = fmt::format("rank {}", rank),
                .ranks = {rank},
                .state = "unseen",
                .note = "never heard: no line of it was seen"};
    // The cause may say where it should be.
    if (const Finding* first = causes_of(diagnosis_).first();
        first != nullptr && first->subject.hosts.size() == 1 && is_in(first->subject.ranks, rank))
      row.host = first->subject.hosts.front();
    return row;
  }

  static void put_reach(const Reach& reach, const std::optional<Reach>& firm, TimeRow& row) {
    row.from = reach.first.from;
    row.to = reach.last.to;
    if (!firm || firm->first.to > firm->last.from) return;
    row.surely_from = firm->first.to;
    row.surely_to = firm->last.from;
  }

  TimeMark mark_of(const TimelineEntry& entry) const {
    const auto [from, to] = times_.of_event(entry);
    return {.finding = entry.finding, .from = from, .to = to};
  }

  // So that it is drawn above the others.
  void put_cause_last(TimeRow& row) const {
    const Finding* first = causes_of(diagnosis_).first();
    std::ranges::stable_partition(row.marks, [&](const TimeMark& mark) {
      return first == nullptr || mark.finding != first->id;
    });
  }

  // Hosts on which something happened, then those of ranks that have a row.
  void put_hosts() {
    std::vector<std::string> hosts;
    const auto want = [&](const std::string& host) {
      if (std::ranges::find(hosts, host) == hosts.end()) hosts.push_back(host);
    };
    for (const TimelineEntry& entry : diagnosis_.timeline)
      if (entry.time) want(entry.host);
    for (const TimeRow& rank : rows_)
      if (!rank.host.empty()) want(rank.host);
    std::size_t left_out = 0;
    for (const std::string& host : hosts) {
      const bool has_rank =
          !host.empty() && std::ranges::find(rows_, host, &TimeRow::host) != rows_.end();
      if (out_.rows.size() < kMostHosts || has_rank)
        out_.rows.push_back(row_of_host(host));
      else
        ++left_out;
    }
    if (left_out > 0)
      out_.doubts.push_back(fmt::format("{} on which something happened {} not drawn.",
                                        counted_in_html(left_out, "more host", "more hosts"),
                                        left_out == 1 ? "is" : "are"));
  }

  TimeRow row_of_host(const std::string& host) const {
    TimeRow row{
        .kind = TimeRow::Kind::host, .name = host.empty() ? "no single host" : host, .host = host};
    const auto span = std::ranges::find(diagnosis_.coverage, host, &HostCoverage::host);
    if (!host.empty() && span != diagnosis_.coverage.end()) {
      if (span->from && span->to) {
        const Reach reach{times_.between(host, *span->from), times_.between(host, *span->to)};
        // It is not known which of its logs name a time zone.
        put_reach(reach, times_.zones_differ() ? std::nullopt : std::optional(reach), row);
        row.note = "lines dated " + stretch_in_words(times_.stamp(host, *span->from),
                                                     times_.stamp(host, *span->to), true);
      } else {
        row.note = "no line of it carries a date";
      }
    }
    for (const TimelineEntry& entry : diagnosis_.timeline)
      if (entry.time && entry.host == host) row.marks.push_back(mark_of(entry));
    put_cause_last(row);
    return row;
  }

  // Rows of ranks stand below their hosts; those without a host come last.
  void put_ranks() {
    std::vector<TimeRow> all;
    const auto put_those_of = [&](const std::string& host) {
      for (const TimeRow& rank : rows_)
        if (rank.host == host) all.push_back(rank);
    };
    for (const TimeRow& host : out_.rows) {
      all.push_back(host);
      if (!host.host.empty()) put_those_of(host.host);
    }
    put_those_of("");
    out_.rows = std::move(all);
  }

  void put_groups() {
    for (const Group& group : groups_) out_.rows.push_back(row_of(group));
  }

  std::string name_of(const Group& group, std::size_t ranks, std::size_t nameless) const {
    const bool is_first = shown_ == 0 && &group == &groups_.front();
    const bool is_all = is_first && groups_.size() == 1 && ranks > 1;
    std::string name;
    if (ranks > 0)
      name = fmt::format("{}{} {}{}", is_all ? "all " : "", grouped_digits(ranks),
                         is_first ? "" : "other ", ranks == 1 ? "rank" : "ranks");
    if (nameless > 0)
      name += (name.empty() ? "" : ", ") +
              counted_in_html(nameless, "process of no known rank", "processes of no known rank");
    return name;
  }

  // What the ranks of a group have in common.
  struct Common {
    std::optional<Reach> reach;
    std::optional<Reach> firm;         // none: some rank has no such times
    std::optional<Timestamp> soonest;  // the last stamp of the rank that fell silent first
    std::optional<Timestamp> latest;
    std::size_t undated = 0;
    bool names_zone = true;
  };

  Common common_of(const Group& group) const {
    Common common;
    bool all_firm = true;
    for (const HeardRank* rank : group.heard) {
      const auto reach = times_.reach_of(*rank);
      common.undated += reach ? 0 : 1;
      if (!reach) continue;
      if (const auto firm = times_.firm_reach_of(*rank); !firm)
        all_firm = false;
      else
        widen(common.firm, *firm);
      widen(common.reach, *reach);
      common.names_zone &= !rank->last->zone_assumed;
      const Timestamp last = times_.stamp(rank->host, rank->last->time);
      common.soonest = std::min(common.soonest.value_or(last), last);
      common.latest = std::max(common.latest.value_or(last), last);
    }
    if (!all_firm) common.firm.reset();
    return common;
  }

  TimeRow row_of(const Group& group) const {
    TimeRow row{.kind = TimeRow::Kind::others, .ranks = group.unheard};
    for (const HeardRank* rank : group.heard)
      if (rank->rank >= 0) row.ranks.push_back(rank->rank);
    std::ranges::sort(row.ranks);
    const std::string_view state = row.ranks.empty() ? "" : state_of(group, row.ranks.front());
    if (std::ranges::all_of(row.ranks, [&](int it) { return state_of(group, it) == state; }))
      row.state = state;
    row.name = name_of(group, row.ranks.size(), group.size() - row.ranks.size());
    const Common common = common_of(group);
    if (common.reach) put_reach(*common.reach, common.firm, row);
    row.note = note_of(group, row, common);
    return row;
  }

  std::string note_of(const Group& group, const TimeRow& row, const Common& common) const {
    constexpr std::size_t kShort = 60;
    std::vector<std::string> parts;
    if (const std::string which = ranges(row.ranks); row.ranks.size() > 1 && which.size() <= kShort)
      parts.push_back("ranks " + which);
    if (!group.in_words.empty()) parts.emplace_back(group.in_words);
    if (!group.unheard.empty())
      parts.push_back(group.heard.empty() ? "no line of them was seen"
                                          : fmt::format("no line of {} was seen",
                                                        grouped_digits(group.unheard.size())));
    if (common.latest)
      parts.push_back("last heard " +
                      stretch_in_words(*common.soonest, *common.latest, common.names_zone));
    if (common.undated > 0)
      parts.push_back(fmt::format("no line of {} carries a date",
                                  common.latest ? grouped_digits(common.undated) : "them"));
    const std::string did = group.heard.empty() ? "" : group.heard.front()->did;
    if (!did.empty() && group.heard.size() > 1 &&
        std::ranges::all_of(group.heard, [&](const HeardRank* it) { return it->did == did; }))
      parts.push_back("each: " + did);
    return fmt::format("{}", fmt::join(parts, "; "));
  }

  // Draws only from the first event, or the first rank that stopped, to the last line: a job may
  // have run for days.
  void bound() {
    std::optional<Timestamp> from;
    std::optional<Timestamp> to;
    const auto see = [&](Timestamp begin, Timestamp end) {
      from = std::min(from.value_or(begin), begin);
      to = std::max(to.value_or(end), end);
    };
    for (const TimeRow& row : out_.rows) {
      for (const TimeMark& mark : row.marks) see(mark.from, mark.to);
      if (times_.zones_differ() && !row.surely_to) continue;
      if (row.to && row.kind == TimeRow::Kind::rank)
        see(row.surely_to.value_or(*row.from), *row.to);
      if (row.to && row.kind == TimeRow::Kind::others) see(*row.to, *row.to);
    }
    if (!from) return;
    out_.last_line = last_line();
    if (out_.last_line) to = std::max(*to, *out_.last_line);
    const auto pad =
        std::max<microseconds>(std::chrono::milliseconds(500), microseconds((*to - *from) / 20));
    out_.from = *from - pad;
    out_.to = *to + pad;
  }

  // as_of includes lines of calls, but is wrong if a clock is off.
  std::optional<Timestamp> last_line() const {
    std::optional<Timestamp> last = times_.is_any_clock_off() ? std::nullopt : diagnosis_.as_of;
    for (const HostCoverage& host : diagnosis_.coverage) {
      if (!host.to) continue;
      const Timestamp time = times_.stamp(host.host, *host.to);
      last = std::max(last.value_or(time), time);
    }
    return last;
  }

  void doubt() {
    std::size_t dated = 0;
    std::size_t coarse = 0;
    std::set<std::string> hosts;
    std::optional<microseconds> widest;
    for (const TimelineEntry& entry : diagnosis_.timeline) {
      if (!entry.time) continue;
      ++dated;
      hosts.insert(entry.host);
      const TimeMark mark = mark_of(entry);
      if (mark.to - mark.from < std::chrono::seconds(1)) continue;
      ++coarse;
      widest = std::max(widest.value_or(microseconds(0)), microseconds(mark.to - mark.from));
    }
    if (coarse > 0)
      out_.doubts.push_back(fmt::format(
          "{} of these times {} known to {}; the order of events within {} is unknown.",
          coarse == dated ? "All" : std::to_string(coarse), coarse == 1 && dated > 1 ? "is" : "are",
          *widest > std::chrono::seconds(1)
              ? fmt::format("a second or worse, up to {:.0f} s",
                            static_cast<double>(widest->count()) / 1e6)
              : "the second only",
          *widest > std::chrono::seconds(1) ? "that" : "one"));
    for (const HeardRank& rank : heard_.ranks)
      if (rank.last) hosts.insert(rank.host);
    if (hosts.size() > 1) out_.doubts.emplace_back("Clocks of different hosts are trusted to 2 s.");
    if (times_.zones_differ())
      out_.doubts.emplace_back(
          "Some timestamps name no time zone and are read as UTC: they may be hours off from the "
          "others.");
    if (std::ranges::any_of(out_.rows, [](const TimeRow& row) {
          return row.note.find("last call") != row.note.npos;
        }))
      out_.doubts.emplace_back(
          "A last call is one that was entered; a row says that it finished only if a line does.");
  }

  const Diagnosis& diagnosis_;
  const Heard& heard_;
  PutRight times_;
  std::set<int> behind_;
  std::set<int> silent_;
  std::set<int> unheard_;
  std::map<std::string, Subject> subjects_;
  std::set<const HeardRank*> taken_;
  std::set<int> taken_unheard_;
  std::size_t shown_ = 0;
  std::vector<TimeRow> rows_;  // of ranks
  std::vector<Group> groups_;
  TimeRows out_;
};

}  // namespace

std::string_view name_of_kind(TimeRow::Kind kind) {
  constexpr std::array<std::string_view, 3> kNames{"host", "rank", "others"};
  return kNames[static_cast<std::size_t>(kind)];
}

TimeRows time_rows_of(const Diagnosis& diagnosis, const Heard& heard) {
  return Rows(diagnosis, heard).made();
}

}  // namespace faultline
