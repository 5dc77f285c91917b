#include "simulate/schedule.h"

#include <deque>
#include <unordered_map>

#include "simulate/chance.h"

namespace faultline::simulation {
namespace {

// A program runs ahead of its GPU until it reads a result, at the same place on all ranks, or until
// its queue is full, which differs by a few calls.
constexpr std::uint64_t kLeastAhead = 4;
constexpr std::uint64_t kMostAhead = 12;
constexpr std::uint64_t kMostApart = 4;

class Walk {
 public:
  Walk(const Communicators& communicators, const Program& program, int from)
      : communicators_(communicators),
        program_(program),
        walkers_(static_cast<std::size_t>(communicators.at(0).size())),
        arrivals_(static_cast<std::size_t>(communicators.count())) {
    for (std::size_t rank = 0; rank < walkers_.size(); ++rank) {
      walkers_[rank].step = from;
      walkers_[rank].collectives.assign(static_cast<std::size_t>(communicators.slots()), 0);
      load(static_cast<int>(rank));
      wake(static_cast<int>(rank));
    }
    while (!awake_.empty()) {
      const int rank = awake_.front();
      awake_.pop_front();
      walkers_[static_cast<std::size_t>(rank)].awake = false;
      while (advance(rank)) {
      }
    }
  }

  Stand stand(int rank, std::uint64_t ahead) {
    Walker& at = walkers_[static_cast<std::size_t>(rank)];
    // The rank has enqueued the launch that it waits in, and some after it. A rank that has
    // enqueued its last launch waits for it before it leaves.
    const bool left = ended(at);
    const Place inside{at.step, static_cast<int>(at.next)};
    for (std::uint64_t i = 0; i <= ahead && !ended(at); ++i) {
      if ((*at.calls)[at.next].function == Function::halt) break;
      at.next = launch_end(*at.calls, at.next);
      if (at.next >= at.calls->size()) next_step(rank);
    }
    return {left, inside, {at.step, static_cast<int>(at.next)}};
  }

 private:
  struct Walker {
    int step = 0;
    std::size_t next = 0;  // the launch that it is in, as an index into the step's calls
    bool begun = false;    // whether it has begun that launch
    bool awake = false;
    const std::vector<Call>* calls = nullptr;
    std::vector<Call> scratch;
    std::vector<std::uint64_t> collectives;  // how many it has begun, by slot
  };

  // The collectives of a communicator that not all members have begun.
  struct Arrivals {
    struct One {
      Call call;
      int arrived = 0;
      bool stuck = false;
    };
    std::deque<One> open;
    std::uint64_t first = 0;  // the number of open.front()
  };

  struct Lane {                                // the transfers from one rank to another
    std::deque<std::uint64_t> sent, received;  // bytes of each, from number `first` on
    std::uint64_t sends = 0, receives = 0;     // begun
  };

  bool ended(const Walker& at) const { return at.step >= program_.steps(); }

  void load(int rank) {
    Walker& at = walkers_[static_cast<std::size_t>(rank)];
    at.next = 0;
    while (!ended(at)) {
      at.calls = &program_.of(rank, at.step, at.scratch);
      if (!at.calls->empty()) return;
      ++at.step;
    }
  }
  void next_step(int rank) {
    ++walkers_[static_cast<std::size_t>(rank)].step;
    load(rank);
  }

  void wake(int rank) {
    Walker& at = walkers_[static_cast<std::size_t>(rank)];
    if (at.awake) return;
    at.awake = true;
    awake_.push_back(rank);
  }

  static std::uint64_t lane_key(int communicator, int from, int to) {
    return (static_cast<std::uint64_t>(communicator) << 40) |
           (static_cast<std::uint64_t>(from) << 20) | static_cast<std::uint64_t>(to);
  }

  bool advance(int rank) {
    Walker& at = walkers_[static_cast<std::size_t>(rank)];
    if (ended(at)) return false;
    const Function function = (*at.calls)[at.next].function;
    if (function == Function::halt) return false;
    const std::size_t end = launch_end(*at.calls, at.next);
    if (function != Function::speak) {
      if (!at.begun) begin(rank, at, end);
      at.begun = true;
      if (!done(rank, at, end)) return false;
    }
    at.begun = false;
    at.next = end;
    if (at.next >= at.calls->size()) next_step(rank);
    return true;
  }

  void begin(int rank, Walker& at, std::size_t end) {
    for (std::size_t i = at.next; i < end; ++i) {
      const Call& call = (*at.calls)[i];
      const Seat seat = communicators_.seats(rank)[call.slot];
      const Communicator& group = communicators_.at(seat.communicator);
      if (is_peer_to_peer(call.function)) {
        const bool sends = call.function == Function::send;
        Lane& lane = lanes_[sends ? lane_key(seat.communicator, seat.rank, call.root)
                                  : lane_key(seat.communicator, call.root, seat.rank)];
        (sends ? lane.sent : lane.received).push_back(call.count * bytes_of(call.datatype));
        ++(sends ? lane.sends : lane.receives);
        wake(group.members[static_cast<std::size_t>(call.root)]);
        continue;
      }
      Arrivals& arrivals = arrivals_[static_cast<std::size_t>(seat.communicator)];
      const std::uint64_t number = at.collectives[call.slot]++;
      while (arrivals.first + arrivals.open.size() <= number) arrivals.open.push_back({call});
      Arrivals::One& one = arrivals.open[number - arrivals.first];
      one.stuck = one.stuck || call.broken || !one.call.same_signature(call);
      if (++one.arrived < group.size() || one.stuck) continue;
      for (const int member : group.members) wake(member);
      while (!arrivals.open.empty() && arrivals.open.front().arrived == group.size() &&
             !arrivals.open.front().stuck) {
        arrivals.open.pop_front();
        ++arrivals.first;
      }
    }
  }

  bool done(int rank, const Walker& at, std::size_t end) {
    for (std::size_t i = at.next; i < end; ++i) {
      const Call& call = (*at.calls)[i];
      const Seat seat = communicators_.seats(rank)[call.slot];
      if (is_peer_to_peer(call.function)) {
        if (call.broken || !met(seat, call)) return false;
        continue;
      }
      std::uint64_t number = at.collectives[call.slot] - 1;
      for (std::size_t later = i + 1; later < end; ++later)
        if (!is_peer_to_peer((*at.calls)[later].function) && (*at.calls)[later].slot == call.slot)
          --number;
      const Arrivals& arrivals = arrivals_[static_cast<std::size_t>(seat.communicator)];
      if (number < arrivals.first) continue;
      const Arrivals::One& one = arrivals.open[number - arrivals.first];
      if (one.stuck || one.arrived < communicators_.at(seat.communicator).size()) return false;
    }
    return true;
  }

  // Whether the other side has begun as many, of the same sizes: the calls of a rank's current
  // launch are the last of its lanes.
  bool met(const Seat& seat, const Call& call) {
    const bool sends = call.function == Function::send;
    Lane& lane = lanes_[sends ? lane_key(seat.communicator, seat.rank, call.root)
                              : lane_key(seat.communicator, call.root, seat.rank)];
    if (sends ? lane.receives < lane.sends : lane.sends < lane.receives) return false;
    while (!lane.sent.empty() && !lane.received.empty()) {
      if (lane.sent.front() != lane.received.front()) return false;
      lane.sent.pop_front();
      lane.received.pop_front();
    }
    return true;
  }

  const Communicators& communicators_;
  const Program& program_;
  std::vector<Walker> walkers_;
  std::vector<Arrivals> arrivals_;
  std::unordered_map<std::uint64_t, Lane> lanes_;
  std::deque<int> awake_;
};

}  // namespace

std::vector<Stand> stands(const Cluster& cluster, const Communicators& communicators,
                          const Program& program, int from) {
  Walk walk(communicators, program, from);
  std::vector<Stand> all;
  all.reserve(static_cast<std::size_t>(cluster.ranks()));
  const std::uint64_t seed = cluster.options().seed;
  const std::uint64_t ahead =
      kLeastAhead + chance(seed, 0xa4ead) % (kMostAhead - kLeastAhead - kMostApart);
  for (int rank = 0; rank < cluster.ranks(); ++rank)
    all.push_back(walk.stand(rank, ahead + chance(seed, 0xa4ead, rank) % kMostApart));
  return all;
}

}  // namespace faultline::simulation
