#include "rules/detect/kernel/running_hosts.h"

#include <algorithm>
#include <iterator>

#include "rules/picture/who/torch_crew.h"
#include "rules/picture/who/workers_by.h"

namespace faultline {
namespace {

// A host that crashed is back by then; one that was started later was started for another reason.
constexpr std::int64_t kLongestRebootUs = std::int64_t{45} * 60 * 1'000'000;

// Uptimes of two boots have nothing to do with each other.
EventTime by_the_wall(EventTime time) {
  time.uptime_us.reset();
  return time;
}

bool was_torn_down(const View& view, const Worker& worker) {
  return std::ranges::any_of(worker.members,
                             [&](std::size_t m) { return view.member(m).left_cleanly(); });
}

std::int64_t latest_us(const EventTime& time) { return *time.wall_us + time.uncertainty_us; }

// How many of these times are so shortly before a boot that it may have ended what ran then.
std::size_t count_before(const std::vector<std::int64_t>& times_us, std::int64_t booted_us) {
  const auto first = std::ranges::upper_bound(times_us, booted_us - kLongestRebootUs);
  return static_cast<std::size_t>(std::ranges::lower_bound(times_us, booted_us) - first);
}

}  // namespace

RunningHosts::RunningHosts(const View& view) : view_(view) {
  if (!view.job.torch().empty()) learn_torch();
  if (const auto workers = view.workers.by_host.find(""); workers != view.workers.by_host.end())
    nowhere_ = learn(workers->second);
}

void RunningHosts::learn_torch() {
  const TorchCrew& crew = view_.crew();
  for (const TorchRank* rank : crew.ranks()) {
    if (rank->rank < 0 || rank->guessed) continue;
    for (const TorchTimeout& timeout : rank->timeouts) {
      if (!crew.in_attempt(timeout.line)) continue;
      if (const EventTime& told = timeout.line.time; told.wall_us) {
        std::int64_t& last =
            told_us_[told.zone_assumed].try_emplace(rank->rank, *told.wall_us).first->second;
        last = std::max(last, *told.wall_us);
      }
      if (const EventTime called = called_at(timeout); called.wall_us) {
        called_us_[called.zone_assumed][rank->rank].push_back(*called.wall_us);
        all_called_us_[called.zone_assumed].push_back(*called.wall_us);
      }
    }
  }
  for (auto& times : all_called_us_) std::ranges::sort(times);
}

// If NCCL's lines have no time stamps, an Xid that names a rank's process shows when the job ran.
void RunningHosts::learn_xids() {
  Times& times = xids_us_.emplace();
  const WorkersBy<std::int64_t> running(view_.workers, &Worker::pid, [&](const Worker& worker) {
    return !was_torn_down(view_, worker);
  });
  for (const XidIncident& xid : view_.job.hardware().xids()) {
    const EventTime time = view_.job.dated(xid.first);
    if (!time.wall_us) continue;
    const std::string host = view_.job.host_of(xid.spoken_host, xid.source);
    if (std::ranges::any_of(xid.pids, [&](std::int64_t pid) {
          return pid != 0 && running.any_perhaps_on(host, pid, [](std::size_t) { return true; });
        }))
      times[time.zone_assumed].push_back(*time.wall_us);
  }
  for (auto& of_zone : times) std::ranges::sort(of_zone);
}

// Calls of a rank that is also nowhere count only there.
RunningHosts::Ranks RunningHosts::learn(const std::vector<std::size_t>& workers) const {
  Ranks learned;
  std::array<std::optional<EventTime>, 4> ends;  // by zone_assumed: the first, and the last
  for (const std::size_t index : workers) {
    const Worker& worker = view_.workers.all[index];
    if (worker.rank >= 0) learned.ranks.insert(worker.rank);
    for (const std::size_t m : worker.members) {
      const Member& member = view_.member(m);
      const LineRef& first = member.init_line.known() ? member.init_line : member.last_line;
      const EventTime begun = by_the_wall(first.time);
      if (!begun.wall_us) continue;
      std::optional<EventTime>& earliest = ends[begun.zone_assumed ? 2 : 0];
      std::optional<EventTime>& latest = ends[begun.zone_assumed ? 3 : 1];
      if (!earliest || latest_us(begun) < latest_us(*earliest)) earliest = begun;
      if (!latest || *begun.wall_us > *latest->wall_us) latest = begun;
      const EventTime& last = member.latest_line().time;
      if (member.left_cleanly() || !last.wall_us) continue;
      if (last.zone_assumed == begun.zone_assumed && latest_us(begun) <= *last.wall_us)
        learned.shown_us[last.zone_assumed].push_back(*last.wall_us);
      else
        learned.shown_oddly[last.zone_assumed].emplace_back(*last.wall_us, begun);
    }
  }
  for (const std::optional<EventTime>& end : ends)
    if (end) learned.begun.push_back(*end);
  for (auto& of_zone : learned.shown_us) std::ranges::sort(of_zone);
  for (auto& of_zone : learned.shown_oddly)
    std::ranges::sort(of_zone, {}, &std::pair<std::int64_t, EventTime>::first);
  for (const int rank : learned.ranks)
    for (const std::size_t zone : {0, 1}) {
      if (const auto told = told_us_[zone].find(rank); told != told_us_[zone].end())
        learned.told_us[zone] =
            std::max(learned.told_us[zone].value_or(told->second), told->second);
      const auto called = called_us_[zone].find(rank);
      if (called == called_us_[zone].end() || nowhere_.ranks.contains(rank)) continue;
      std::ranges::copy(called->second, std::back_inserter(learned.called_us[zone]));
    }
  for (auto& of_zone : learned.called_us) std::ranges::sort(of_zone);
  return learned;
}

const RunningHosts::Host& RunningHosts::on(const std::string& host) {
  const auto [known, is_new] = hosts_.try_emplace(host);
  if (is_new)
    known->second = {.part = whole_host(view_, host), .ranks = learn(view_.workers.on(host))};
  return known->second;
}

bool RunningHosts::tell(const Ranks& ranks, const EventTime& booted) {
  return std::ranges::any_of(ranks.begun, [&](const EventTime& begun) {
    return order_of(begun, booted, true) != Order::cannot_tell;
  });
}

// Ranks whose stamps do not show that they began before their last line are looked at one by one,
// and not without end.
bool RunningHosts::showed_before(const Ranks& ranks, const EventTime& booted) {
  constexpr int kMostLooks = 256;
  if (count_before(ranks.shown_us[booted.zone_assumed], *booted.wall_us) > 0) return true;
  const auto& odd = ranks.shown_oddly[booted.zone_assumed];
  auto next = std::ranges::upper_bound(odd, *booted.wall_us - kLongestRebootUs, {},
                                       &std::pair<std::int64_t, EventTime>::first);
  for (int look = 0; look < kMostLooks && next != odd.end() && next->first < *booted.wall_us;
       ++look, ++next)
    if (order_of(next->second, booted, true) == Order::before) return true;
  return false;
}

// Ranks of the host that print something after the boot were started after it. If they print
// nothing, and their peers wait in a call from before it, the reboot ended them.
When RunningHosts::when(const std::string& host, const EventTime& boot) {
  if (!boot.wall_us) return When::cannot_tell;
  const EventTime booted = by_the_wall(boot);
  const std::size_t zone = booted.zone_assumed ? 1 : 0;
  const std::array<const Ranks*, 2> perhaps_there{&on(host).ranks, &nowhere_};
  const auto any = [&](auto is) { return std::ranges::any_of(perhaps_there, is); };
  if (any([&](const Ranks* ranks) { return tell(*ranks, booted); }))
    return any([&](const Ranks* ranks) { return showed_before(*ranks, booted); })
               ? When::while_it_ran
               : When::at_another_time;
  if (!xids_us_) learn_xids();
  if (count_before((*xids_us_)[zone], *booted.wall_us) > 0) return When::while_it_ran;
  if (any([&](const Ranks* ranks) { return ranks->told_us[zone] > booted.wall_us; }))
    return When::at_another_time;
  std::size_t peers_calls = count_before(all_called_us_[zone], *booted.wall_us);
  for (const Ranks* ranks : perhaps_there)
    peers_calls -= count_before(ranks->called_us[zone], *booted.wall_us);
  return peers_calls > 0 ? When::while_it_ran : When::cannot_tell;
}

}  // namespace faultline
