// Networks that fail, as kernels and tools report it.
#include <fmt/format.h>

#include <chrono>

#include "simulate/scenarios/broken_path.h"
#include "simulate/scenarios/families.h"
#include "simulate/scenarios/trouble.h"
#include "simulate/tool_reports.h"
#include "simulate/warnings.h"

namespace faultline::simulation {
namespace {

using namespace std::chrono_literals;

bool is_infiniband(const Injection& it) { return Cluster::link_layer(it.job.options) == "IB"; }

void say(Injection& it, const Victim& victim, microseconds after, std::string_view text) {
  it.plan.hosts.say(
      victim.host, victim.when + after,
      fmt::format("mlx5_core {}: {}", it.cluster.nic_pci_address(victim.local), text));
}

// --- Ports and NICs, by the words of kernels ---------------------------------------------------

void port_goes_down(Injection& it, const Victim& victim) {
  say(it, victim, 0ms, "Port module event: module 0, Cable unplugged");
  say(it, victim, 40ms, fmt::format("{}: Port: 1 Link DOWN", Cluster::nic_name(victim.local)));
  if (is_infiniband(it) && !it.twin)
    it.plan.files[victim.host + "/ibstat.txt"] = ibstat(it.cluster, victim.index, victim.local);
}

// The port comes back before any rank gives up.
void port_flaps(Injection& it, const Victim& victim) {
  say(it, victim, 0ms, fmt::format("{}: Port: 1 Link DOWN", Cluster::nic_name(victim.local)));
  say(it, victim, 2s, fmt::format("{}: Port: 1 Link ACTIVE", Cluster::nic_name(victim.local)));
}

void nic_fails(Injection& it, const Victim& victim) {
  say(it, victim, 0ms, "poll_health:825:(pid 0): device's health compromised - reached miss count");
  say(it, victim, 12ms,
      "print_health_info:431:(pid 0): Health issue observed, firmware internal error, severity(3) "
      "ERROR:");
  say(it, victim, 13ms, "print_health_info:436:(pid 0): assert_exit_ptr 0x20b1e1f4");
  say(it, victim, 900ms,
      "wait_func:1195:(pid 2417): ACCESS_REG(0x805) timeout. Will cause a leak of a command "
      "resource");
}

// An exporter sends commands that this firmware does not know.
void exporter_asks(Injection& it, const Victim& victim) {
  for (const auto after : {0s, 15s, 30s})
    say(it, victim, after,
        "mlx5_cmd_out_err:838:(pid 7790): ACCESS_REG(0x805) op_mod(0x1) failed, status bad "
        "resource(0x5), syndrome (0x305684), err(-22)");
}

// A path breaks at one end; NCCL knows only that its peer does not answer.
void break_at_one_end(Injection& it, const Trouble& trouble) {
  const Cut path = any_path(it);
  if (path.rank < 0) return;
  const Victim victim = victim_of(it, path.rank, path.place);
  if (is_twin(it, trouble, victim)) return;
  cut(it, path);
  trouble.happens(it, victim);
  give_up(it, path.peer, path.rank, retries(it.version));
  it.blame_nic(victim.index, victim.local);
  it.involve_rank(path.rank);
  it.involve_rank(path.peer);
}

// --- Counters of ports --------------------------------------------------------------------------

using Counts = std::vector<PortCounters>;  // one for each NIC of a host

Counts ordinary(const Injection& it, std::uint64_t hours) {
  Counts counts;
  for (int nic = 0; nic <= it.cluster.nics_per_host(); ++nic) {
    const auto number = static_cast<std::uint64_t>(nic);
    counts.push_back({.symbol_errors = number % 3,
                      .downed = 1,
                      .wait = 18'236'450 + 40'000 * hours + 977 * number,
                      .words = 48'201'943'312'384 + 92'000'000'000 * hours + number});
  }
  return counts;
}

// A snapshot of a host's ports.
std::string snapshot(const Injection& it, int host, Timestamp when, const Counts& counts) {
  std::string text;
  for (int nic = 0; nic < static_cast<int>(counts.size()) && nic < it.cluster.nics_per_host();
       ++nic) {
    const PortCounters& port = counts[static_cast<std::size_t>(nic)];
    if (is_infiniband(it))
      text += perfquery(lid_of(host, nic), port);
    else
      text += interface_of(nic) + "\n" + ethtool_statistics(port);
  }
  return stamped(text, when);
}

// Two snapshots an hour apart, around this time.
void count(Injection& it, const std::string& name, int host, Timestamp around, const Counts& before,
           const Counts& after) {
  const bool ib = is_infiniband(it);
  it.plan.files[name + (ib ? "/ibstat.txt" : "/rdma-link.txt")] =
      ib ? ibstat(it.cluster, host) : rdma_link(it.cluster);
  it.plan.files[name + (ib ? "/perfquery.txt" : "/ethtool.txt")] =
      snapshot(it, host, around - 30min, before) + snapshot(it, host, around + 30min, after);
}

void errors_rise(Injection& it, const Victim& victim) {
  const auto nic = static_cast<std::size_t>(victim.local);
  const Counts before = ordinary(it, 0);
  Counts after = ordinary(it, 1);
  after[nic].symbol_errors += 71'204;
  after[nic].receive_errors += 118;
  count(it, victim.host, victim.index, victim.when, before, after);
}

// The counters rose at an unknown time, and rise no more.
void errors_are_old(Injection& it, const Victim& victim) {
  const auto nic = static_cast<std::size_t>(victim.local);
  Counts before = ordinary(it, 0);
  Counts after = ordinary(it, 1);
  before[nic].symbol_errors = after[nic].symbol_errors = 71'204;
  before[nic].receive_errors = after[nic].receive_errors = 118;
  before[nic].downed = after[nic].downed = 7;
  count(it, victim.host, victim.index, victim.when, before, after);
}

void ports_drop(Injection& it, const Victim& victim) {
  const auto nic = static_cast<std::size_t>(victim.local);
  const Counts before = ordinary(it, 0);
  Counts after = ordinary(it, 1);
  after[nic].discards += 91'400;
  after[nic].wait += 918'273'645'012;
  count(it, victim.host, victim.index, victim.when, before, after);
}

// All ports wait a little, which is normal.
void ports_wait(Injection& it, const Victim& victim) {
  const Counts before = ordinary(it, 0);
  Counts after = ordinary(it, 1);
  for (PortCounters& port : after) port.wait += 2'400'000;
  count(it, victim.host, victim.index, victim.when, before, after);
}

// The job is slow, but finishes.
void slow_port(Injection& it, const Trouble& trouble) {
  const Cut path = any_path(it);
  const int rank = path.rank < 0 ? it.any_rank() : path.rank;
  const Victim victim = victim_of(it, rank, {it.any_step(), 0});
  if (is_twin(it, trouble, victim)) return;
  trouble.happens(it, victim);
  it.blame_nic(victim.index, victim.local);
  it.involve_rank(rank);
}

}  // namespace

void port_down(Injection& it) {
  break_at_one_end(it, {.happens = port_goes_down, .is_harmless = port_flaps});
}

void nic_health(Injection& it) {
  break_at_one_end(it, {.happens = nic_fails, .is_harmless = exporter_asks});
}

void link_errors(Injection& it) {
  slow_port(it, {.happens = errors_rise, .is_harmless = errors_are_old, .whole_host = true});
}

void congestion(Injection& it) {
  slow_port(it, {.happens = ports_drop, .is_harmless = ports_wait, .whole_host = true});
}

// Both ends give up, and the ports of both count no errors.
void transport_error_clean_ports(Injection& it) {
  const Cut path = any_path(it);
  if (path.rank < 0) return;
  const auto counts_nothing = [&](int rank) {
    count(it, it.cluster.host_name_of(rank), it.cluster.host_of(rank), it.time_of(path.place),
          ordinary(it, 0), ordinary(it, 1));
  };
  counts_nothing(path.rank);
  counts_nothing(path.peer);
  if (it.twin) return;
  cut(it, path);
  give_up(it, path.rank, path.peer, retries(it.version));
  for (const int rank : {path.rank, path.peer}) {
    it.blame_nic(it.cluster.host_of(rank), it.cluster.local_of(rank));
    it.involve_rank(rank);
  }
}

// --- Interfaces whose packet lengths differ -----------------------------------------------------

// Small messages get through, large ones do not.
void mtu_mismatch(Injection& it) {
  it.plan.common.rdma = false;
  it.plan.common.rdma_seen = false;
  const Cut path = any_path(it);
  if (path.rank < 0) return;
  const int odd = it.cluster.host_of(path.rank);
  for (int host = 0; host < it.cluster.hosts(); ++host) {
    const bool is_odd = host == odd;
    it.plan.files[Cluster::host_name(host) + "/ip-link.txt"] =
        it.twin ? ip_link(9000, is_odd ? 1450 : 1500) : ip_link(is_odd ? 1500 : 9000, 1500);
  }
  if (it.twin) return;
  cut(it, path);
  it.blame_host(odd);
  for (int host = 0; host < it.cluster.hosts(); ++host)
    if (host == odd || it.cluster.hosts() == 2)
      it.truth.may_name.nics.push_back(Cluster::host_name(host) + "/eth0");
  if (it.cluster.hosts() == 2) it.involve_everybody();  // nothing shows which of the two differs
}

}  // namespace faultline::simulation
