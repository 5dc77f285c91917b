#include "simulate/scenarios/broken_path.h"

#include "simulate/warnings.h"

namespace faultline::simulation {

using namespace std::chrono_literals;

// NCCL_IB_TIMEOUT x NCCL_IB_RETRY_CNT
std::chrono::milliseconds retries(const NcclVersion& version) {
  return version.since(23, 4) ? 30'000ms : 7'500ms;
}

int slot_between_hosts(const Injection& it) {
  return it.communicators.slot_of(Group::data).value_or(0);
}

namespace {

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

}  // namespace

Cut any_path(Injection& it) {
  const int slot = slot_between_hosts(it);
  const auto [rank, peer] = it.distant_neighbours(slot);
  if (rank < 0) return {};
  return {rank, peer, it.any_place(rank, [&](const Call& call) {
            return call.slot == slot && !is_peer_to_peer(call.function) && call.count > 1;
          })};
}

void cut(Injection& it, const Cut& path) {
  it.block(it.seat(path.rank, slot_between_hosts(it)).communicator, path.place);
}

void give_up(Injection& it, int rank, int peer, std::chrono::milliseconds after) {
  it.last_words(rank, completion(it, rank, peer, 12, true, after));
  if (!network_errors_surface(it.version)) return;
  // Either the framework ends the process, which flushes the peer's requests, or the peer's own
  // retries run out first.
  it.of(rank).aborts = true;
  const int status = it.chance.below(2) == 0 ? 5 : 12;
  it.last_words(peer, completion(it, peer, rank, status, false, after + 900ms));
  it.of(peer).aborts = true;
}

}  // namespace faultline::simulation
