#include "model/batch.h"

namespace faultline {

std::uint64_t Batch::facts() const {
  std::uint64_t facts = events.size();
  for (const CallRun& run : runs) facts += run.calls.size();
  return facts;
}

}  // namespace faultline
