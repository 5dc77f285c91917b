// Where ranks that were counted from their first call called different things: one such place is a
// divergence, several look like lost lines.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "job.h"
#include "rules/picture/view.h"

namespace faultline {
namespace {

using Calls = std::vector<int>;  // of one rank: how much each reduces

std::set<std::size_t> forks_pair_by_pair(const std::vector<Calls>& ranks) {
  std::set<std::size_t> forks;
  for (const Calls& one : ranks)
    for (const Calls& other : ranks) {
      const auto part = std::ranges::mismatch(one, other);
      if (part.in1 != one.end() && part.in2 != other.end())
        forks.insert(static_cast<std::size_t>(part.in1 - one.begin()));
    }
  return forks;
}

std::vector<Calls> some_ranks(std::mt19937& random) {
  const auto up_to = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
  Calls common;
  for (int i = up_to(6); i >= 0; --i) common.push_back(up_to(1));
  std::vector<Calls> ranks;
  for (int rank = up_to(5) + 2; rank > 0; --rank) {
    Calls& calls = ranks.emplace_back(common);
    calls.resize(static_cast<std::size_t>(up_to(static_cast<int>(common.size()))));
    for (int more = up_to(2); more > 0; --more) calls.push_back(up_to(1));
  }
  return ranks;
}

TEST(Forks, AreCountedAsIfEachRankWereComparedWithEach) {
  std::mt19937 random(20261130);
  std::size_t with_one = 0;
  std::size_t with_several = 0;
  for (int round = 0; round < 300; ++round) {
    const std::vector<Calls> ranks = some_ranks(random);
    Job job;
    job.join_all(static_cast<int>(ranks.size()));
    for (std::size_t rank = 0; rank < ranks.size(); ++rank)
      for (const int count : ranks[rank])
        job.call({static_cast<int>(rank)}, all_reduce(1 + static_cast<std::uint64_t>(count)));
    const Catalog catalog;
    const View view(job.state, catalog, job.moment);
    ASSERT_EQ(view.alignments.size(), 1u);
    const std::set<std::size_t> forks = forks_pair_by_pair(ranks);
    const Alignment& alignment = view.alignments.front();
    if (forks.size() > 1) {
      EXPECT_FALSE(alignment.basis == Basis::counted && !alignment.members.empty()) << round;
      ++with_several;
      continue;
    }
    EXPECT_EQ(alignment.basis, Basis::counted) << round;
    EXPECT_EQ(alignment.divergence.has_value(), forks.size() == 1) << round;
    if (alignment.divergence) {
      EXPECT_EQ(alignment.divergence->position, *forks.begin());
      ++with_one;
    }
  }
  EXPECT_GT(with_one, 30u);
  EXPECT_GT(with_several, 30u);
}

}  // namespace
}  // namespace faultline
