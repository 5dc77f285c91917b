// Hosts that fail, and what their kernels print.
#include <fmt/format.h>

#include <chrono>

#include "simulate/scenarios/families.h"
#include "simulate/scenarios/trouble.h"

namespace faultline::simulation {
namespace {

using namespace std::chrono_literals;

void say(Injection& it, const Victim& victim, microseconds after, std::string text) {
  it.plan.hosts.say(victim.host, victim.when + after, std::move(text));
}

void runs_out_of_memory(Injection& it, const Victim& victim, std::int64_t pid,
                        std::string_view name, std::string_view group) {
  say(it, victim, -400ms,
      fmt::format("{} invoked oom-killer: gfp_mask=0x140dca(GFP_HIGHUSER_MOVABLE|__GFP_COMP|"
                  "__GFP_ZERO), order=0, oom_score_adj=997",
                  name));
  say(it, victim, -399ms, "memory: usage 1342177280kB, limit 1342177280kB, failcnt 184");
  say(it, victim, -20ms,
      fmt::format("oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset={0},"
                  "mems_allowed=0-1,oom_memcg={0},task_memcg={0},task={1},pid={2},uid=1000",
                  group, name, pid));
  say(it, victim, 0ms,
      fmt::format("Memory cgroup out of memory: Killed process {} ({}) total-vm:512004120kB, "
                  "anon-rss:131051200kB, file-rss:1204kB, shmem-rss:88kB, UID:1000 "
                  "pgtables:262144kB oom_score_adj:997",
                  pid, name));
}

void rank_is_killed(Injection& it, const Victim& victim) {
  runs_out_of_memory(it, victim, victim.pid, "python3", "/system.slice/slurmstepd.scope/job_771");
}

// Another program on the host has a memory limit of its own.
void exporter_is_killed(Injection& it, const Victim& victim) {
  runs_out_of_memory(it, victim, victim.pid + 51'200, "node_exporter",
                     "/system.slice/node-exporter.service");
}

void cpu_hangs(Injection& it, const Victim& victim) {
  for (int time = 1; time <= 4; ++time) {
    const auto after = 26s + 28s * (time - 1);
    say(it, victim, after,
        fmt::format("watchdog: BUG: soft lockup - CPU#44 stuck for {}s! [python3:{}]",
                    26 + 28 * (time - 1), victim.pid));
    say(it, victim, after + 30us,
        fmt::format("CPU: 44 PID: {} Comm: python3 Tainted: P           OE     5.15.0-113-generic",
                    victim.pid));
  }
}

void watchdog_starts(Injection& it, const Victim& victim) {
  say(it, victim, 0ms, "watchdog: Delayed init of the lockup detector failed: 0");
  say(it, victim, 5s,
      "clocksource: Long readout interval, skipping watchdog check: cs_nsec: "
      "1243750342 wd_nsec: 1243750316");
}

void memory_breaks(Injection& it, const Victim& victim) {
  say(it, victim, -20ms,
      "EDAC MC1: 1 UE memory read error on CPU_SrcID#1_MC#0_Chan#1_DIMM#0 (channel:1 slot:0 "
      "page:0x30aa905 offset:0xa80 grain:32 syndrome:0x0 -  err_code:0x0000:0x009f)");
  say(it, victim, 0ms,
      fmt::format("Memory failure: 0x30aa905: Sending SIGBUS to python3:{} due to hardware memory "
                  "corruption",
                  victim.pid));
}

void memory_is_corrected(Injection& it, const Victim& victim) {
  for (const auto after : {0s, 41s, 66s})
    say(it, victim, after,
        "EDAC MC0: 1 CE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0 (channel:1 slot:0 "
        "page:0x30aa905 offset:0xa80 grain:32 syndrome:0x0 -  err_code:0x0000:0x009f)");
}

void stop_process(Injection& it, const Trouble& trouble, bool killed) {
  const auto stopped = stop_by(it, trouble);
  if (!stopped) return;
  it.of(stopped->rank).killed = killed;
  it.blame_host(it.cluster.host_of(stopped->rank));
  it.blame_rank(stopped->rank);
}

}  // namespace

void oom_killed(Injection& it) {
  stop_process(
      it, {.happens = rank_is_killed, .is_harmless = exporter_is_killed, .whole_host = true}, true);
}

void cpu_lockup(Injection& it) {
  stop_process(it, {.happens = cpu_hangs, .is_harmless = watchdog_starts, .whole_host = true},
               false);
}

void memory_error(Injection& it) {
  stop_process(
      it, {.happens = memory_breaks, .is_harmless = memory_is_corrected, .whole_host = true}, true);
}

namespace {

// No rank of the host gets further than this; each other rank gets as far as it can.
std::optional<Victim> stop_host(Injection& it, const Trouble& trouble) {
  const int host = it.any_host();
  const std::vector<int> ranks = it.ranks_of_host(host);
  const Place place{it.any_step(), 0};
  Victim victim = victim_of(it, ranks.front(), place);
  if (is_twin(it, trouble, victim)) return std::nullopt;
  for (const int rank : ranks) it.stop(rank, place);
  trouble.happens(it, victim);
  it.blame_host(host);
  return victim;
}

void storage_stops(Injection& it, const Victim& victim) {
  say(it, victim, 60s, "nfs: server fs-01.example not responding, still trying");
  say(it, victim, 240s, "nfs: server fs-01.example not responding, still trying");
}

void storage_pauses(Injection& it, const Victim& victim) {
  say(it, victim, 0s, "nfs: server fs-01.example not responding, still trying");
  say(it, victim, 4s, "nfs: server fs-01.example OK");
}

// The last lines do not reach the disk.
void host_goes_down(Injection& it, const Victim& victim) {
  it.plan.hosts.keep_in_journal();
  it.plan.hosts.boot(it.cluster, victim.host, victim.when + 4min);
}

void host_is_restarted(Injection& it, const Victim& victim) {
  it.plan.hosts.keep_in_journal();
  const auto after = 40min;
  say(it, victim, after, "systemd-shutdown[1]: Syncing filesystems and block devices.");
  say(it, victim, after + 2s, "reboot: Restarting system");
  it.plan.hosts.boot(it.cluster, victim.host, victim.when + after + 4min);
}

void host_panics(Injection& it, const Victim& victim) {
  say(it, victim, 0ms, "BUG: kernel NULL pointer dereference, address: 0000000000000018");
  say(it, victim, 1ms, "Oops: 0002 [#1] PREEMPT SMP NOPTI");
  say(it, victim, 90ms, "Kernel panic - not syncing: Fatal exception");
}

}  // namespace

void storage_stall(Injection& it) {
  stop_host(it, {.happens = storage_stops, .is_harmless = storage_pauses, .whole_host = true});
}

void host_reboot(Injection& it) {
  if (stop_host(it,
                {.happens = host_goes_down, .is_harmless = host_is_restarted, .whole_host = true}))
    for (auto& [rank, plan] : it.plan.ranks) plan.killed = true;
}

void host_panic(Injection& it) {
  if (stop_host(it, {.happens = host_panics, .whole_host = true}))
    for (auto& [rank, plan] : it.plan.ranks) plan.killed = true;
}

namespace {

void may_not_fork(Injection& it, const Victim& victim) {
  for (const auto after : {0ms, 130ms, 420ms})
    say(it, victim, after,
        "cgroup: fork rejected by pids controller in /system.slice/slurmstepd.scope/job_771");
}

}  // namespace

// Processes of a host cannot start the threads that they need.
void pids_limit(Injection& it) {
  const int host = it.any_host();
  Victim victim = victim_of(it, it.ranks_of_host(host).front(), {0, 0});
  victim.when = beginning_of(it.attempt) + 2s;
  if (is_twin(it, {.happens = may_not_fork, .whole_host = true}, victim)) return;
  for (int rank = 0; rank < it.cluster.ranks(); ++rank)
    it.stop_in_init(rank,
                    it.cluster.host_of(rank) == host ? InitStop::before_start : InitStop::waiting);
  may_not_fork(it, victim);
  it.blame_host(host);
}

}  // namespace faultline::simulation
