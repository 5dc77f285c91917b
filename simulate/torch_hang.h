// How a PyTorch job ends: which rank times out first, and which one fails before.
#pragma once

#include <optional>

#include "simulate/torch_calls.h"

namespace faultline::simulation {

enum class TorchEnd {
  none,        // it finished, or never began
  silent,      // it ends without a line
  raises,      // an exception of its program
  cuda_fails,  // its watchdog meets an error of CUDA
  remote,      // the end of another rank broke its connections
  times_out,   // its own watchdog reports a time-out
  told,        // it hears of a time-out elsewhere, and has none of its own
  no_store,    // it waits for processes that do not come
};

struct TorchHang {
  explicit TorchHang(const Attempt& attempt);

  std::optional<int> initiator;  // the rank whose watchdog is the first
  std::optional<Timestamp> first_timeout;
  std::optional<Timestamp> failure;  // the time of an exception that other ranks notice
  int raiser = -1;
};

// When the watchdog sees that a call has timed out.
Timestamp timeout_of(const TorchVersion& version, const TorchCall& call, int rank);

TorchEnd end_of(const Attempt& attempt, const TorchHang& hang, const TorchCalls& calls, int rank);

// When a rank came to where it stands.
Timestamp stands_since(const Attempt& attempt, int rank);

// When the process ends, for whatever reason.
Timestamp process_end(const Attempt& attempt, const TorchHang& hang, const TorchCalls& calls,
                      int rank);

}  // namespace faultline::simulation
