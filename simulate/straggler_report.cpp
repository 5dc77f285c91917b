#include "simulate/straggler_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

namespace faultline::simulation {
namespace {

constexpr double kSlow = 1.5;  // times the median
constexpr double kLeastScore = 0.7;

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

std::string barrier_times(const std::vector<double>& ms) {
  std::vector<double> sorted = ms;
  std::ranges::sort(sorted);
  const double median = (sorted[sorted.size() / 2] + sorted[(sorted.size() - 1) / 2]) / 2;
  std::string out;
  std::vector<std::string> slow;
  for (std::size_t rank = 0; rank < ms.size(); ++rank) {
    const double ratio = ms[rank] / median;
    if (ratio > kSlow) slow.push_back(std::to_string(rank));
    fmt::format_to(std::back_inserter(out),
                   " rank {}: avg barrier time {:.2f}ms ({:.2f}x median){}\n", rank, ms[rank],
                   ratio, ratio > kSlow ? " [SLOW]" : "");
  }
  if (!slow.empty())
    fmt::format_to(std::back_inserter(out), " WARNING: Straggler ranks detected: [{}]\n",
                   joined(slow));
  return out;
}

std::string gpu_scores(const Cluster& cluster, const std::vector<double>& scores) {
  constexpr std::size_t kShown = 5;
  std::vector<int> ranks(scores.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  const auto score = [&](int rank) { return scores[static_cast<std::size_t>(rank)]; };
  std::ranges::stable_sort(ranks, {}, score);
  std::string out;
  const auto line = [&](int rank) {
    fmt::format_to(std::back_inserter(out), "  Rank={} Node={} Score={:.2f}\n", rank,
                   cluster.host_name_of(rank), score(rank));
  };
  std::vector<std::string> slow;
  for (const int rank : ranks)
    if (score(rank) < kLeastScore)
      slow.push_back(
          fmt::format("StragglerId(rank={}, node='{}')", rank, cluster.host_name_of(rank)));
  if (!slow.empty())
    fmt::format_to(std::back_inserter(out),
                   "STRAGGLER DETECTION WARNING: Some GPUs have worse relative performance. "
                   "Affected ranks: {{{}}}\n",
                   joined(slow));
  out += "\nGPU relative performance:\n";
  if (ranks.size() > 2 * kShown) {
    fmt::format_to(std::back_inserter(out), " Worst performing {}/{} ranks:\n", kShown,
                   ranks.size());
    for (std::size_t i = 0; i < kShown; ++i) line(ranks[i]);
    fmt::format_to(std::back_inserter(out), " Best performing {}/{} ranks:\n", kShown,
                   ranks.size());
    for (std::size_t i = 0; i < kShown; ++i) line(ranks[ranks.size() - 1 - i]);
  } else {
    for (const int rank : ranks) line(rank);
  }
  out += "\n Straggler report processing time: 0.042 sec.\n";
  return out;
}

}  // namespace faultline::simulation
