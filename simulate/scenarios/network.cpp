// Links, NICs and connections that fail while the job runs.
#include <chrono>

#include "simulate/scenarios/families.h"
#include "simulate/warnings.h"

namespace faultline::simulation {
namespace {

using namespace std::chrono_literals;

// NCCL gives up on a peer after NCCL_IB_TIMEOUT x NCCL_IB_RETRY_CNT.
std::chrono::milliseconds retries(const NcclVersion& version) {
  return version.since(23, 4) ? 30'000ms : 7'500ms;
}

int slot_between_hosts(const Injection& it) {
  return it.communicators.slot_of(Group::data).value_or(0);
}

std::string gid(const Injection& it, int rank) {
  const int local = it.cluster.local_of(rank);
  return "::ffff:" + it.cluster.fabric_address(it.cluster.host_of(rank), local);
}

std::vector<Words> completion(const Injection& it, int rank, int peer, int status, bool sends,
                              std::chrono::milliseconds after) {
  Completion what{.status = status,
                  .sends = sends,
                  .peer = it.peer_address(peer),
                  .hca = Cluster::nic_name(it.cluster.local_of(rank)),
                  .device = it.cluster.local_of(rank)};
  if (Cluster::link_layer(it.job.options) == "RoCE") {
    what.local_gid = gid(it, rank);
    what.remote_gid = gid(it, peer);
  }
  std::vector<Words> words = completion_error(it.version, what);
  words.front().after = after;
  return words;
}

// Nothing gets through between two ranks from here on; -1 where nothing does.
std::pair<int, int> cut(Injection& it) {
  const int slot = slot_between_hosts(it);
  const auto [rank, peer] = it.distant_neighbours(slot);
  if (rank < 0) return {-1, -1};
  const Place place = it.any_place(rank, [&](const Call& call) {
    return call.slot == slot && !is_peer_to_peer(call.function) && call.count > 1;
  });
  it.block(it.seat(rank, slot).communicator, place);
  return {rank, peer};
}

void give_up(Injection& it, int rank, int peer, std::chrono::milliseconds after) {
  it.last_words(rank, completion(it, rank, peer, 12, true, after));
  if (!network_errors_surface(it.version)) return;
  // The framework ends the process, and what its peer had asked for is flushed; or the peer's own
  // retries ran out first.
  it.of(rank).aborts = true;
  const int status = it.chance.below(2) == 0 ? 5 : 12;
  it.last_words(peer, completion(it, peer, rank, status, false, after + 900ms));
  it.of(peer).aborts = true;
}

}  // namespace

void transport_error(Injection& it) {
  const auto [rank, peer] = cut(it);
  if (rank < 0) return;
  give_up(it, rank, peer, retries(it.version));
  it.blame_nic(it.cluster.host_of(rank), it.cluster.local_of(rank));
  it.blame_nic(it.cluster.host_of(peer), it.cluster.local_of(peer));
  it.involve_rank(rank);
  it.involve_rank(peer);
}

namespace {

// All processes of the host hear of it, each from the thread that listens to the device.
int port_trouble(Injection& it, PortEvent event) {
  const auto [rank, peer] = cut(it);
  if (rank < 0) return rank;
  const int host = it.cluster.host_of(rank);
  const int nic = it.cluster.local_of(rank);
  for (const int there : it.ranks_of_host(host))
    it.last_words(there, {port_event(it.version, Cluster::nic_name(nic), event)});
  give_up(it, rank, peer, retries(it.version));
  if (it.version.since(20, 3))
    it.blame_nic(host, nic);
  else
    it.blame_host(host);  // the line names no device
  it.involve_host(host);
  it.involve_rank(peer);
  return rank;
}

}  // namespace

void nic_failure(Injection& it) { port_trouble(it, PortEvent::fatal); }

void link_down(Injection& it) { port_trouble(it, PortEvent::error); }

// A cluster with Ethernet only; a process is killed and its peers see their connections close.
void peer_lost(Injection& it) {
  it.plan.common.rdma = false;
  it.plan.common.rdma_seen = false;
  if (it.twin) return;
  const int slot = slot_between_hosts(it);
  const auto [rank, peer] = it.distant_neighbours(slot);
  if (rank < 0) return;
  const Place place = it.any_place(
      rank, [&](const Call& call) { return call.slot == slot && !is_peer_to_peer(call.function); });
  it.stop(rank, place);
  it.of(rank).killed = true;
  it.last_words(peer, closed_by_peer(it.version, it.peer_address(rank)));
  it.blame_host(it.cluster.host_of(rank));
  it.involve_rank(rank);
  it.involve_rank(peer);
}

}  // namespace faultline::simulation
