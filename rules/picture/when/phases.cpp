#include "rules/picture/when/phases.h"

#include <algorithm>
#include <set>
#include <utility>

#include "rules/picture/view.h"
#include "rules/picture/when/between.h"
#include "rules/picture/who/torch_crew.h"

namespace faultline {
namespace {

constexpr std::int64_t kSecondUs = 1'000'000;
constexpr std::int64_t kMinuteUs = 60 * kSecondUs;
// A fault that stops a job does so within this time.
constexpr std::int64_t kLongestDelayUs = 35 * kMinuteUs;
// A fault that first makes a rank hang makes it end within this time.
constexpr std::int64_t kLongestHangUs = 180 * kMinuteUs;
// A fault this shortly before the processes may keep them from starting.
constexpr std::int64_t kLongStartUs = 60 * kMinuteUs;
// A fault that is reported this soon after the end may have been there before it.
constexpr std::int64_t kEndUs = 3 * kSecondUs;
constexpr int kCleanup = 45;  // the Xid at the end of a process

using Stamps = std::array<EventTime, 2>;

bool is_known(const EventTime& time) { return time.wall_us || time.uptime_us; }

bool is_earlier(const EventTime& a, const EventTime& b) {
  if (a.wall_us && b.wall_us) return *a.wall_us < *b.wall_us;
  if (a.uptime_us && b.uptime_us) return *a.uptime_us < *b.uptime_us;
  return a.wall_us.has_value() && !b.wall_us;
}

void keep_earliest(Stamps& stamps, const EventTime& time) {
  if (!is_known(time)) return;
  EventTime& kept = stamps[time.zone_assumed];
  if (!is_known(kept) || is_earlier(time, kept)) kept = time;
}

void keep_latest(Stamps& stamps, const EventTime& time) {
  if (!is_known(time)) return;
  EventTime& kept = stamps[time.zone_assumed];
  if (!is_known(kept) || is_earlier(kept, time)) kept = time;
}

// By the clocks that both have. After any of the stamps counts as after.
Order order_to(const EventTime& time, const Stamps& stamps, bool same_host) {
  Order order = Order::cannot_tell;
  for (const EventTime& stamp : stamps) {
    if (!is_known(stamp)) continue;
    const Order here = order_of(time, stamp, same_host);
    if (here == Order::after) return here;
    if (here == Order::before) order = here;
  }
  return order;
}

EventTime moved_back(EventTime time, std::int64_t us) {
  if (time.wall_us) *time.wall_us -= us;
  if (time.uptime_us) *time.uptime_us -= us;
  return time;
}

// Whether the process ended by itself.
bool chose_to_end(const ProcessExit& exit) {
  return exit.exit_code && *exit.exit_code > 0 && !exit.signal && !exit.told_to &&
         *exit.exit_code < 128;
}

}  // namespace

BootOfLog boot_of(const View& view, const std::string& spoken_host, const LineRef& line) {
  return {line.source, spoken_host,
          view.job.boot_times().boots_before(line.source, spoken_host, line.line)};
}

Phases::Phases(const View& view) : has_members_(!view.members.empty()) {
  lives_.resize(view.workers.all.size());
  for (std::size_t i = 0; i < lives_.size(); ++i) {
    const Worker& worker = view.workers.all[i];
    of_rank_[worker.rank].push_back(i);
    everyone_.lives.push_back(i);
    (worker.host.empty() ? unnamed_ : of_host_[worker.host]).lives.push_back(i);
    if (!worker.sender_host.empty()) of_sender_[worker.sender_host].lives.push_back(i);
  }
  learn_calls(view);
  if (!view.job.torch().empty()) learn_torch(view);
  learn_endurance();
  learn_kernels(view);
}

void Phases::began_at(const EventTime& time, const std::string& host) {
  keep_earliest(begun_, time);
  keep_earliest(begun_on_[host], time);
  keep_earliest(sign_, time);
}

void Phases::learn_calls(const View& view) {
  for (const std::size_t index : view.members) {
    const Member& member = view.member(index);
    began_at((member.init_line.known() ? member.init_line : member.last_line).time, member.host);
    keep_earliest(first_call_, member.first_line.time);
    keep_latest(last_call_, member.last_line.time);
    keep_latest(lives_[view.workers.of_member[index]].called, member.last_line.time);
  }
  for (const ProcessSeen& seen : view.job.processes().all())
    if (view.in_attempt(seen.process)) began_at(seen.first.time, seen.host);
  // NCCL may date its warnings even if no other line has a date.
  for (const RemarkingProcess& process : view.job.remarks().processes())
    for (const SaidRemark& said : process.said)
      if (said.warns() && view.in_attempt(process.process)) keep_earliest(sign_, said.first.time);
}

void Phases::learn_torch(const View& view) {
  bool timed_out = false;
  std::vector<EventTime> ends;
  const TorchCrew& crew = view.crew();
  for (const TorchRank* rank : crew.ranks())
    for (const TorchTimeout& timeout : rank->timeouts) {
      if (!crew.in_attempt(timeout.line)) continue;
      timed_out = true;
      ends.push_back(timeout.line.time);
      const EventTime called = called_at(timeout);
      keep_earliest(sign_, called);
      keep_latest(last_call_, called);
      const auto worker = of_rank_.find(rank->rank);
      if (rank->guessed || rank->rank < 0 || worker == of_rank_.end()) continue;
      keep_latest(lives_[worker->second.front()].called, called);
    }
  std::map<int, Stamps> by_rank;
  std::map<std::int64_t, Stamps> by_pid;
  for (const auto& line : view.job.torch().exits()) {
    if (!crew.in_attempt(line.line)) continue;
    ends.push_back(line.line.time);
    keep_earliest(sign_, line.line.time);
    // If watchdogs ended ranks, an exit does not show that the rank was working until then.
    if (timed_out || !chose_to_end(line.fact)) continue;
    for (const int rank : line.fact.ranks) keep_latest(by_rank[rank], line.line.time);
    if (line.fact.pid != 0) keep_latest(by_pid[line.fact.pid], line.line.time);
  }
  const auto acted = [&](Life& life, const auto& latest, auto name) {
    if (const auto named = latest.find(name); named != latest.end())
      for (const EventTime& time : named->second) keep_latest(life.acted, time);
  };
  for (const auto& [rank, lives] : of_rank_)
    for (const std::size_t i : lives) acted(lives_[i], by_rank, rank);
  for (std::size_t i = 0; i < lives_.size(); ++i) acted(lives_[i], by_pid, view.workers.all[i].pid);
  choose_end(ends);
}

// A launcher may have restarted the job after what looked like its end, so an end before the last
// call counts only if there is no later one.
void Phases::choose_end(const std::vector<EventTime>& ends) {
  for (const EventTime& end : ends)
    if (order_to(end, last_call_, true) != Order::before) keep_earliest(ended_, end);
  for (std::size_t kind = 0; kind < ended_.size(); ++kind) {
    if (is_known(ended_[kind])) continue;
    Stamps latest;
    for (const EventTime& end : ends) keep_latest(latest, end);
    ended_[kind] = latest[kind];
  }
}

template <class Do>
void Phases::for_each_crowd(Do&& act) {
  for (auto& [host, crowd] : of_host_) act(crowd);
  for (auto& [host, crowd] : of_sender_) act(crowd);
  act(unnamed_);
  act(everyone_);
}

void Phases::learn_endurance() {
  for (Life& life : lives_) {
    for (const EventTime& time : life.called) life.outlived.learn(time, kLongestDelayUs);
    for (const EventTime& time : life.acted) life.outlived.learn(time, kLongestHangUs);
  }
  for_each_crowd([&](Crowd& crowd) {
    std::vector<Outlived> all;
    for (const std::size_t i : crowd.lives) all.push_back(lives_[i].outlived);
    crowd.endurance = Endurance(std::move(all));
  });
}

void Phases::learn_kernels(const View& view) {
  std::set<std::pair<const Crowd*, std::int64_t>> pids;
  for_each_crowd([&](Crowd& crowd) {
    for (const std::size_t i : crowd.lives) pids.emplace(&crowd, view.workers.all[i].pid);
  });
  for (const XidIncident& incident : view.job.hardware().xids()) {
    if (!incident.first.time.uptime_us || incident.pids.empty()) continue;
    const std::string host = view.job.host_of(incident.spoken_host, incident.source);
    if (host.empty()) continue;
    const Crowd* crowd = &crowd_on(host);
    if (std::ranges::none_of(incident.pids,
                             [&](std::int64_t pid) { return pids.contains({crowd, pid}); }))
      continue;
    const std::int64_t first = *incident.first.time.uptime_us;
    const std::int64_t last = incident.last.time.uptime_us.value_or(first);
    const auto [known, is_new] =
        named_.try_emplace(boot_of(view, incident.spoken_host, incident.first));
    Named& named = known->second;
    named.first_us = is_new ? first : std::min(named.first_us, first);
    named.last_us = is_new ? last : std::max(named.last_us, last);
    if (incident.code == kCleanup)
      named.cleaned_up_us = std::min(named.cleaned_up_us.value_or(first), first);
  }
}

const Phases::Crowd& Phases::crowd_on(const std::string& host) const {
  if (host.empty()) return everyone_;
  if (const auto named = of_host_.find(host); named != of_host_.end()) return named->second;
  // In a container NCCL prints the container's name, but the sender knows the machine's.
  const auto sent = of_sender_.find(host);
  return unnamed_.lives.empty() && sent != of_sender_.end() ? sent->second : unnamed_;
}

Order Phases::order_to_beginning(const EventTime& time, const std::string& host) const {
  const Order order = order_to(time, begun_, false);
  const auto here = host.empty() ? begun_on_.end() : begun_on_.find(host);
  if (order == Order::after || here == begun_on_.end()) return order;
  const Order on_host = order_to(time, here->second, true);
  return on_host == Order::cannot_tell ? order : on_host;
}

bool Phases::is_before(const EventTime& time, const std::string& host) const {
  if (has_members_) return order_to_beginning(time, host) == Order::before;
  // No rank made a communicator.
  return order_to(moved_back(time, -kLongStartUs), begun_, false) == Order::before;
}

bool Phases::is_after_end(const EventTime& time) const {
  return order_to(moved_back(time, kEndUs), ended_, false) == Order::after;
}

Endurance Phases::endurance(const std::string& host, const std::vector<int>& ranks) const {
  const Crowd& crowd = crowd_on(host);
  if (ranks.empty()) return crowd.endurance;
  std::vector<Outlived> some;
  for (const int rank : ranks)
    if (const auto known = of_rank_.find(rank); known != of_rank_.end())
      for (const std::size_t i : known->second)
        if (std::ranges::binary_search(crowd.lives, i)) some.push_back(lives_[i].outlived);
  return Endurance(std::move(some));
}

bool Phases::is_outlived(const Sighted& sighted) const {
  const Endurance& ranks =
      sighted.ranks == nullptr ? crowd_on(sighted.host).endurance : *sighted.ranks;
  return ranks.outlives(sighted.time);
}

// Used if no wall clock decides: compares with lines of the same log that name processes of the
// job.
Phase Phases::by_kernel(const Sighted& sighted) const {
  if (!sighted.log || !sighted.time.uptime_us) return Phase::cannot_tell;
  const auto known = named_.find(*sighted.log);
  if (known == named_.end()) return Phase::cannot_tell;
  const Named& named = known->second;
  const std::int64_t uptime = *sighted.time.uptime_us;
  if (named.cleaned_up_us && uptime > *named.cleaned_up_us) return Phase::after;
  return uptime >= named.first_us - kLongestDelayUs && uptime <= named.last_us ? Phase::during
                                                                               : Phase::cannot_tell;
}

Phase Phases::of(const Sighted& sighted) const {
  const EventTime& time = sighted.time;
  if (is_before(time, sighted.host)) return Phase::before;
  if (is_after_end(time)) return Phase::after;
  if (!sighted.lasts && is_outlived(sighted)) return Phase::outlived;
  if (const Phase phase = by_kernel(sighted); phase != Phase::cannot_tell) return phase;
  if (order_to_beginning(time, sighted.host) == Order::after ||
      order_to(time, sign_, false) == Order::after)
    return order_to(time, first_call_, false) == Order::before ? Phase::starting : Phase::during;
  // Shortly before the first sign of the attempt, and no line shows when it began.
  if (order_to(moved_back(time, -kLongStartUs), sign_, false) == Order::after) return Phase::during;
  // If only one side's stamps have a zone: hosts of one cluster mostly use the same zone. If that
  // puts the stamp into the attempt, it is no accident.
  Sighted there = sighted;
  there.time.zone_assumed = !time.zone_assumed;
  const bool in_attempt =
      order_to_beginning(there.time, there.host) == Order::after && !is_after_end(there.time) &&
      order_to(moved_back(there.time, kLongestDelayUs), last_call_, false) != Order::after &&
      (there.lasts || !is_outlived(there));
  return in_attempt ? Phase::during : Phase::cannot_tell;
}

}  // namespace faultline
