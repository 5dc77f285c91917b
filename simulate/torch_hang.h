// How a job of PyTorch comes to its end: who times out first, and who fails before.
#pragma once

#include <optional>

#include "simulate/torch_calls.h"

namespace faultline::simulation {

enum class TorchEnd {
  none,        // it did all it had to do, or never began
  silent,      // gone without a word
  raises,      // an exception of its program
  cuda_fails,  // its watchdog meets an error of CUDA
  remote,      // another one's end broke its connections
  times_out,   // its own watchdog says so
  told,        // of a time-out elsewhere, and has none of its own
  no_store,    // waits for processes that do not come
};

struct TorchHang {
  explicit TorchHang(const Attempt& attempt);

  std::optional<int> initiator;  // whose watchdog is the first
  std::optional<Timestamp> first_timeout;
  std::optional<Timestamp> failure;  // an exception that others notice
  int raiser = -1;
};

// What its work may take, and what the watchdog needs to see it.
Timestamp timeout_of(const TorchVersion& version, const TorchCall& call, int rank);

TorchEnd end_of(const Attempt& attempt, const TorchHang& hang, const TorchCalls& calls, int rank);

// When a rank is where it stands.
Timestamp stands_since(const Attempt& attempt, int rank);

// When its process is over, whatever ended it.
Timestamp process_end(const Attempt& attempt, const TorchHang& hang, const TorchCalls& calls,
                      int rank);

}  // namespace faultline::simulation
