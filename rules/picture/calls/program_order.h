// How far each worker came in the program that all workers run, if logs lost lines. All
// communicators of a worker are taken together: a rank that stops, stops in all of them, and the
// order of calls across communicators says more than one communicator alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "rules/picture/view.h"

namespace faultline {

// One call of the program, as workers agree on it.
struct ProgramCall {
  int nranks = 0;  // of the communicators on which it is made
  std::uint32_t symbol = 0;
};

// What a worker's log says of where the worker stopped.
struct ProgramPlace {
  std::size_t worker = 0;  // index into view.workers.all
  // likelihood[n]: how likely the log is if the worker made the first n calls of the program and
  // then stopped. Can be compared only within one worker.
  std::vector<double> likelihood;
};

struct ProgramOrder {
  std::vector<ProgramCall> calls;
  std::vector<ProgramPlace> places;  // only workers that run this program
  double loss = 0;                   // the share of lines that are missing
};

// nullopt if the workers' calls are not parts of one sequence.
std::optional<ProgramOrder> program_order_of(const View& view);

}  // namespace faultline
