// What several ranks called, as it comes out when each is laid along the others: the sequence that
// each of theirs is a part of, with gaps where lines are missing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace faultline {

struct SequenceCall {
  static constexpr std::uint64_t kNoOpCount = UINT64_MAX;

  std::uint32_t call = 0;
  // Where op counts are the same on all ranks, calls with different ones are different calls.
  std::uint64_t op_count = kNoOpCount;
  auto operator<=>(const SequenceCall&) const = default;
};
using CallSequence = std::vector<SequenceCall>;

class CommonSequence {
 public:
  explicit CommonSequence(CallSequence first);

  void add(const CallSequence& rank);

  const CallSequence& calls() const { return calls_; }
  // Where each rank's last call stands, counted from 1; in the order of adding.
  const std::vector<std::size_t>& ends() const { return ends_; }
  // Share of the lines between a rank's first and last one that are missing.
  double loss() const;

 private:
  void lay_along(const CallSequence& rank);

  CallSequence calls_;
  std::vector<std::size_t> ends_;
  std::map<CallSequence, std::size_t> known_;
  std::uint64_t spanned_ = 0;
  std::uint64_t seen_ = 0;
};

}  // namespace faultline
