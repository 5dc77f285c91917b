// Where processes stand, by the stacks of their main threads: in a collective, on their GPU, or in
// something else.
#pragma once

#include <string>
#include <vector>

#include "rules/picture/view.h"

namespace faultline {

struct StandingByStack {
  int rank = -1;         // of the job; -1: nothing tells
  std::int64_t pid = 0;  // 0: not told
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

// One of each process. The rank is that of the dump's header, of the sender, of the process, or of
// the file's name.
std::vector<StandingByStack> standings_by_stack(const View& view);

}  // namespace faultline
