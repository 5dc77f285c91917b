#include "rules/picture/calls/waits_for_late.h"

#include <algorithm>
#include <map>

namespace faultline {
namespace {

// Shorter pauses are only the time that printing takes.
constexpr std::int64_t kShortestPauseMs = 20;

struct DatedCall {
  std::int64_t at_ms = 0;  // since 1970
  std::size_t member = 0;
  std::uint64_t entered = 0;  // collectives of the communicator up to this one
  auto operator<=>(const DatedCall&) const = default;
};

// The calls of a communicator that are compared.
struct Compared {
  std::vector<std::size_t> members;
  std::int64_t from_ms = 0;  // all members' calls are known from here on
  std::int64_t to_ms = 0;
  std::map<std::size_t, LateMember> late;
};

// Stamps in whole seconds do not show who came last.
bool is_dated(const Member& member) {
  constexpr std::size_t kFewest = 8;
  constexpr int kSecondMs = 1000;
  if (member.recent.size() < kFewest) return false;
  bool whole_seconds = true;
  for (std::size_t i = 0; i < member.recent.size(); ++i) {
    if (member.recent[i].at_ms == RecentCall::kUndated) return false;
    whole_seconds &= member.recent[i].at_ms % kSecondMs == 0;
  }
  return !whole_seconds;
}

// Ranks that send to each other come one after the other by design; and if a member's log is
// missing, that member may be the one that the others wait for.
bool can_be_compared(const View& view, const Alignment& alignment) {
  if (alignment.members.size() < 3 || alignment.basis == Basis::sequence || alignment.divergence ||
      !view.communicators[alignment.communicator].are_all(alignment.members.size()))
    return false;
  return std::ranges::all_of(alignment.members, [&](std::size_t index) {
    const Member& member = view.member(index);
    return member.point_to_point == 0 && is_dated(member);
  });
}

class Timeline {
 public:
  explicit Timeline(const View& view)
      : view_(view),
        compared_(view.communicators.size()),
        entered_(view.job.progress().members().size()) {
    for (const Alignment& alignment : view.alignments) read(alignment);
    std::ranges::sort(calls_);
  }

  std::vector<LateMember> run() {
    std::int64_t last = 0;
    for (const DatedCall& call : calls_) {
      if (last != 0 && call.at_ms - last >= kShortestPauseMs) lay(call, last);
      entered_[call.member] = call.entered;
      last = call.at_ms;
    }
    std::vector<LateMember> all;
    for (const Compared& compared : compared_)
      if (auto latest = latest_of(compared)) all.push_back(*latest);
    return all;
  }

 private:
  void read(const Alignment& alignment) {
    Compared& compared = compared_[alignment.communicator];
    const bool counts = can_be_compared(view_, alignment);
    for (std::size_t i = 0; i < alignment.members.size(); ++i) {
      const std::size_t index = alignment.members[i];
      const Member& member = view_.member(index);
      if (!is_dated(member)) continue;
      // Adds the year or the time zone that the lines of its source leave out.
      std::int64_t from_ms = std::int64_t{member.dated_from_s} * 1000;
      const EventTime dated = view_.job.dated(member.last_line);
      if (dated.wall_us && member.last_line.time.wall_us)
        from_ms += (*dated.wall_us - *member.last_line.time.wall_us) / 1000;
      const std::uint64_t before =
          alignment.positions[i] -
          std::min<std::uint64_t>(alignment.positions[i], member.recent.size());
      for (std::size_t k = 0; k < member.recent.size(); ++k)
        calls_.push_back({from_ms + member.recent[k].at_ms, index, before + k + 1});
      if (!counts) continue;
      entered_[index] = before;
      const std::int64_t first = from_ms + member.recent[0].at_ms;
      compared.members.push_back(index);
      compared.from_ms = std::max(compared.from_ms, first);
      compared.to_ms = std::max(compared.to_ms, calls_.back().at_ms);
    }
  }

  // No rank called anything from `since` until this call.
  void lay(const DatedCall& call, std::int64_t since) {
    const std::size_t which = view_.communicator_of[call.member];
    if (which == kNoCommunicator) return;
    Compared& compared = compared_[which];
    if (compared.members.empty() || since < compared.from_ms) return;
    const bool alone = std::ranges::all_of(compared.members, [&](std::size_t other) {
      return other == call.member || entered_[other] >= call.entered;
    });
    if (!alone) return;
    LateMember& late = compared.late[call.member];
    const std::int64_t pause = call.at_ms - since;
    ++late.pauses;
    late.paused_ms += pause;
    late.longest_ms = std::max(late.longest_ms, pause);
  }

  std::optional<LateMember> latest_of(const Compared& compared) const {
    if (compared.late.empty()) return std::nullopt;
    const auto most = std::ranges::max_element(
        compared.late, {}, [](const auto& entry) { return entry.second.paused_ms; });
    LateMember late = most->second;
    late.member = most->first;
    late.communicator = view_.communicator_of[late.member];
    late.span_ms = compared.to_ms - compared.from_ms;
    for (const auto& [member, other] : compared.late)
      if (member != late.member) late.others_ms += other.paused_ms;
    return late;
  }

  const View& view_;
  std::vector<Compared> compared_;      // by communicator
  std::vector<std::uint64_t> entered_;  // by member
  std::vector<DatedCall> calls_;
};

}  // namespace

std::vector<LateMember> late_members(const View& view) { return Timeline(view).run(); }

}  // namespace faultline
