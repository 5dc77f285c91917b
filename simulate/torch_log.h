// What PyTorch prints of a rank when a job comes to an end before its time.
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

// In the order in which the process says them.
std::vector<Utterance> torch_words(const Attempt& attempt, const TorchHang& hang, int rank);

// Those of all these ranks, as they came, with what stands around their lines.
void write_torch_log(Output& output, const Attempt& attempt, const TorchHang& hang,
                     const std::vector<int>& ranks);

}  // namespace faultline::simulation
