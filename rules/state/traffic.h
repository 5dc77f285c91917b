// Traffic: what ranks sent each other. Sends and Recvs have no place in the sequence that all ranks
// share; the n-th Send to a peer pairs with that peer's n-th Recv.
//
// An all-to-all of a thousand ranks has two million flows, so a flow is small and holds no text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/batch.h"
#include "rules/state/progress.h"

namespace faultline {

enum class PeerCall : std::uint8_t { send, receive };

// What one Send or Recv moves.
struct Payload {
  std::uint64_t count : 55 = 0;
  std::uint64_t count_is_size : 1 = 0;  // it is not known whether the count is bytes or elements
  std::uint64_t datatype : 8 = 0;

  bool operator==(const Payload&) const = default;
};

Payload message_of(const Signature& signature);

// nullopt: the datatype or the unit is not known.
std::optional<std::uint64_t> bytes_of(const Payload& message);

// False also if they cannot be compared.
bool differ_in_size(const Payload& sent, const Payload& received);

// The Sends of one member to one peer, or its Recvs from it. Calls that move nothing are left out,
// because many programs make only one half of them.
struct Flow {
  static constexpr std::size_t kKept = 4;
  static constexpr std::size_t kLines = 8;

  int peer = 0;              // rank in the communicator
  std::uint32_t source = 0;  // of the last call; so are the next three
  std::uint64_t line = 0;
  std::uint64_t offset = 0;
  std::uint32_t op_count = 0;  // its lower half
  std::uint32_t calls = 0;
  std::uint32_t grouped = 0;  // how many of them shared a launch with a call in the other direction
  std::uint8_t grouped_lately = 0;      // a bit for each of the last eight; 1 is the last call
  std::array<Payload, kKept> messages;  // the last few

  std::array<std::uint32_t, kLines> lines{};  // lower halves of the lines of the last few

  // How many of the calls are before this line of the source; nullopt: too long ago.
  std::optional<std::uint32_t> calls_before(std::uint64_t before_line) const;

  // The line of the which-th call, counted from 0; nullopt: not made or too long ago.
  std::optional<std::uint64_t> line_of(std::uint64_t which) const;

  // Whether the which-th call shared a launch with a call in the other direction; false also if it
  // is too long ago.
  bool is_grouped(std::uint64_t which) const;

  // The which-th message, counted from 0; nullopt: not made or not kept.
  std::optional<Payload> message(std::uint64_t which) const;
  const Payload& last() const { return messages[(calls - 1) % kKept]; }
};

static_assert(sizeof(Flow) <= 104);

// All flows of a member.
class MemberTraffic {
 public:
  const Flow* find(PeerCall call, int peer) const;  // nullptr: no such calls
  const std::vector<Flow>& flows(PeerCall call) const {
    return of(call).flows;  // in the order in which they began
  }
  bool empty() const { return sent_.flows.empty() && received_.flows.empty(); }

  std::uint32_t collective_source = 0;  // the source of its last collective
  std::uint64_t collective_line = 0;    // 0: none was called
  bool complete = true;                 // false: not all calls could be counted

 private:
  friend class Traffic;

  struct OneWay {
    std::vector<Flow> flows;
    std::vector<std::uint32_t> by_peer;  // indices into flows
  };

  const OneWay& of(PeerCall call) const { return call == PeerCall::send ? sent_ : received_; }

  OneWay sent_;
  OneWay received_;
};

class Traffic {
 public:
  // Call it before the runs of a batch.
  void enter(const Batch& batch);
  void apply(const Entered& entered, std::uint32_t source, const Batch& batch, const CallRun& run);

  const MemberTraffic& of(std::size_t member) const;  // an index into Progress::members()

  // See Progress::pack.
  void pack(ByteWriter& out) const;
  static Traffic unpack(ByteReader& in, std::size_t sources);

 private:
  enum class Kind : std::uint8_t { collective, send, receive, other };
  struct Meaning {
    Kind kind = Kind::other;
    int peer = 0;
    Payload message;
  };

  // nullptr: there are too many.
  Flow* flow(MemberTraffic::OneWay& one_way, int peer);

  std::vector<Meaning> meanings_;  // by the signatures of the batch that was entered

  std::vector<MemberTraffic> members_;
  std::size_t flows_ = 0;
};

}  // namespace faultline
