// Where processes are, by the stacks of their main threads: in a collective, waiting for their GPU,
// or elsewhere.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "rules/picture/view.h"

namespace faultline {

struct StandingByStack {
  int rank = -1;         // in the job; -1: not known
  std::int64_t pid = 0;  // 0: not known
  std::string host;      // empty: not known
  StackMeaning meaning;
  bool gil = false;  // it holds Python's lock
  const TorchLine<StackTop>* stack = nullptr;

  StackWait wait() const {
    return meaning.known == nullptr ? StackWait::nothing : meaning.known->wait;
  }
  // "waits for its data loader, in _next_data (dataloader.py:633)"
  std::string text() const;
};

// One for each process. The rank comes from the dump's header, the sender, the process, or the name
// of the file.
struct StandingsByStack {
  std::vector<StandingByStack> all;
  std::map<int, std::size_t> of_rank;  // index into `all`

  explicit StandingsByStack(const View& view);
};

}  // namespace faultline
