// A warning of NCCL that the lines after it may continue. It is held back until its end is known,
// however the source is cut into bodies and batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/batch.h"

namespace faultline {

struct OpenWarning {
  std::uint64_t line = 0;         // the last line of its text so far; 0: there is no warning
  std::size_t event = 0;          // index of its event in the batch being filled
  std::vector<std::string> more;  // lines after it that may belong to it
  std::uint64_t facts = 0;        // facts of the source until then
  std::uint64_t calls = 0;
};

// The events of a batch that wait for the next line, with their speakers.
struct HeldEvents {
  std::vector<Event> events;
  std::vector<Speaker> speakers;  // of each event

  bool empty() const { return events.empty(); }

  // Takes the events of a batch from `first` on.
  static HeldEvents from(Batch& batch, std::size_t first);
};

// Save and restore both over a restart. Bytes that saved_warning() did not write give nothing.
std::string saved_warning(const OpenWarning& warning, const HeldEvents& held);
HeldEvents restored_warning(std::string_view bytes, OpenWarning& warning);

}  // namespace faultline
