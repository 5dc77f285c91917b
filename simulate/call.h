// The calls of a rank's program.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

namespace faultline::simulation {

enum class Function : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  reduce,
  send,
  recv,
  speak,  // no call: the process prints something here
  halt,   // no call: the process stops here
};

constexpr bool is_peer_to_peer(Function function) {
  return function == Function::send || function == Function::recv;
}

constexpr std::string_view name_of(Function function) {
  constexpr std::string_view kNames[] = {"AllReduce", "AllGather", "ReduceScatter", "Broadcast",
                                         "Reduce",    "Send",      "Recv"};
  return kNames[static_cast<int>(function)];
}

constexpr int kInt8 = 0;
constexpr int kUint8 = 1;
constexpr int kInt32 = 2;
constexpr int kFloat16 = 6;
constexpr int kFloat32 = 7;
constexpr int kBfloat16 = 9;

constexpr std::uint64_t bytes_of(int datatype) {
  constexpr std::uint64_t kBytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return kBytes[datatype];
}

constexpr int kSum = 0;
constexpr int kMax = 2;

struct Call {
  Function function = Function::all_reduce;
  std::uint8_t slot = 0;   // which of the rank's communicators
  bool broken = false;     // all may enter, none leaves
  std::uint8_t group = 0;  // calls in a row with the same number are one launch; 0: alone
  int datatype = kFloat32;
  int operation = kSum;
  int root = 0;  // Send, Recv: the peer; speak: the number of the words
  std::uint64_t count = 1;

  bool same_signature(const Call& other) const {
    return function == other.function && count == other.count && datatype == other.datatype &&
           root == other.root;
  }
};

// A place in a rank's program.
struct Place {
  int step = 0;
  int call = 0;
  auto operator<=>(const Place&) const = default;
};

}  // namespace faultline::simulation
