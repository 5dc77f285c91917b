// NCCL calls: 99 % of a verbose log, so they are kept as numbers, not as events of their own.
#pragma once

#include <boost/describe.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/time.h"

namespace faultline {

// What a rank called, apart from buffers: ranks of one communicator must agree on it.
struct Signature {
  static constexpr int kUserOperation = 5;  // printed mangled, so all user operations are this one

  std::string function;  // AllReduce, Send, …
  std::uint64_t count = 0;
  int datatype = 0;
  int operation = 0;
  int root = 0;                // Send, Recv: the peer
  bool count_is_size = false;  // the dialect that prints "size": bytes or elements is not known
  bool done = false;  // "opCount 1e DONE": this call finished. No NCCL prints it; wrappers do

  // Send, Recv and the one-sided calls pair two ranks; they have no place in the sequence that all
  // ranks share.
  bool point_to_point() const;
  bool reduces() const;  // others move bytes, whatever type they are

  bool operator==(const Signature&) const = default;
};
BOOST_DESCRIBE_STRUCT(Signature, (),
                      (function, count, datatype, operation, root, count_is_size, done))

// "AllReduce(count 7382228, float32, sum)"
std::string to_text(const Signature& signature);
std::string_view datatype_name(int datatype);    // "float32"; "" when unknown
std::string_view operation_name(int operation);  // "sum"; "" when unknown

struct Call {
  std::uint64_t op_count = 0;
  std::uint32_t signature = 0;  // index into the batch's signatures
  std::uint32_t line = 0;       // after the batch's first line
  std::uint32_t offset = 0;     // from the batch's first byte; see offset_of in model/batch.h
  std::uint32_t after_ms = 0;  // since the run's first_time; a line without a time repeats the last
  bool operator==(const Call&) const = default;
};

// Consecutive calls of one process on one communicator.
struct CallRun {
  std::uint32_t order = 0;         // its place among the batch's runs and events
  std::uint32_t speaker = 0;       // index into the batch's speakers
  std::uint64_t communicator = 0;  // a pointer; 0 in DONE lines, which name none
  int nranks = 0;
  std::vector<Call> calls;
  EventTime first_time;
  EventTime last_time;
  std::string last_text;  // the last call's line as it stands in the log
  bool operator==(const CallRun&) const = default;
};

}  // namespace faultline
