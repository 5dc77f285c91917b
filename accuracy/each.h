// Work on many numbers at once, on several threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace faultline::accuracy {

// Calls work(0), work(1), … work(count - 1), each once and in no order.
template <class Work>
void for_each_number(std::size_t count, unsigned threads, const Work& work) {
  std::atomic<std::size_t> next = 0;
  const auto some = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> workers;
  for (unsigned i = 1; i < threads; ++i) workers.emplace_back(some);
  some();
}

}  // namespace faultline::accuracy
