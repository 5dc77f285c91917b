#include "rules/picture/calls/queue_replay.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <unordered_map>

namespace faultline {
namespace {

// An all-to-all of many ranks has too many to be looked at each.
constexpr std::size_t kMostFlows = 100'000;

struct QueuedCall {
  std::uint64_t line = 0;
  std::size_t communicator = 0;
  bool collective = true;
  bool sends = false;
  std::size_t member = 0;
  std::size_t peer = kNoCommunicator;  // member, of a Send or Recv
  std::uint64_t number = 0;            // of the collective, or of the Send or Recv to that peer
};

// Sends and Recvs that stand together are taken for one launch.
struct Queue {
  std::vector<QueuedCall> calls;
  std::size_t next = 0;
  std::size_t reached = 0;  // calls that others may count on

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

          alignment.members.size() != static_cast<std::size_t>(view_.communicators[which].nranks))
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
    for (std::size_t worker = 0; worker < queues_.size(); ++worker)
      if (!read(worker)) return false;
    return true;
  }

  void run() {
    std::deque<std::size_t> awake;
    for (std::size_t worker = 0; worker < queues_.size(); ++worker) awake.push_back(worker);
    while (!awake.empty()) {
      const std::size_t worker = awake.front();
      awake.pop_front();
      Queue& queue = queues_[worker];
      while (!queue.over()) {
        const std::size_t end = queue.end_of_launch();
        for (; queue.reached < end; ++queue.reached) arrive(queue.calls[queue.reached], awake);
        if (!std::all_of(queue.calls.begin() + static_cast<std::ptrdiff_t>(queue.next),
                         queue.calls.begin() + static_cast<std::ptrdiff_t>(end),
                         [&](const QueuedCall& call) { return ends(call, worker); }))
          break;
        queue.next = end;
      }
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
  using Key = std::pair<std::size_t, std::uint64_t>;  // communicator, position

  bool read(std::size_t worker) {
    std::uint64_t known_from = 0;
    std::optional<std::uint32_t> source;
    std::vector<QueuedCall>& calls = queues_[worker].calls;
    for (const std::size_t index : view_.workers.all[worker].members) {
      const Member& member = view_.member(index);
      if (member.calls == 0) continue;
      const std::size_t which = view_.communicator_of[index];
      if (which == kNoCommunicator) return false;
      // Line numbers of several files tell no order.
      if (source.value_or(member.calls_source) != member.calls_source) return false;
      source = member.calls_source;
      const std::uint64_t before = member.place.position - member.recent.size();
      if (before > 0 && !member.recent.empty())
        known_from = std::max(known_from, member.recent[0].line);
      for (std::size_t i = 0; i < member.recent.size(); ++i)
        calls.push_back({.line = member.recent[i].line,
                         .communicator = which,
                         .member = index,
                         .number = before + i});
      for (const PeerCall call : {PeerCall::send, PeerCall::receive})
        for (const Flow& flow : view_.job.traffic().of(index).flows(call)) {
          if (++flows_ > kMostFlows || flow.source != *source) return false;
          const auto peer = by_rank_.find({which, flow.peer});
          if (peer == by_rank_.end()) return false;
          const std::uint64_t oldest =
              flow.calls - std::min<std::uint64_t>(flow.calls, Flow::kLines);
          if (oldest > 0) known_from = std::max(known_from, *flow.line_of(oldest));
          for (std::uint64_t number = oldest; number < flow.calls; ++number)
            calls.push_back({.line = *flow.line_of(number),
                             .communicator = which,
                             .collective = false,
                             .sends = call == PeerCall::send,
                             .member = index,
                             .peer = peer->second,
                             .number = number});
        }
    }
    std::ranges::stable_sort(calls, {}, &QueuedCall::line);
    // What stands before all is known of is taken to have run.
    const auto known = std::ranges::find_if(
        calls, [&](const QueuedCall& call) { return call.line >= known_from; });
    for (auto call = calls.begin(); call != known; ++call) note_as_run(*call);
    calls.erase(calls.begin(), known);
    return true;
  }

  void note_as_run(const QueuedCall& call) {
    if (call.collective) {
      ++arrived_[{call.communicator, call.number}];
    } else {
      std::uint64_t& count = lanes_[lane(call)];
      count = std::max(count, call.number + 1);
    }
  }

  static std::tuple<std::size_t, std::size_t, bool> lane(const QueuedCall& call) {
    return {call.member, call.peer, call.sends};
  }

  void arrive(const QueuedCall& call, std::deque<std::size_t>& awake) {
    note_as_run(call);
    if (!call.collective) {
      awake.push_back(view_.workers.of_member[call.peer]);
      return;
    }
    if (!all_arrived(call)) return;
    for (const std::size_t member : view_.alignments[call.communicator].members)
      awake.push_back(view_.workers.of_member[member]);
  }

  bool all_arrived(const QueuedCall& call) const {
    const Alignment& alignment = view_.alignments[call.communicator];
    const auto known = arrived_.find({call.communicator, call.number});
    const std::size_t arrived = known == arrived_.end() ? 0 : known->second;
    if (arrived >= alignment.members.size()) return true;
    // Members that made so many calls since that this one is no longer known of.
    std::size_t forgotten = 0;
    for (const std::size_t member : alignment.members) {
      const Member& it = view_.member(member);
      forgotten += call.number < it.place.position - it.recent.size();
    }
    return arrived + forgotten >= alignment.members.size();
  }

  bool ends(const QueuedCall& call, std::size_t worker) const {
    if (call.collective) return all_arrived(call);
    if (view_.workers.of_member[call.peer] == worker) return true;
    const auto back = lanes_.find({call.peer, call.member, !call.sends});
    return back != lanes_.end() && back->second > call.number;
  }

  const View& view_;
  std::vector<Queue> queues_;
  std::map<std::pair<std::size_t, int>, std::size_t> by_rank_;
  std::map<Key, std::size_t> arrived_;
  std::map<std::tuple<std::size_t, std::size_t, bool>, std::uint64_t> lanes_;
  std::size_t flows_ = 0;
};

}  // namespace

std::vector<std::size_t> groups_with_short_queues(const View& view, const QueueReplay& replay) {
  constexpr std::uint64_t kLeastGap = 2;  // calls
  std::vector<std::size_t> found;
  std::size_t smallest = replay.pending.size();
  for (std::size_t which = 0; which < view.communicators.size(); ++which) {
    const Communicator& communicator = view.communicators[which];
    if (communicator.members.size() != static_cast<std::size_t>(communicator.nranks)) continue;
    std::set<std::size_t> group;
    for (const std::size_t member : communicator.members)
      group.insert(view.workers.of_member[member]);
    if (group.size() < 2 || group.size() >= replay.pending.size()) continue;
    std::uint64_t most_inside = 0;
    std::uint64_t least_outside = UINT64_MAX;
    for (std::size_t worker = 0; worker < replay.pending.size(); ++worker) {
      const std::uint64_t pending = replay.pending[worker];
      if (group.contains(worker))
        most_inside = std::max(most_inside, pending);
      else
        least_outside = std::min(least_outside, pending);
    }
    // Ranks that stopped have nothing left to do; those of a stalled group have, but for some.
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
