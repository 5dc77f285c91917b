#include <algorithm>

#include "rules/picture/calls/axis.h"
#include "rules/picture/calls/common_sequence.h"

namespace faultline {
namespace {

CallSequence sequence_of(const RecentCalls& recent) {
  CallSequence sequence;
  for (std::size_t i = 0; i < recent.size(); ++i) sequence.push_back({.call = recent[i].symbol});
  return sequence;
}

}  // namespace

Axis axis_by_sequence(const std::vector<Tail>& tails) {
  Axis axis;
  axis.positions.resize(tails.size());
  // The longest first: the others can then be aligned with it more reliably.
  std::vector<std::size_t> order;
  for (std::size_t which = 0; which < tails.size(); ++which)
    if (!tails[which].recent->empty()) order.push_back(which);
  if (order.empty()) return axis;
  std::ranges::stable_sort(order, std::greater{},
                           [&](std::size_t which) { return tails[which].recent->size(); });
  CommonSequence common(sequence_of(*tails[order.front()].recent));
  for (std::size_t i = 1; i < order.size(); ++i) common.add(sequence_of(*tails[order[i]].recent));
  for (std::size_t i = 0; i < order.size(); ++i) axis.positions[order[i]] = common.ends()[i];
  for (const SequenceCall& call : common.calls()) axis.calls.push_back(call.call);
  axis.furthest = axis.calls.size();
  axis.loss = common.loss();
  return axis;
}

}  // namespace faultline
