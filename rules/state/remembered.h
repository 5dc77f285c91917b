// What was worked out of a state that has not changed since.
#pragma once

#include <map>
#include <mutex>
#include <optional>

namespace faultline {

// Threads may ask at once. It is not copied: it is worked out again.
template <class Key, class Value>
class Remembered {
 public:
  Remembered() = default;
  Remembered(const Remembered& /*other*/) {}
  Remembered& operator=(const Remembered& /*other*/) {
    forget();
    return *this;
  }

  void forget() {
    const std::lock_guard lock(mutex_);
    known_.clear();
  }

  std::optional<Value> of(const Key& key) const {
    const std::lock_guard lock(mutex_);
    const auto known = known_.find(key);
    return known == known_.end() ? std::nullopt : std::optional<Value>(known->second);
  }

  void keep(const Key& key, const Value& value) {
    const std::lock_guard lock(mutex_);
    known_.try_emplace(key, value);
  }

 private:
  mutable std::mutex mutex_;
  std::map<Key, Value> known_;
};

}  // namespace faultline
