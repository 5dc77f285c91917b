#include "rules/picture/calls/queue_replay.h"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace faultline {
namespace {

// A large all-to-all has too many flows to examine each.
constexpr std::size_t kMostFlows = 100'000;

// Small, because each worker has a thousand.
struct QueuedCall {
  std::uint64_t line = 0;
  std::uint64_t number = 0;  // among the collectives, or among the Sends or Recvs to that peer
  std::uint32_t communicator = 0;
  std::uint32_t member = 0;
  std::uint32_t peer = 0;  // a member; only for a Send or Recv
  bool collective = true;
  bool sends = false;
};

// Adjacent Sends and Recvs count as one launch.
struct Queue {
  std::vector<QueuedCall> calls;
  std::size_t next = 0;
  std::size_t reached = 0;  // calls that have arrived
  std::size_t left = 0;     // calls of the current launch that have not ended

  bool over() const { return next >= calls.size(); }
  std::size_t end_of_launch() const {
    std::size_t end = next + 1;
    if (!calls[next].collective)
      while (end < calls.size() && !calls[end].collective) ++end;
    return end;
  }
};

class Replay {
 public:
  explicit Replay(const View& view) : view_(view), queues_(view.workers.all.size()) {}

  bool read() {
    for (std::size_t which = 0; which < view_.alignments.size(); ++which) {
      const Alignment& alignment = view_.alignments[which];
      if (alignment.members.size() < 2 && alignment.unaligned.empty()) continue;
      if (alignment.basis != Basis::counted || alignment.divergence ||
          !view_.communicators[which].are_all(alignment.members.size()))
        return false;
      for (const std::size_t member : alignment.members) {
        const Member& it = view_.member(member);
        const auto& init = it.init;
        if (!it.from_start || !view_.job.traffic().of(member).complete || view_.is_torn(member) ||
            view_.is_live(member))
          return false;
        if (init) by_rank_[{which, init->rank}] = member;
      }
    }
    number_collectives();
    for (std::size_t worker = 0; worker < queues_.size(); ++worker)
      if (!read(worker)) return false;
    return true;
  }

  // Each call counts the ranks that entered it, and wakes the waiting ones when it ends.
  void run() {
    for (std::size_t worker = 0; worker < queues_.size(); ++worker) ready_.push_back(worker);
    while (!ready_.empty()) {
      const std::size_t worker = ready_.front();
      ready_.pop_front();
      go_on(worker);
    }
  }

  QueueReplay result() {
    QueueReplay result;
    result.pending.resize(queues_.size());
    for (std::size_t worker = 0; worker < queues_.size(); ++worker) {
      Queue& queue = queues_[worker];
      if (queue.calls.empty()) continue;
      std::uint64_t& pending = result.pending[worker];
      while (!queue.over()) {
        queue.next = queue.end_of_launch();
        ++pending;
      }
      if (pending == 0) {
        result.drained.push_back(worker);
        continue;
      }
      result.least_pending =
          result.waiting == 0 ? pending : std::min(result.least_pending, pending);
      result.most_pending = std::max(result.most_pending, pending);
      ++result.waiting;
    }
    return result;
  }

 private:
  // The collectives of one communicator, by position.
  struct Collectives {
    struct Collective {
      std::size_t arrived = 0;
      std::vector<std::size_t> waiting;  // workers
    };
    std::uint64_t first = 0;  // the oldest that any member is known to have made
    std::vector<Collective> calls;
    std::vector<std::uint64_t> known_from;  // by member, ascending

    bool holds(std::uint64_t number) const {
      return number >= first && number - first < calls.size();
    }
    Collective& at(std::uint64_t number) { return calls[number - first]; }
    // How many members have made so many calls since that this one is no longer kept.
    std::size_t forgotten(std::uint64_t number) const {
      return static_cast<std::size_t>(known_from.end() -
                                      std::ranges::upper_bound(known_from, number));
    }
  };

  // The Sends, or the Recvs, of one member to another.
  struct Lane {
    std::uint64_t made = 0;
    // number of the call that is awaited; the waiting worker
    std::vector<std::pair<std::uint64_t, std::size_t>> waiting;
  };

  void number_collectives() {
    collectives_.resize(view_.alignments.size());
    for (std::size_t which = 0; which < view_.alignments.size(); ++which) {
      const Alignment& alignment = view_.alignments[which];
      Collectives& all = collectives_[which];
      std::uint64_t end = 0;
      for (const std::size_t member : alignment.members) {
        const Member& it = view_.member(member);
        all.known_from.push_back(it.place.position - it.recent.size());
        end = std::max(end, it.place.position);
      }
      if (all.known_from.empty()) continue;
      std::ranges::sort(all.known_from);
      all.first = all.known_from.front();
      all.calls.resize(end - all.first);
    }
  }

  bool read(std::size_t worker) {
    const std::optional<std::uint64_t> from = known_from(view_.workers.all[worker]);
    if (!from) return false;
    std::vector<QueuedCall>& calls = queues_[worker].calls;
    // Calls before this line are taken to have run.
    const auto add = [&](const QueuedCall& call) {
      if (call.line < *from)
        note_as_run(call);
      else
        calls.push_back(call);
    };
    for (const std::size_t index : view_.workers.all[worker].members) {
      const Member& member = view_.member(index);
      if (member.calls == 0) continue;
      const std::size_t which = view_.communicator_of[index];
      QueuedCall call{.communicator = static_cast<std::uint32_t>(which),
                      .member = static_cast<std::uint32_t>(index)};
      call.number = member.place.position - member.recent.size();
      for (std::size_t i = 0; i < member.recent.size(); ++i, ++call.number) {
        if (!collectives_[which].holds(call.number)) return false;
        call.line = member.recent[i].line;
        add(call);
      }
      call.collective = false;
      for (const PeerCall kind : {PeerCall::send, PeerCall::receive})
        for (const Flow& flow : view_.job.traffic().of(index).flows(kind)) {
          const auto peer = by_rank_.find({which, flow.peer});
          if (peer == by_rank_.end()) return false;
          call.peer = static_cast<std::uint32_t>(peer->second);
          call.sends = kind == PeerCall::send;
          for (call.number = oldest_known(flow); call.number < flow.calls; ++call.number) {
            call.line = *flow.line_of(call.number);
            add(call);
          }
        }
    }
    std::ranges::stable_sort(calls, {}, &QueuedCall::line);
    return true;
  }

  static std::uint64_t oldest_known(const Flow& flow) {
    return flow.calls - std::min<std::uint64_t>(flow.calls, Flow::kLines);
  }

  // The line from which on all calls of a worker are known; nullopt if they have no common order.
  std::optional<std::uint64_t> known_from(const Worker& worker) {
    std::uint64_t from = 0;
    std::optional<std::uint32_t> source;
    for (const std::size_t index : worker.members) {
      const Member& member = view_.member(index);
      if (member.calls == 0) continue;
      if (view_.communicator_of[index] == kNoCommunicator) return std::nullopt;
      // Line numbers of different files give no order.
      if (source.value_or(member.calls_source) != member.calls_source) return std::nullopt;
      source = member.calls_source;
      if (member.place.position > member.recent.size() && !member.recent.empty())
        from = std::max(from, member.recent[0].line);
      for (const PeerCall kind : {PeerCall::send, PeerCall::receive})
        for (const Flow& flow : view_.job.traffic().of(index).flows(kind)) {
          if (++flows_ > kMostFlows || flow.source != *source) return std::nullopt;
          const std::uint64_t oldest = oldest_known(flow);
          if (oldest > 0) from = std::max(from, *flow.line_of(oldest));
        }
    }
    return from;
  }

  void note_as_run(const QueuedCall& call) {
    if (call.collective) {
      ++collectives_[call.communicator].at(call.number).arrived;
    } else {
      std::uint64_t& made = lane_of(call).made;
      made = std::max(made, call.number + 1);
    }
  }

  void go_on(std::size_t worker) {
    Queue& queue = queues_[worker];
    while (!queue.over() && queue.left == 0) {
      const std::size_t end = queue.end_of_launch();
      for (; queue.reached < end; ++queue.reached) arrive(queue.calls[queue.reached]);
      for (std::size_t i = queue.next; i < end; ++i)
        if (!ends(queue.calls[i], worker)) wait_in(queue.calls[i], worker);
      if (queue.left == 0) queue.next = end;
    }
  }

  void wait_in(const QueuedCall& call, std::size_t worker) {
    ++queues_[worker].left;
    if (call.collective)
      collectives_[call.communicator].at(call.number).waiting.push_back(worker);
    else
      answers_to(call).waiting.emplace_back(call.number, worker);
  }

  void wake(std::size_t worker) {
    Queue& queue = queues_[worker];
    if (--queue.left > 0) return;
    queue.next = queue.end_of_launch();
    ready_.push_back(worker);
  }

  void arrive(const QueuedCall& call) {
    note_as_run(call);
    if (call.collective) {
      if (!all_arrived(call)) return;
      for (const std::size_t worker :
           std::exchange(collectives_[call.communicator].at(call.number).waiting, {}))
        wake(worker);
      return;
    }
    Lane& lane = lane_of(call);
    std::vector<std::size_t> answered;
    std::erase_if(lane.waiting, [&](const auto& waiting) {
      if (waiting.first >= lane.made) return false;
      answered.push_back(waiting.second);
      return true;
    });
    for (const std::size_t worker : answered) wake(worker);
  }

  bool all_arrived(const QueuedCall& call) {
    Collectives& all = collectives_[call.communicator];
    return all.at(call.number).arrived + all.forgotten(call.number) >= all.known_from.size();
  }

  Lane& lane_of(const QueuedCall& call) { return lanes_[{call.member, call.peer, call.sends}]; }
  Lane& answers_to(const QueuedCall& call) { return lanes_[{call.peer, call.member, !call.sends}]; }

  bool ends(const QueuedCall& call, std::size_t worker) {
    if (call.collective) return all_arrived(call);
    return view_.workers.of_member[call.peer] == worker || answers_to(call).made > call.number;
  }

  const View& view_;
  std::vector<Queue> queues_;
  std::map<std::pair<std::size_t, int>, std::size_t> by_rank_;
  std::vector<Collectives> collectives_;                              // by communicator
  std::map<std::tuple<std::size_t, std::size_t, bool>, Lane> lanes_;  // member, peer, whether sends
  std::deque<std::size_t> ready_;
  std::size_t flows_ = 0;
};

}  // namespace

std::vector<std::size_t> groups_with_short_queues(const View& view, const QueueReplay& replay) {
  constexpr std::uint64_t kLeastGap = 2;  // calls
  std::vector<std::size_t> found;
  std::size_t smallest = replay.pending.size();
  std::vector<std::size_t> by_pending(replay.pending.size());  // workers, the least first
  std::iota(by_pending.begin(), by_pending.end(), std::size_t{0});
  std::ranges::stable_sort(by_pending, {}, [&](std::size_t w) { return replay.pending[w]; });
  for (std::size_t which = 0; which < view.communicators.size(); ++which) {
    const Communicator& communicator = view.communicators[which];
    if (!communicator.are_all(communicator.members.size())) continue;
    std::set<std::size_t> group;
    for (const std::size_t member : communicator.members)
      group.insert(view.workers.of_member[member]);
    if (group.size() < 2 || group.size() >= replay.pending.size()) continue;
    std::uint64_t most_inside = 0;
    for (const std::size_t worker : group)
      most_inside = std::max(most_inside, replay.pending[worker]);
    const auto outside = std::ranges::find_if(
        by_pending, [&](std::size_t worker) { return !group.contains(worker); });
    const std::uint64_t least_outside = replay.pending[*outside];
    // Ranks that stopped have nothing left to run; in a stalled group, some have.
    if (most_inside == 0 || least_outside < most_inside + kLeastGap || group.size() > smallest)
      continue;
    if (group.size() < smallest) found.clear();
    smallest = group.size();
    found.push_back(which);
  }
  return found;
}

std::optional<QueueReplay> replay_queues(const View& view) {
  if (view.lines_are_missing()) return std::nullopt;
  Replay replay(view);
  if (!replay.read()) return std::nullopt;
  replay.run();
  return replay.result();
}

}  // namespace faultline
