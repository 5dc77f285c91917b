// How far each worker came in the program that all of them run, where logs lost lines: all its
// communicators together, because a rank that stops stops in all of them, and the order of calls
// across communicators says more than each of them alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "rules/picture/view.h"

namespace faultline {

// One call of the program, as workers agree on it.
struct ProgramCall {
  int nranks = 0;  // of the communicators it is made on
  std::uint32_t symbol = 0;
};

// What a worker's log says of where the worker stopped.
struct ProgramPlace {
  std::size_t worker = 0;  // index into view.workers.all
  // By number of calls of the program, 0 to all: how likely it would be to see what was seen, had
  // the worker made so many and then stopped. In a measure of the worker's own.
  std::vector<double> likelihood;
};

struct ProgramOrder {
  std::vector<ProgramCall> calls;
  std::vector<ProgramPlace> places;  // of the workers that run this program
  double loss = 0;                   // the share of lines that are missing
};

// Nothing if the workers' calls are not parts of one sequence.
std::optional<ProgramOrder> program_order_of(const View& view);

}  // namespace faultline
