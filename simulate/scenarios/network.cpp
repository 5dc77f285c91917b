// Links, NICs and connections that fail while the job runs.
#include "simulate/scenarios/broken_path.h"
#include "simulate/scenarios/families.h"
#include "simulate/warnings.h"

namespace faultline::simulation {

void transport_error(Injection& it) {
  const Cut path = any_path(it);
  if (path.rank < 0) return;
  cut(it, path);
  const auto [rank, peer, place] = path;
  give_up(it, rank, peer, retries(it.version));
  it.blame_nic(it.cluster.host_of(rank), it.cluster.local_of(rank));
  it.blame_nic(it.cluster.host_of(peer), it.cluster.local_of(peer));
  it.involve_rank(rank);
  it.involve_rank(peer);
}

namespace {

// All processes of the host report it, each from the thread that listens to the device.
int port_trouble(Injection& it, PortEvent event) {
  const Cut path = any_path(it);
  if (path.rank < 0) return -1;
  cut(it, path);
  const auto [rank, peer, place] = path;
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
