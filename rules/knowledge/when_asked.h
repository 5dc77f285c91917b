// A value for each number, made when it is first asked for, from any thread: of a thousand patterns
// few are ever needed.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

namespace faultline {

template <class Value>
class WhenAsked {
 public:
  explicit WhenAsked(std::size_t count) : slots_(count) {}

  template <class Make>
  const Value& of(std::size_t number, const Make& make) const {
    Slot& slot = slots_[number];
    std::call_once(slot.once, [&] { slot.value = make(); });
    return slot.value;
  }

 private:
  struct Slot {
    std::once_flag once;
    Value value;
  };
  mutable std::vector<Slot> slots_;
};

}  // namespace faultline
