#include "rules/state/rank_ties.h"

#include <algorithm>

namespace faultline {

RankTies rank_ties(const Torch& torch, const Flight& flight) {
  RankTies ties;
  std::map<std::uint32_t, int> speakers;
  for (const TorchRank* rank : torch.ranks()) {
    if (rank->rank < 0 || rank->guessed) continue;
    ties.at_least = std::max(ties.at_least, rank->rank + 1);
    ties.rank_of_source[rank->source] = rank->rank;
    ++speakers[rank->source];
  }
  std::erase_if(ties.rank_of_source, [&](const auto& tie) { return speakers[tie.first] != 1; });
  for (const auto& [rank, dump] : flight.latest())
    ties.at_least = std::max(ties.at_least, rank + 1);
  return ties;
}

}  // namespace faultline
