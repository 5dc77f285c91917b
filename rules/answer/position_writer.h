// Writes who called what at a position: callers become short lists of ranks, numbers of calls
// become operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "model/call.h"
#include "rules/answer/operations.h"
#include "rules/picture/calls/called.h"

namespace faultline {

OperationView operation_of(const Signature& signature);
OperationView operation_of(const FlightSignature& signature);

class PositionWriter {
 public:
  using RankOf = std::function<int(std::size_t)>;  // of a caller; -1: not known
  using OperationOf = std::function<OperationView(std::uint32_t)>;

  // `callers` must outlive this object.
  PositionWriter(const Callers& callers, const RankOf& rank_of, OperationOf operation_of_call);

  // What was called at the position, counted from the first of those that callers are known of; its
  // number, label and times are left to the caller. Nothing: no call is known there.
  std::optional<PositionView> at(std::size_t place);

 private:
  // Those who called the same at all positions.
  struct Alike {
    const CalledThere* called = nullptr;
    std::vector<int> ranks;  // of those whose rank is known; ascending
    std::size_t count = 0;
  };

  const SomeMembers& members_of(const std::vector<std::size_t>& who);

  std::vector<Alike> alike_;
  OperationOf operation_of_;
  // By those who are meant: most positions have the same, and there may be thousands of ranks.
  std::map<std::vector<std::size_t>, SomeMembers> members_;
};

}  // namespace faultline
