// Reads inputs on several threads and returns their batches in the order of the inputs, so that the
// result does not depend on which thread was faster. Memory is bounded: threads wait when they are
// too far ahead.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <variant>
#include <vector>

#include "app/input_reader.h"

namespace faultline {

class ReadAhead {
 public:
  // How many batches of one input may wait, and how many inputs per thread may be begun ahead of
  // the current one.
  static constexpr std::size_t kBatchesPerInput = 2;
  static constexpr std::size_t kInputsPerThread = 2;

  // Called on the threads; see read_input.
  using Read = std::function<InputEnd(std::size_t input, const Deliver& deliver)>;

  ReadAhead(std::size_t inputs, unsigned threads, Read read);
  ~ReadAhead();  // stops reading
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  struct Item {
    std::size_t input;
    std::variant<SourceBatch, InputEnd> what;
  };

  bool finished() const { return current_ == inputs_; }

  // What comes next: the batches of the first input, its end, those of the second. nullopt: not
  // read yet. Throws what reading threw.
  std::optional<Item> next(std::chrono::milliseconds patience);

 private:
  struct Slot {
    std::deque<SourceBatch> batches;
    std::optional<InputEnd> end;
    std::exception_ptr failure;
  };

  void work();
  std::optional<std::size_t> begin_input();
  bool put(std::size_t input, SourceBatch batch);
  void end_input(std::size_t input, InputEnd end, std::exception_ptr failure);
  Slot& slot(std::size_t input) { return slots_[input % slots_.size()]; }

  const std::size_t inputs_;
  const Read read_;

  std::mutex mutex_;
  std::condition_variable room_;
  std::condition_variable news_;
  std::vector<Slot> slots_;  // of the inputs from current_ on
  std::size_t current_ = 0;
  std::size_t begun_ = 0;
  bool stopped_ = false;

  std::vector<std::jthread> threads_;  // last: they use all of the above
};

}  // namespace faultline
