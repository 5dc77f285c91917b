#include "model/event_weight.h"

namespace faultline {

std::uint64_t weight_of(const Event& event) {
  constexpr std::uint64_t kRanksOfAnEvent = 2;
  const auto* exit = std::get_if<ProcessExit>(&event.fact);
  return 1 + (exit == nullptr ? 0 : exit->ranks.size() / kRanksOfAnEvent);
}

}  // namespace faultline
