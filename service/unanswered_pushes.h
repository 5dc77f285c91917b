// UnansweredPushes: the sources whose last pushed body was refused, or is still being stored. Part
// of it may be stored, and its sender will send it again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <unordered_map>

namespace faultline {

class UnansweredPushes {
 public:
  // So many are remembered; a sender may make up names of sources.
  static constexpr std::size_t kMost = 65'536;

  struct Begun {
    std::uint64_t source = 0;
    std::uint64_t push = 0;
    bool after_another = false;  // the push before it had no answer that it is stored
  };

  Begun begin(std::string_view job, std::string_view source);
  // All of it is stored. Changes nothing if a later push of the source has begun.
  void stored(const Begun& push);

 private:
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::uint64_t> pushes_;  // the last one of a source
  std::uint64_t last_ = 0;
};

}  // namespace faultline
