// What every form of an answer says first, and in which order: the verdict and since when, the
// culprit, the one next step, how to acknowledge; then what is sure, what is possible.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/finding.h"

namespace faultline {

template <class Enum>
std::string_view name_of(Enum value) {
  return boost::describe::enum_to_string(value, "?");
}

// Causes by how sure they are. A possible cause blames nobody.
struct Causes {
  std::vector<const Finding*> sure;
  std::vector<const Finding*> possible;
  std::size_t less_likely = 0;  // not worth a line

  const Finding* first() const;  // the surest; nullptr: none is worth a line
};
Causes causes_of(const Diagnosis& diagnosis);

// When the trouble began: the time of the culprit. If it has none, the first time of what followed.
std::optional<Timestamp> trouble_since(const Diagnosis& diagnosis);

// "hang since 2026-03-05T02:00:35Z"; without a time if no line carries one. If the line names no
// time zone, the time is as the line has it: "since 2026-03-05T03:00:35 (no time zone in the log)".
std::string verdict_of(const Diagnosis& diagnosis);

// The culprit; if none is sure, what is known instead.
std::string culprit_of(const Diagnosis& diagnosis);

// The step to take now; empty: none.
Action next_step(const Diagnosis& diagnosis);

// The command that acknowledges the first cause; empty: there is no cause, or no server.
std::string acknowledge_command(const Diagnosis& diagnosis);

// What followed from the first cause, in order.
std::vector<const Finding*> chain_of(const Diagnosis& diagnosis);

// "gpu.off_bus, 99 % sure"
std::string how_sure(const Finding& finding);

}  // namespace faultline
