// How much of a job's logs has arrived. What may still come is not absent.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace faultline {

struct View;

class Arrival {
 public:
  Arrival() = default;
  explicit Arrival(const View& view);

  // No more lines of the job are expected: none of its logs may grow, and either all known ranks
  // were heard or no new log has begun for stall_after.
  bool is_settled() const { return settled_; }

  // No new log has begun for stall_after.
  bool is_established() const { return established_; }

  // Lines of this source may still come.
  bool may_grow(std::uint32_t source) const { return source < growing_.size() && growing_[source]; }

  // How long until the job is settled if nothing more comes.
  std::chrono::seconds settles_in() const { return settles_in_; }

 private:
  std::vector<bool> growing_;  // by source
  bool settled_ = true;
  bool established_ = true;
  std::chrono::seconds settles_in_{0};
};

}  // namespace faultline
