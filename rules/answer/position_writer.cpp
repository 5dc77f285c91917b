#include "rules/answer/position_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "model/ranks.h"

namespace faultline {

OperationView operation_of(const Signature& signature) {
  static const std::set<std::string_view> kRooted{"Broadcast", "Reduce", "Gather", "Scatter"};
  OperationView view{.text = to_text(signature), .function = signature.function};
  if (!signature.count_is_size) view.count = signature.count;
  view.datatype = datatype_name(signature.datatype);
  if (signature.reduces()) view.reduction = operation_name(signature.operation);
  // Other calls print root 0, which means nothing there.
  if (kRooted.contains(signature.function) || signature.root != 0) view.root = signature.root;
  return view;
}

OperationView operation_of(const FlightSignature& signature) {
  std::string_view name = signature.operation;
  if (name.starts_with("nccl:")) name.remove_prefix(5);
  return {.text = fmt::format("{} {} {}", name, signature.input_sizes, signature.input_dtypes),
          .function = std::string(name),
          .count = std::nullopt,
          .sizes = signature.input_sizes,
          .datatype = signature.input_dtypes,
          .reduction = {},
          .root = std::nullopt};
}

PositionWriter::PositionWriter(const Callers& callers, const RankOf& rank_of,
                               OperationOf operation_of_call)
    : operation_of_(std::move(operation_of_call)) {
  for (const auto& [called, who] : callers) {
    Alike& alike = alike_.emplace_back(Alike{.called = &called, .ranks = {}, .count = who.size()});
    for (const std::size_t caller : who)
      if (const int rank = rank_of(caller); rank >= 0) alike.ranks.push_back(rank);
    std::ranges::sort(alike.ranks);
  }
}

std::optional<PositionView> PositionWriter::at(std::size_t place) {
  std::map<std::uint32_t, std::vector<std::size_t>> by_call;
  for (std::size_t i = 0; i < alike_.size(); ++i) by_call[(*alike_[i].called)[place]].push_back(i);
  PositionView view;
  std::size_t compared = 0;
  for (const auto& [call, who] : by_call) {
    if (call == kNotReached) {
      view.not_reached = members_of(who);
    } else if (call == kNotKnown) {
      view.not_known = members_of(who);
    } else {
      if ((call & kOfBatch) == 0) ++compared;
      view.called.push_back({operation_of_(call & ~kOfBatch), members_of(who)});
    }
  }
  if (view.called.empty()) return std::nullopt;
  view.differs = compared > 1;
  // Not in the order of numbers, which is that of arrival.
  std::ranges::sort(view.called, [](const CalledView& a, const CalledView& b) {
    return std::pair(b.members.count, std::string_view(a.operation.text)) <
           std::pair(a.members.count, std::string_view(b.operation.text));
  });
  return view;
}

const SomeMembers& PositionWriter::members_of(const std::vector<std::size_t>& who) {
  const auto [known, is_new] = members_.try_emplace(who);
  if (!is_new) return known->second;
  std::vector<int> ranks;
  for (const std::size_t i : who) {
    known->second.count += alike_[i].count;
    ranks.insert(ranks.end(), alike_[i].ranks.begin(), alike_[i].ranks.end());
  }
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  known->second.ranks = to_text(ranks);
  return known->second;
}

}  // namespace faultline
