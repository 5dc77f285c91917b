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
  if (bytes_ <= kFree) much_since_ = now;
  all_.bytes_ += bytes;
  all_.bytes_ -= std::exchange(bytes_, bytes);
  if (bytes_ > kFree && all_.bytes_ > kMost) has_to_end_ = true;
}

bool HeldBodies::Share::may_grow(SteadyTime now) {
  const std::lock_guard lock(all_.mutex_);
  if (bytes_ <= kFree || all_.bytes_ <= kMany) return true;
  all_.end_oldest(now);
  return std::ranges::none_of(all_.shares_,
                              [&](const Share* other) { return other->bytes_ > bytes_; });
}

void HeldBodies::end_oldest(SteadyTime now) {
  Share* oldest = nullptr;
  for (Share* share : shares_) {
    if (share->has_to_end_) return;  // it soon makes room
    if (share->bytes_ > kFree && (!oldest || share->much_since_ < oldest->much_since_))
      oldest = share;
  }
  if (!oldest || now - oldest->much_since_ < kPatience) return;
  oldest->has_to_end_ = true;
  oldest->wake_();
}

std::size_t HeldBodies::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace faultline
