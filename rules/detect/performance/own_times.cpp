// Finds a slow rank by what the ranks measure of their own steps: how long each works and how long
// it waits for the others (lines of a script, Megatron-LM's timers), and which rank reaches the
// least throughput (Megatron-LM's report).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "model/ranks.h"
#include "rules/detect/parts/facts.h"
#include "rules/detect/performance/measured.h"
#include "rules/detect/performance/training.h"
#include "rules/knowledge/ground_names.h"

namespace faultline {
namespace {

struct OwnTimes {
  double work = 0;  // seconds of a step
  double wait = 0;
  const PartRecord* record = nullptr;
};

constexpr std::string_view kRankTimers = "rank timers";

// A script's times are medians of many steps, but a block of timers is one sample.
bool was_read_once(const PartRecord& record) {
  return record.kind == kRankTimers &&
         std::ranges::all_of(record.values,
                             [](const PartSeries& series) { return series.samples.size() < 2; });
}

// The sum of these timers; nothing if none of them ran.
std::optional<double> sum_of(const View& view, const PartRecord& record,
                             const std::vector<std::string>& timers) {
  std::optional<double> sum;
  for (const std::string& timer : timers)
    if (const auto milliseconds = number_in(view, record, timer))
      sum = sum.value_or(0) + *milliseconds / 1000;
  return sum;
}

std::map<int, OwnTimes> own_times(const View& view) {
  const auto& rules = view.catalog.performance.straggler;
  std::map<int, OwnTimes> times;
  for (const PartRecord& record : view.job.parts().records()) {
    const bool timers = record.kind == kRankTimers;
    if (!timers && record.kind != "training") continue;
    const int rank = rank_of(view, record);
    const auto work =
        timers ? sum_of(view, record, rules.work_timers) : number_in(view, record, "work seconds");
    const auto wait =
        timers ? sum_of(view, record, rules.wait_timers) : number_in(view, record, "wait seconds");
    if (rank >= 0 && work && wait) times.insert_or_assign(rank, OwnTimes{*work, *wait, &record});
  }
  return times;
}

// Whether the record has this value more than once, and always the same.
bool was_always(const View& view, const PartRecord& record, std::string_view name) {
  const PartSeries* series = view.job.parts().find(record, name);
  return series != nullptr && series->samples.size() > 1 &&
         std::ranges::all_of(series->samples, [&](const PartSample& sample) {
           return sample.value == series->last().value;
         });
}

// Whether the steps of the two records overlap.
bool are_of_one_run(const View& view, const PartRecord& a, const PartRecord& b) {
  const auto number = [&](const PartRecord& record, std::string_view name) {
    return number_in(view, record, name).value_or(0);
  };
  return number(a, "first step") <= number(b, "step") &&
         number(b, "first step") <= number(a, "step");
}

// Whether this rank works far longer than every other rank, and every other rank waits far longer
// than this one. A rank that only works long may have more to do; a rank that only waits little may
// be lucky.
bool is_waited_for(const View& view, const std::map<int, OwnTimes>& all, int rank) {
  const auto& rules = view.catalog.performance.straggler;
  const OwnTimes& own = all.at(rank);
  return std::ranges::all_of(all, [&](const auto& each) {
    const auto& [other, times] = each;
    return other == rank || (are_of_one_run(view, *own.record, *times.record) &&
                             own.work >= rules.work_above * times.work &&
                             own.work - times.work >= rules.gap * (own.work + own.wait) &&
                             times.wait >= rules.wait_above * own.wait &&
                             // Its extra work explains their extra wait.
                             times.wait - own.wait >= rules.accounted * (own.work - times.work));
  });
}

}  // namespace

std::vector<Suspicion> suspect_own_times(const View& view) {
  const std::map<int, OwnTimes> all = own_times(view);
  if (all.size() < 2) return {};
  const auto& [rank, own] =
      *std::ranges::max_element(all, {}, [](const auto& each) { return each.second.work; });
  if (!is_waited_for(view, all, rank)) return {};
  std::vector<double> work;
  std::vector<double> wait;
  for (const auto& [other, times] : all)
    if (other != rank) {
      work.push_back(times.work);
      wait.push_back(times.wait);
    }
  const bool all_seen = all.size() > 2 && static_cast<int>(all.size()) >= view.roll.expected;
  Suspicion suspicion = late_rank(
      view, *own.record, rank,
      fmt::format("Rank {} works {} in each step; the others work {} and wait {} for it, by their "
                  "own measurements",
                  rank, seconds_in_words(own.work), seconds_in_words(median(work)),
                  seconds_in_words(median(wait))),
      all_seen ? Claim::samples_work_and_wait : Claim::samples_of_two);
  if (was_read_once(*own.record)) suspicion.sure.add(Ground::read_once);
  suspicion.finding.actions.front().what =
      "Check what slows the rank: its GPU's clocks, its data, another program on its GPU or cores.";
  for (const auto& [other, times] : all)
    if (other != rank) add_line(view, times.record->last.get(), suspicion.finding);
  return {std::move(suspicion)};
}

// The rank with the least throughput must also have the longest time, by about the same ratio.
// Otherwise the two numbers are not of the same steps.
std::vector<Suspicion> suspect_least_throughput(const View& view) {
  constexpr double kAbout = 0.1;
  const auto& rules = view.catalog.performance.straggler;
  std::vector<Suspicion> found;
  for (const PartRecord& record : view.job.parts().records()) {
    if (record.tool != "straggler-report" || record.kind != "extremes") continue;
    const auto number = [&](std::string_view name) {
      return number_in(view, record, name).value_or(0);
    };
    const double least = number("MnEtpt");
    const double most = number("MxEtpt");
    const double rank = number("MnEtpt rank");
    const double shortest = number("MnRtt");
    const double longest = number("MxRtt");
    if (least <= 0 || shortest <= 0 || least >= rules.throughput_below * most ||
        rank >= kMaxRanks || number("MxRtt rank") != rank ||
        std::abs(least / most - shortest / longest) > kAbout)
      continue;
    std::string title = fmt::format(
        "Rank {:.0f} reaches {:.0f} TFLOP/s, the best rank {:.0f}, by the job's own "
        "measurements",
        rank, least, most);
    const double clock = number("MnClk");
    const double best_clock = number("MxClk");
    if (clock > 0 && number("MnClk rank") == rank && clock < rules.clock_below * best_clock)
      title +=
          fmt::format("; its GPU runs at {:.0f} MHz, the fastest one at {:.0f}", clock, best_clock);
    Suspicion& suspicion = found.emplace_back(late_rank(
        view, record, static_cast<int>(rank), std::move(title), Claim::samples_throughput));
    if (!was_always(view, record, "MnEtpt rank")) suspicion.sure.add(Ground::read_once);
  }
  return found;
}

}  // namespace faultline
