#include "service/unanswered_pushes.h"

#include <string>

#include "ingest/block_digest.h"

namespace faultline {

UnansweredPushes::Begun UnansweredPushes::begin(std::string_view job, std::string_view source) {
  // Names hold no NUL.
  std::string key(job);
  key.push_back('\0');
  key += source;
  Begun push{.source = digest_of(key)};
  const std::lock_guard lock(mutex_);
  push.push = ++last_;
  const auto known = pushes_.find(push.source);
  push.after_another = known != pushes_.end();
  if (push.after_another)
    known->second = push.push;
  else if (pushes_.size() < kMost)
    pushes_.emplace(push.source, push.push);
  return push;
}

void UnansweredPushes::stored(const Begun& push) {
  const std::lock_guard lock(mutex_);
  const auto known = pushes_.find(push.source);
  if (known != pushes_.end() && known->second == push.push) pushes_.erase(known);
}

}  // namespace faultline
