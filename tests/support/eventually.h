// Waits for the work of another process or thread.
#pragma once

#include <chrono>
#include <thread>

namespace faultline {

// Checks again and again until the condition holds. Returns false if it does not within a minute.
template <class Condition>
bool eventually(Condition&& is_so) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes{1};
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace faultline
