#include "rules/state/rank_ties.h"

#include <algorithm>

namespace faultline {

std::map<std::uint32_t, int> ranks_by_file_names(const Sources& sources,
                                                 const std::map<std::uint32_t, int>& by_labels) {
  std::map<std::uint32_t, int> ranks;
  std::map<int, std::string_view> fronts;  // the paths up to the number, by rank
  for (std::uint32_t index = 0; index < sources.all().size(); ++index) {
    const std::string& path = sources.at(index).source.name;
    const RankInName named = rank_by_file_name(path);
    if (named.rank < 0) continue;
    const std::string_view front = std::string_view(path).substr(0, named.end);
    if (fronts.try_emplace(named.rank, front).first->second != front) return {};
    const auto label = by_labels.find(index);
    if (label != by_labels.end() && label->second != named.rank) return {};
    ranks.emplace(index, named.rank);
  }
  return ranks;
}

RankTies rank_ties(const Torch& torch, const Flight& flight, const Sources& sources) {
  RankTies ties;
  std::map<std::uint32_t, int> speakers;
  for (const TorchRank* rank : torch.ranks()) {
    if (rank->rank < 0 || rank->guessed) continue;
    ties.at_least = std::max(ties.at_least, rank->rank + 1);
    ties.rank_of_source[rank->source] = rank->rank;
    ++speakers[rank->source];
  }
  std::map<std::uint32_t, int> by_names = ranks_by_file_names(sources, ties.rank_of_source);
  std::erase_if(ties.rank_of_source, [&](const auto& tie) { return speakers[tie.first] != 1; });
  std::erase_if(by_names, [&](const auto& tie) { return speakers[tie.first] > 0; });
  ties.rank_of_source.merge(by_names);
  for (const auto& [rank, dump] : flight.latest())
    ties.at_least = std::max(ties.at_least, rank + 1);
  return ties;
}

}  // namespace faultline
