#include "http/threads.h"

namespace faultline {
namespace {

// Processor time of the thread: on a busy machine, every read takes long by the clock.
constexpr std::chrono::milliseconds kShort{20};
// Time by the clock: a read may also wait for the disk.
constexpr std::chrono::seconds kShortWait{5};
// No read is ended for the sake of others before this.
constexpr std::chrono::milliseconds kLeast{250};

}  // namespace

LongReads::Turn::~Turn() {
  if (!is_long_) return;
  const std::lock_guard lock(all_.mutex_);
  std::erase(all_.running_, this);
}

LongReads::Turn::May LongReads::Turn::next() {
  if (all_.stopping_) return May::stop_for_good;
  cpu_ = processor_time() - cpu_before_;
  if (is_long_) return has_place_ ? May::go_on : May::stop_for_others;
  if (cpu_.load() < kShort && steady_now() - begun_ < kShortWait) return May::go_on;
  is_long_ = all_.give_place(*this);
  return is_long_ ? May::go_on : May::stop_for_others;
}

bool LongReads::give_place(Turn& turn) {
  const std::lock_guard lock(mutex_);
  if (running_.size() >= kMost) {
    const auto longest = std::ranges::max_element(
        running_, {}, [](const Turn* other) { return other->cpu_.load(); });
    if ((*longest)->cpu_.load() < kLeast) return false;
    (*longest)->has_place_ = false;
    running_.erase(longest);
  }
  running_.push_back(&turn);
  turn.has_place_ = true;
  return true;
}

}  // namespace faultline
