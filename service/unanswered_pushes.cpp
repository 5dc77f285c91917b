#include "service/unanswered_pushes.h"

#include <string>
#include <utility>

#include "ingest/block_digest.h"

namespace faultline {

UnansweredPushes::Push::Push(Push&& other) noexcept
    : pushes_(std::exchange(other.pushes_, nullptr)),
      source_(other.source_),
      number_(other.number_),
      follows_a_part_(other.follows_a_part_) {}

UnansweredPushes::Push& UnansweredPushes::Push::operator=(Push&& other) noexcept {
  std::swap(pushes_, other.pushes_);
  std::swap(source_, other.source_);
  std::swap(number_, other.number_);
  std::swap(follows_a_part_, other.follows_a_part_);
  return *this;
}

UnansweredPushes::Push::~Push() {
  if (pushes_ != nullptr) pushes_->end(source_, number_, false);
}

void UnansweredPushes::Push::stored() {
  if (pushes_ != nullptr) std::exchange(pushes_, nullptr)->end(source_, number_, true);
}

UnansweredPushes::Push UnansweredPushes::begin(std::string_view job, std::string_view source,
                                               std::uint64_t offset) {
  // Names hold no NUL.
  std::string key(job);
  key.push_back('\0');
  key += source;
  const std::uint64_t digest = digest_of(key);
  const std::lock_guard lock(mutex_);
  const auto known = last_.find(digest);
  const bool after_refused = known != last_.end() && known->second.refused;
  const std::uint64_t from = after_refused ? known->second.from : offset;
  if (known == last_.end() && last_.size() >= kMost) last_.erase(last_.begin());
  last_[digest] = {.number = ++pushes_, .from = from};
  return {*this, digest, pushes_, after_refused && offset > from};
}

void UnansweredPushes::end(std::uint64_t source, std::uint64_t number, bool is_stored) {
  const std::lock_guard lock(mutex_);
  const auto known = last_.find(source);
  if (known == last_.end() || known->second.number != number) return;
  if (is_stored)
    last_.erase(known);
  else
    known->second.refused = true;
}

}  // namespace faultline
