#include "rules/answer/html_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "rules/answer/coverage_ranks.h"
#include "rules/answer/html_parts.h"
#include "rules/answer/shown_text.h"

namespace faultline {
namespace {

constexpr std::size_t kRowsInFull = 16;  // up to so many hosts have a row each
constexpr std::size_t kMostOddRows = 12;
constexpr std::size_t kMostInRow = 16;
constexpr std::size_t kMostTold = 8;  // ranks for which the page says where they stand

struct State {
  std::string_view name;
  std::string_view glyph;  // for readers who cannot tell red from green
  std::string_view brief;
  std::string_view says;
};

// The worst first; a host has the state of its worst rank.
constexpr std::array<State, 6> kStates{{
    {"behind", "◀", "behind", "behind: others wait for it"},
    {"silent", "×", "silent", "silent: its log breaks off"},
    {"diverged", "≠", "called something else", "called something else than its peers"},
    {"unseen", "?", "never seen", "no line of it was seen"},
    {"unknown", "·", "nothing is known", "nothing tells where it stands"},
    {"in_step", "", "in step", "in step"},
}};
constexpr std::size_t kInStep = kStates.size() - 1;
constexpr std::size_t kUnknown = kInStep - 1;
constexpr std::size_t kUnseen = kUnknown - 1;

std::size_t state_of(std::string_view name) {
  const auto state = std::ranges::find(kStates, name, &State::name);
  return state == kStates.end() ? kUnknown : static_cast<std::size_t>(state - kStates.begin());
}

struct Cell {
  int rank = -1;
  std::size_t state = kUnseen;
  const RankView* view = nullptr;  // nullptr: never seen
};

struct HostRow {
  std::string host;  // empty: the ranks that were never seen
  std::vector<Cell> cells;
  std::size_t state = kInStep;
  bool is_blamed = false;
};

class Picture {
 public:
  Picture(const Diagnosis& diagnosis, const std::vector<RankView>& ranks, const Finding* first)
      : diagnosis_(diagnosis) {
    if (first != nullptr) {
      blamed_hosts_.insert(first->subject.hosts.begin(), first->subject.hosts.end());
      blamed_ranks_.insert(first->subject.ranks.begin(), first->subject.ranks.end());
    }
    put_seen(ranks);
    put_unseen(ranks);
    for (HostRow& row : rows_) row.is_blamed = blamed_hosts_.contains(row.host);
    std::ranges::stable_sort(
        rows_, {}, [](const HostRow& row) { return std::pair(!row.is_blamed, row.state); });
  }

  std::string drawn() const {
    if (rows_.empty()) return {};
    std::size_t shown = rows_.size();
    if (shown > kRowsInFull) {
      const auto usual = std::ranges::find_if(
          rows_, [](const HostRow& row) { return !row.is_blamed && row.state == kInStep; });
      shown = std::min(kMostOddRows, static_cast<std::size_t>(usual - rows_.begin()));
    }
    const std::span<const HostRow> all(rows_);
    return fmt::format(
        "<section class=\"picture\"><h2>Ranks: {} of {} seen</h2>\n<ul class=\"legend\">{}</ul>\n"
        "<ul class=\"hosts\">{}</ul>\n{}{}</section>\n",
        grouped(diagnosis_.ranks.seen), grouped(diagnosis_.ranks.expected), legend(),
        drawn(all.first(shown)), folded(all.subspan(shown)), standings());
  }

 private:
  static std::string grouped(int number) {
    return grouped_digits(static_cast<std::uint64_t>(std::max(number, 0)));
  }

  void put(const std::string& host, const Cell& cell) {
    const auto [row, is_new] = row_of_.try_emplace(host, rows_.size());
    if (is_new) rows_.push_back({.host = host, .cells = {}});
    rows_[row->second].cells.push_back(cell);
    rows_[row->second].state = std::min(rows_[row->second].state, cell.state);
  }

  void put_seen(const std::vector<RankView>& ranks) {
    const std::set<int> silent(diagnosis_.ranks.silent.begin(), diagnosis_.ranks.silent.end());
    for (const RankView& rank : ranks) {
      const bool is_silent = rank.state != "behind" && silent.contains(rank.rank);
      put(rank.host, {rank.rank, state_of(is_silent ? "silent" : rank.state), &rank});
    }
  }

  // They get no host, unless the cause says where they should be.
  void put_unseen(const std::vector<RankView>& ranks) {
    std::set<int> seen;
    for (const RankView& rank : ranks) seen.insert(rank.rank);
    if (seen.contains(-1)) return;
    for (int rank = 0; rank < diagnosis_.ranks.expected; ++rank)
      if (!seen.contains(rank))
        put(blamed_hosts_.size() == 1 && blamed_ranks_.contains(rank) ? *blamed_hosts_.begin() : "",
            {.rank = rank});
  }

  // If the verdict is a hang, a rank in step waits.
  std::string_view name_of_state(std::size_t state) const {
    return state == kInStep && diagnosis_.verdict == Verdict::hang ? "waits" : kStates[state].brief;
  }

  // "1 behind, 1,023 wait"
  std::string legend() const {
    std::array<std::size_t, kStates.size()> counts{};
    for (const HostRow& row : rows_)
      for (const Cell& cell : row.cells) ++counts[cell.state];
    std::string out;
    for (std::size_t i = 0; i < kStates.size(); ++i) {
      if (counts[i] == 0) continue;
      const bool wait = i == kInStep && diagnosis_.verdict == Verdict::hang;
      out += fmt::format(
          "<li><span class=\"cell sample {}\" aria-hidden=\"true\">{}</span> <b>{}</b> {}</li>\n",
          kStates[i].name, kStates[i].glyph, grouped_digits(counts[i]),
          !wait            ? kStates[i].says
          : counts[i] == 1 ? "waits"
                           : "wait");
    }
    return out;
  }

  static std::string name(int rank) { return rank < 0 ? "?" : std::to_string(rank); }

  // A rank in step is only a number: a large job has thousands of them.
  std::string drawn(const Cell& cell) const {
    const bool is_blamed = blamed_ranks_.contains(cell.rank);
    if (cell.state == kInStep && !is_blamed)
      return fmt::format("<span class=\"cell in_step\">{}</span>", name(cell.rank));
    const State& state = kStates[cell.state];
    return fmt::format(
        "<span class=\"cell {}{}\" title=\"rank {}, {}{}\">{}{}<span class=\"aloud\"> {}</span>"
        "</span>",
        state.name, is_blamed ? " blamed" : "", name(cell.rank), name_of_state(cell.state),
        cell.view != nullptr && !cell.view->gpu.empty()
            ? ", GPU " + shown_in_html(cell.view->gpu, 60)
            : std::string(),
        state.glyph.empty() ? "" : fmt::format("<span aria-hidden=\"true\">{}</span>", state.glyph),
        name(cell.rank), name_of_state(cell.state));
  }

  static std::string shown_host(const HostRow& row) {
    return row.host.empty() ? "never seen" : shown_in_html(row.host, 80);
  }

  std::string drawn(std::span<const HostRow> rows) const {
    std::string out;
    for (const HostRow& row : rows) {
      std::string cells;
      for (std::size_t i = 0; i < std::min(row.cells.size(), kMostInRow); ++i)
        cells += drawn(row.cells[i]);
      std::vector<int> rest;
      for (std::size_t i = kMostInRow; i < row.cells.size(); ++i) rest.push_back(row.cells[i].rank);
      if (!rest.empty()) cells += fmt::format("<span class=\"dim\">and {}</span>", ranges(rest));
      out += fmt::format(
          "<li class=\"host{}\"><span class=\"name\">{}</span><span class=\"cells\">{}</span></li>"
          "\n",
          row.is_blamed ? " blamed" : "", shown_host(row), cells);
    }
    return out;
  }

  // A square for each host that is not drawn in full; their ranks are folded.
  std::string folded(std::span<const HostRow> rows) const {
    if (rows.empty()) return {};
    std::string squares;
    std::size_t ranks = 0;
    for (const HostRow& row : rows) {
      ranks += row.cells.size();
      const State& state = kStates[row.state];
      const std::string says = fmt::format("{}: {}", shown_host(row), name_of_state(row.state));
      squares += fmt::format(
          "<li class=\"square {}\" title=\"{}\"><span aria-hidden=\"true\">{}</span><span "
          "class=\"aloud\">{}</span></li>\n",
          state.name, says, state.glyph, says);
    }
    return fmt::format(
               "<ul class=\"squares\" aria-label=\"hosts that are not drawn rank by rank\">{}</ul>"
               "\n",
               squares) +
           fold_in_html(
               fmt::format("{}, {}", counted_in_html(rows.size(), "other host", "other hosts"),
                           counted_in_html(ranks, "rank", "ranks")),
               fmt::format("<ul class=\"hosts\" tabindex=\"0\">{}</ul>\n", drawn(rows)));
  }

  // Where the ranks stand that differ from their peers, or that the cause names.
  std::string standings() const {
    std::string out;
    std::size_t told = 0;
    for (const HostRow& row : rows_)
      for (const Cell& cell : row.cells) {
        const bool is_odd = cell.state != kInStep || blamed_ranks_.contains(cell.rank);
        if (cell.view == nullptr || !is_odd || told == kMostTold) continue;
        ++told;
        out += standing(cell);
      }
    return out;
  }

  static std::string standing(const Cell& cell) {
    const RankView& rank = *cell.view;
    std::string rows;
    std::vector<const StandingView*> behind_first;
    for (const StandingView& one : rank.standings) behind_first.push_back(&one);
    std::ranges::stable_sort(behind_first, std::greater(), &StandingView::behind);
    for (const StandingView* one : behind_first)
      rows +=
          fmt::format("<tr{}><td><code>{}</code></td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                      one->behind > 0 ? " class=\"late\"" : "", shown_in_html(one->communicator),
                      one->position, one->behind > 0 ? std::to_string(one->behind) : "-",
                      one->last_call.empty() ? "-" : shown_in_html(one->last_call));
    std::string where = fmt::format("<p>on {}", shown_in_html(rank.host));
    if (!rank.gpu.empty()) where += ", GPU " + shown_in_html(rank.gpu);
    if (rank.pid != 0) where += fmt::format(", process {}", rank.pid);
    where += "</p>\n";
    const std::string name_of_rank = fmt::format("rank {}", name(rank.rank));
    return fold_in_html(
        fmt::format("Where {} stands: {}", name_of_rank, kStates[cell.state].says),
        where + (rows.empty() ? ""
                              : table_in_html("Standing of " + name_of_rank,
                                              {"communicator", "collectives entered",
                                               "behind its furthest peer by", "last call"},
                                              rows)));
  }

  const Diagnosis& diagnosis_;
  std::set<std::string> blamed_hosts_;  // by the first cause
  std::set<int> blamed_ranks_;
  std::vector<HostRow> rows_;
  std::map<std::string, std::size_t> row_of_;  // by host
};

}  // namespace

std::string ranks_in_html(const Diagnosis& diagnosis, const std::vector<RankView>& ranks,
                          const Finding* first) {
  return Picture(diagnosis, ranks, first).drawn();
}

}  // namespace faultline
