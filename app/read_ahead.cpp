#include "app/read_ahead.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace faultline {

ReadAhead::ReadAhead(std::size_t inputs, unsigned threads, Read read)
    : inputs_(inputs), read_(std::move(read)) {
  const std::size_t useful = std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(inputs, 1));
  slots_.resize(useful * kInputsPerThread);
  try {
    for (std::size_t i = 0; i < useful; ++i) threads_.emplace_back([this] { work(); });
  } catch (const std::exception&) {
    if (threads_.empty()) throw;  // the machine refuses more: these read all inputs
  }
}

ReadAhead::~ReadAhead() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  room_.notify_all();
}

std::optional<ReadAhead::Item> ReadAhead::next(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  Slot& from = slot(current_);
  if (!news_.wait_for(lock, patience, [&] { return !from.batches.empty() || from.end; }))
    return std::nullopt;

  Item item{current_, {}};
  if (!from.batches.empty()) {
    item.what = std::move(from.batches.front());
    from.batches.pop_front();
  } else {
    if (from.failure) std::rethrow_exception(from.failure);
    item.what = std::move(*from.end);
    from = {};
    ++current_;
  }
  lock.unlock();
  room_.notify_all();
  return item;
}

void ReadAhead::work() {
  while (const std::optional<std::size_t> input = begin_input()) {
    InputEnd end;
    std::exception_ptr failure;
    try {
      end = read_(*input, [&](SourceBatch batch) { return put(*input, std::move(batch)); });
    } catch (...) {
      failure = std::current_exception();
    }
    end_input(*input, std::move(end), failure);
  }
}

// Inputs are begun in order, so the input that next() waits for is always being read.
std::optional<std::size_t> ReadAhead::begin_input() {
  std::unique_lock lock(mutex_);
  room_.wait(lock,
             [&] { return stopped_ || begun_ == inputs_ || begun_ < current_ + slots_.size(); });
  if (stopped_ || begun_ == inputs_) return std::nullopt;
  return begun_++;
}

bool ReadAhead::put(std::size_t input, SourceBatch batch) {
  std::unique_lock lock(mutex_);
  Slot& to = slot(input);
  room_.wait(lock, [&] { return stopped_ || to.batches.size() < kBatchesPerInput; });
  if (stopped_) return false;
  to.batches.push_back(std::move(batch));
  lock.unlock();
  news_.notify_one();
  return true;
}

void ReadAhead::end_input(std::size_t input, InputEnd end, std::exception_ptr failure) {
  {
    const std::lock_guard lock(mutex_);
    slot(input).end = std::move(end);
    slot(input).failure = std::move(failure);
  }
  news_.notify_one();
}

}  // namespace faultline
