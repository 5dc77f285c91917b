#include "model/refusals.h"

namespace faultline {

std::vector<std::string> refusals_in(const Batch& batch) {
  std::vector<std::string> reasons;
  for (const Event& event : batch.events) {
    const auto* dump = std::get_if<FlightRecorderDump>(&event.fact);
    if (dump != nullptr && !dump->refused.empty()) reasons.push_back(dump->refused);
  }
  return reasons;
}

}  // namespace faultline
