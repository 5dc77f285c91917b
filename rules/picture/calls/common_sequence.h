// The sequence of calls that several ranks share, worked out by aligning their logs: each log is a
// part of it, with gaps where lines are missing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace faultline {

struct SequenceCall {
  static constexpr std::uint64_t kNoOpCount = UINT64_MAX;

  std::uint32_t call = 0;
  // If op counts are the same on all ranks, calls with different op counts are different calls.
  std::uint64_t op_count = kNoOpCount;
  auto operator<=>(const SequenceCall&) const = default;
};
using CallSequence = std::vector<SequenceCall>;

class CommonSequence {
 public:
  explicit CommonSequence(CallSequence first);

  void add(const CallSequence& rank);

  const CallSequence& calls() const { return calls_; }
  // Where each rank's last call stands, counted from 1; in the order in which ranks were added. 0:
  // all its calls lie before those of the others. Nothing: it was left out, because it shares too
  // little.
  const std::vector<std::optional<std::size_t>>& ends() const { return ends_; }
  // Share of lines that are missing between the first and the last line of ranks.
  double loss() const;

 private:
  bool lay_along(const CallSequence& rank);

  CallSequence calls_;
  std::size_t most_ = 0;  // calls
  std::vector<std::optional<std::size_t>> ends_;
  std::map<CallSequence, std::size_t> known_;
  std::uint64_t spanned_ = 0;
  std::uint64_t seen_ = 0;
};

}  // namespace faultline
