// A warning of NCCL's that the lines after it may go on with: it is told once it is known how far
// it goes, however the source is cut into bodies and batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/batch.h"

namespace faultline {

struct OpenWarning {
  std::uint64_t line = 0;         // of its text so far, in the source; 0: there is none
  std::size_t event = 0;          // its own, in the batch being filled
  std::vector<std::string> more;  // lines after it that may belong to it
  std::uint64_t facts = 0;        // told by the source until then
  std::uint64_t calls = 0;
};

// The events of a batch that wait for the next line, with who said them.
struct HeldEvents {
  std::vector<Event> events;
  std::vector<Speaker> speakers;  // of each event

  bool empty() const { return events.empty(); }

  // Takes the last ones of a batch, from there on.
  static HeldEvents from(Batch& batch, std::size_t first);
};

// Both over a restart. The facts of anything that was not saved by us are lost.
std::string saved_warning(const OpenWarning& warning, const HeldEvents& held);
HeldEvents restored_warning(std::string_view bytes, OpenWarning& warning);

}  // namespace faultline
