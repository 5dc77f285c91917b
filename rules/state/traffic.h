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
  std::uint64_t count_is_size : 1 = 0;  // bytes or elements is not known
  std::uint64_t datatype : 8 = 0;

  bool operator==(const Payload&) const = default;
};

Payload message_of(const Signature& signature);

// nullopt: the datatype or the unit is not known.
std::optional<std::uint64_t> bytes_of(const Payload& message);

// False also where they cannot be compared.
bool differ_in_size(const Payload& sent, const Payload& received);

// The Sends of one member to one peer, or its Recvs from it. Calls that move nothing are left out:
// many programs make only one half of them.
struct Flow {
  static constexpr std::size_t kKept = 4;
  static constexpr std::size_t kLines = 8;

  int peer = 0;              // rank in the communicator
  std::uint32_t source = 0;  // of the last call, as are the next three
  std::uint64_t line = 0;
  std::uint64_t offset = 0;
  std::uint32_t op_count = 0;  // its lower half
  std::uint32_t calls = 0;
  std::uint32_t grouped = 0;        // of them, how many shared a launch with one to the other side
  std::uint8_t grouped_lately = 0;  // of the last eight, a bit for each that did; the last is 1
  std::array<Payload, kKept> messages;  // the last few

  std::array<std::uint32_t, kLines> lines{};  // of the last few, their lower half

  // How many of the calls stand before this line of its source; nullopt: that is too long ago.
  std::optional<std::uint32_t> calls_before(std::uint64_t before_line) const;

  // The line of the which-th call, counted from 0; nullopt: not made or too long ago.
  std::optional<std::uint64_t> line_of(std::uint64_t which) const;

  // Whether the which-th call shared a launch with one to the other side, if it is one of the last.
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

  std::uint32_t collective_source = 0;  // where its last collective stands
  std::uint64_t collective_line = 0;    // 0: none was called
  bool complete = true;                 // false: not all could be counted

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
  // Comes before the runs of a batch.
  void enter(const Batch& batch);
  void apply(const Entered& entered, std::uint32_t source, const Batch& batch, const CallRun& run);

  const MemberTraffic& of(std::size_t member) const;  // an index into Progress::members()

  // As Progress::pack.
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
