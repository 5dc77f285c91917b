// UnansweredPushes: the sources of which a pushed body was refused. A part of it may be stored, and
// its sender will send it again.
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

  // A push that is under way. It was refused unless stored() is called before it is destroyed.
  class Push {
   public:
    Push(Push&& other) noexcept;
    Push& operator=(Push&& other) noexcept;
    Push(const Push&) = delete;
    Push& operator=(const Push&) = delete;
    ~Push();

    // The push before it was refused, although a part of it was stored.
    bool follows_a_part() const { return follows_a_part_; }
    // All of it is stored, and its sender will be told so.
    void stored();

   private:
    friend class UnansweredPushes;
    Push(UnansweredPushes& pushes, std::uint64_t source, std::uint64_t number, bool follows_a_part)
        : pushes_(&pushes), source_(source), number_(number), follows_a_part_(follows_a_part) {}

    UnansweredPushes* pushes_;  // null: it has ended
    std::uint64_t source_;
    std::uint64_t number_;
    bool follows_a_part_;
  };

  // `offset`: so much of the source is stored.
  Push begin(std::string_view job, std::string_view source, std::uint64_t offset);

 private:
  struct Last {
    std::uint64_t number = 0;
    std::uint64_t from = 0;  // where the part of it begins that is stored
    bool refused = false;
  };

  // Changes nothing if a later push of the source has begun.
  void end(std::uint64_t source, std::uint64_t number, bool is_stored);

  std::mutex mutex_;
  std::unordered_map<std::uint64_t, Last> last_;  // of each source
  std::uint64_t pushes_ = 0;
};

}  // namespace faultline
