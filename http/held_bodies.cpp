#include "http/held_bodies.h"

#include <algorithm>

namespace faultline {

HeldBodies::Share::Share(HeldBodies& all, std::function<void()> wake)
    : all_(all), wake_(std::move(wake)) {
  const std::lock_guard lock(all_.mutex_);
  all_.shares_.insert(this);
}

HeldBodies::Share::~Share() {
  const std::lock_guard lock(all_.mutex_);
  all_.bytes_ -= bytes_;
  all_.shares_.erase(this);
}

void HeldBodies::Share::hold(std::size_t bytes, SteadyTime now) {
  const std::lock_guard lock(all_.mutex_);
  bytes -= std::min(bytes, kFree);
  if (bytes_ == 0 || bytes < bytes_then_ || bytes >= bytes_then_ + kStep) {
    grew_ = now;
    bytes_then_ = bytes;
  }
  all_.bytes_ += bytes;
  all_.bytes_ -= std::exchange(bytes_, bytes);
  if (bytes_ > 0 && all_.bytes_ > kMost) has_to_end_ = true;
}

bool HeldBodies::Share::may_grow(SteadyTime now) {
  const std::lock_guard lock(all_.mutex_);
  if (bytes_ == 0 || all_.bytes_ <= kMany) return true;
  all_.end_one_that_stands(now);
  return std::ranges::none_of(all_.shares_,
                              [&](const Share* other) { return other->bytes_ > bytes_; });
}

// The one that has stood still for longest: it was told to wait, or its sender does not send.
void HeldBodies::end_one_that_stands(SteadyTime now) {
  Share* oldest = nullptr;
  for (Share* share : shares_) {
    if (share->bytes_ == 0) continue;
    if (share->has_to_end_) return;  // it soon makes room
    if (!oldest || share->grew_ < oldest->grew_) oldest = share;
  }
  if (!oldest || now - oldest->grew_ < kPatience) return;
  oldest->has_to_end_ = true;
  oldest->wake_();
}

std::size_t HeldBodies::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace faultline
