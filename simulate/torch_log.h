// What PyTorch prints for a rank when a job ends too early.
#pragma once

#include <string>
#include <vector>

#include "simulate/output.h"
#include "simulate/torch_hang.h"

namespace faultline::simulation {

struct Utterance {
  Timestamp time;
  std::string lines;  // each with its newline
};

// In the order in which the process prints them.
std::vector<Utterance> torch_words(const Attempt& attempt, const TorchHang& hang, int rank);

// Writes those of all these ranks, ordered by time, with their wrapper.
void write_torch_log(Output& output, const Attempt& attempt, const TorchHang& hang,
                     const std::vector<int>& ranks);

}  // namespace faultline::simulation
