#include "simulate/setup_lines.h"

#include <algorithm>

namespace faultline::simulation {
namespace {

constexpr int kChannels = 2;

std::string devices(const SetupContext& context) {
  std::string list;
  const int nics = context.setup->nics;
  const auto add = [&](int number, const std::string& name) {
    fmt::format_to(std::back_inserter(list), " [{}]{}:1/{}", number, name,
                   Cluster::link_layer(context.cluster->options()));
  };
  for (int nic = 0; nic < nics; ++nic) add(nic, Cluster::nic_name(nic));
  if (context.setup->unused_port) add(nics, "mlx5_bond_0");
  return list;
}

std::string address(const SetupContext& context) {
  return "eth0:" + context.cluster->address(context.cluster->host_of(context.world_rank)) + "<0>";
}

bool same_host(const SetupContext& context, const Membership& member, int a, int b) {
  const auto& members = member.communicator->members;
  return context.cluster->host_of(members[static_cast<std::size_t>(a)]) ==
         context.cluster->host_of(members[static_cast<std::size_t>(b)]);
}

// A rank as connection lines name it: 3[1] or, before 2.18.3, 3[43000].
std::string named(const SetupContext& context, const Membership& member, int rank) {
  const int local =
      context.cluster->local_of(member.communicator->members[static_cast<std::size_t>(rank)]);
  if (context.voice->version().since(18, 3)) return fmt::format("{}[{}]", rank, local);
  return fmt::format("{}[{:x}]", rank, context.cluster->bus(local));
}

const Setup& setup_of(const SetupContext& context, const Membership& member, int rank) {
  return context.plan->setup_of(member.communicator->members[static_cast<std::size_t>(rank)]);
}

void connection(std::string& out, const SetupContext& context, const Membership& member,
                int channel, int from, int to, bool peer_to_peer) {
  const NcclVersion& version = context.voice->version();
  const int index = peer_to_peer ? 1 : 0;
  const std::string ends = named(context, member, from) + " -> " + named(context, member, to);
  const auto indexed = [&](bool has) {
    return has ? fmt::format("{:02}/{}", channel, index) : fmt::format("{:02}", channel);
  };
  const Thread thread = connects_lazily(version) || peer_to_peer ? Thread::connect : Thread::init;
  if (same_host(context, member, from, to)) {
    if (member.rank != from) return;
    const bool direct = context.setup->p2p && setup_of(context, member, to).p2p;
    if (direct) {
      context.voice->info(out, thread, member.slot, "Channel {} : {} via {}",
                          indexed(version.since(14, 3)), ends,
                          version.since(19) ? "P2P/CUMEM" : "P2P/IPC");
    } else {
      const char* way = version.since(30, 7)   ? "SHM/direct"
                        : version.since(13, 4) ? "SHM/direct/direct"
                                               : "direct shared memory";
      context.voice->info(out, thread, member.slot, "Channel {:02} : {} via {}", channel, ends,
                          way);
    }
    return;
  }
  const bool sends = member.rank == from;
  const bool rdma = context.setup->rdma;
  const int device =
      rdma ? std::min(context.cluster->local_of(context.world_rank), context.setup->nics - 1) : 0;
  context.voice->info(out, thread, member.slot, "Channel {} : {} [{}] via NET/{}/{}{}{}",
                      indexed(version.since(12, 7)), ends, sends ? "send" : "receive",
                      rdma ? "IB" : "Socket", device, rdma && context.setup->gdr ? "/GDRDMA" : "",
                      peer_to_peer && version.since(8, 3) ? "/Shared" : "");
}

std::string tree(const NcclVersion& version, int rank, int size) {
  const int up = rank == 0 ? -1 : (rank - 1) / 2;
  const auto child = [&](int which) {
    const int it = 2 * rank + which;
    return it < size ? it : -1;
  };
  const std::string down = fmt::format("{}/{}/-1", child(1), child(2));
  std::string line = "Trees";
  for (int channel = 0; channel < kChannels; ++channel) {
    if (version.since(8))
      fmt::format_to(std::back_inserter(line), " [{}] {}->{}->{}", channel, down, rank, up);
    else
      fmt::format_to(std::back_inserter(line), " [{0}] {1}->{2}->{3}|{3}->{2}->{1}", channel, down,
                     rank, up);
  }
  return line;
}

std::string_view init_function(const NcclVersion& version, bool split) {
  if (!version.since(21, 5)) return "";
  if (split) return "ncclCommSplit ";
  return version.since(23, 4) ? "ncclCommInitRankConfig " : "ncclCommInitRank ";
}

// "comm 0x… rank 3 nranks 16 cudaDev 3 … "
std::string identity(const SetupContext& context, const Membership& member, bool start) {
  const NcclVersion& version = context.voice->version();
  std::string text = fmt::format("{}comm 0x{:x} rank {} nranks {} cudaDev {} ",
                                 init_function(version, member.parent != 0), member.pointer,
                                 member.rank, member.communicator->size(), context.cuda_device);
  auto to = std::back_inserter(text);
  if (version.since(18, 3)) fmt::format_to(to, "nvmlDev {} ", context.bus_of);
  fmt::format_to(to, "busId {:x} ", context.cluster->bus(context.bus_of));
  if (member.parent != 0 && version.since(21, 5)) {
    fmt::format_to(to, "parent 0x{:x} ", member.parent);
    if (version.since(29, 2))
      fmt::format_to(to, "childCount 1 ");
    else if (version.since(24, 3))
      fmt::format_to(to, "splitCount 1 ");
    fmt::format_to(to, "color {} key {}", member.communicator->color, context.world_rank);
    // Versions from 2.23.4 on have no blank before the dash of START.
    if (!version.since(23, 4) || !start) text += ' ';
  }
  if (member.id != 0 && version.since(16, 2)) fmt::format_to(to, "commId 0x{:x} ", member.id);
  return text;
}

}  // namespace

bool ring_leaves_host(const Cluster& cluster, const Communicator& communicator, int rank) {
  const int size = communicator.size();
  const auto host = [&](int of) {
    return cluster.host_of(communicator.members[static_cast<std::size_t>((of + size) % size)]);
  };
  return host(rank - 1) != host(rank) || host(rank + 1) != host(rank);
}

void write_version(std::string& out, const SetupContext& context) {
  const NcclVersion& version = context.voice->version();
  if (!version.since(22, 3))
    fmt::format_to(std::back_inserter(out), "NCCL version {}+cuda{}\n", version.name, version.cuda);
}

void write_process_start(std::string& out, const SetupContext& context) {
  const Voice& voice = *context.voice;
  const NcclVersion& version = voice.version();
  const auto say = [&](const std::string& text) {
    voice.info(out, Thread::application, 0, "{}", text);
  };
  if (version.since(13, 4)) say(fmt::format("cudaDriverVersion {}", version.driver));
  say("NCCL_SOCKET_IFNAME set by environment to eth0");
  const char* bootstrap = version.since(24, 3) ? "Bootstrap: Using " : "Bootstrap : Using ";
  say(bootstrap + address(context));
  if (version.since(22, 3)) say(fmt::format("NCCL version {}+cuda{}", version.name, version.cuda));
  if (version.since(29, 2)) say("NCCL git version master 5c3d0a1");
  if (version.since(17, 1)) say("Comm config Blocking set to 1");
}

void write_network(std::string& out, const SetupContext& context, const Membership& member) {
  const Voice& voice = *context.voice;
  const NcclVersion& version = voice.version();
  const Setup& setup = *context.setup;
  const auto say = [&](const std::string& text) {
    voice.info(out, Thread::init, member.slot, "{}", text);
  };
  if (member.slot == 0) {
    if (version.since(26, 2))
      say("NET/Plugin: Could not find: libnccl-net.so. ");
    else if (version.since(22, 3))
      say("NET/Plugin: Could not find: libnccl-net.so. Using internal network plugin.");
    else if (version.since(21, 5))
      say("NET/Plugin: No plugin found (libnccl-net.so)"),
          say("NET/Plugin: Using internal network plugin.");
    else if (version.since(17, 1))
      say("NET/Plugin : Plugin load (libnccl-net.so) returned 2 : libnccl-net.so: cannot open "
          "shared object file: No such file or directory"),
          say("NET/Plugin : No plugin found, using internal implementation");
    else
      say("NET/Plugin : No plugin found (libnccl-net.so), using internal implementation");
    for (const auto& [name, value] : setup.environment)
      say(fmt::format("{} set by environment to {}", name, value));
    if (setup.rdma_seen) {
      if (version.since(12, 7))
        say(fmt::format("NET/IB : Using{} [RO]; OOB {}", devices(context), address(context)));
      else
        say(fmt::format("NET/IB : Using{} ; OOB {}", devices(context), address(context)));
    } else {
      say("NET/IB : No device found.");
      if (version.since(24, 3)) say(fmt::format("NET/IB : Using  ; OOB {}", address(context)));
    }
    if (!setup.rdma) say("NET/Socket : Using [0]" + address(context));
    if (version.since(27, 3))
      say(fmt::format("Initialized NET plugin {}", setup.rdma ? "IB" : "Socket"));
  }
  if (version.since(27, 3))
    say(fmt::format("Assigned NET plugin {} to comm", setup.rdma ? "IB" : "Socket"));
  say(fmt::format("Using network {}", setup.rdma ? "IB" : "Socket"));
  if (version.since(13, 4) && setup.rdma && setup.gdr)
    say(fmt::format("DMA-BUF is available on GPU device {}", context.cuda_device));
}

void write_init_start(std::string& out, const SetupContext& context, const Membership& member) {
  const NcclVersion& version = context.voice->version();
  if (!version.since(18, 3)) return;
  const std::string rank = version.since(29, 2) ? fmt::format("[Rank {}] ", member.rank) : "";
  context.voice->info(out, Thread::init, member.slot, "{}{}- Init START", rank,
                      identity(context, member, true));
}

void write_bootstrap_done(std::string& out, const SetupContext& context, const Membership& member) {
  const Voice& voice = *context.voice;
  if (member.slot == 0 && voice.version().since(24, 3))
    voice.info(out, Thread::init, 0, "RAS client listening socket at 127.0.0.1<28028>");
  if (voice.version().since(23, 4))
    voice.info(out, Thread::init, member.slot,
               "Bootstrap timings total 0.41{:04} (create 0.000041, send 0.000188, recv 0.398210, "
               "ring 0.012002, delay 0.000000)",
               1000 + 7 * context.world_rank % 9000);
}

void write_affinity(std::string& out, const SetupContext& context, const Membership& member) {
  const Voice& voice = *context.voice;
  const NcclVersion& version = voice.version();
  if (!version.since(28))
    voice.info(out, Thread::init, member.slot, "Setting affinity for GPU {} to {}", context.bus_of,
               version.since(24, 3) ? "0-31" : "ffffffff");
  if (version.since(30, 3) || (version.since(17, 1) && !version.since(27, 3)))
    voice.info(out, Thread::init, member.slot, "NVLS multicast support is not available on dev {}",
               context.cuda_device);
  else if (version.since(27, 3))
    voice.info(out, Thread::init, member.slot,
               "NVLS multicast support is not available on dev {} (NVLS_NCHANNELS 0)",
               context.cuda_device);
}

void write_topology(std::string& out, const SetupContext& context, const Membership& member) {
  const Voice& voice = *context.voice;
  const NcclVersion& version = voice.version();
  const Communicator& communicator = *member.communicator;
  const int size = communicator.size();
  const int here = context.cluster->host_of(context.world_rank);
  int local_ranks = 0;
  int local_rank = 0;
  for (int rank = 0; rank < size; ++rank) {
    if (context.cluster->host_of(communicator.members[static_cast<std::size_t>(rank)]) != here)
      continue;
    if (rank < member.rank) ++local_rank;
    ++local_ranks;
  }
  if (version.since(20, 3))
    voice.info(out, Thread::init, member.slot,
               "comm 0x{:x} rank {} nRanks {} nNodes {} localRanks {} localRank {} MNNVL 0",
               member.pointer, member.rank, size, communicator.nodes, local_ranks, local_rank);
  if (member.rank == 0) {
    std::string ring;
    const int width = version.since(23, 4) ? static_cast<int>(std::to_string(size - 1).size()) : 4;
    for (int rank = 0; rank < size; ++rank)
      fmt::format_to(std::back_inserter(ring), " {:>{}}", rank, width);
    // A line ends after 1,023 bytes; from 2.23 on the list ends after 128.
    if (version.since(23, 4) && ring.size() > 128) ring = ring.substr(0, 125) + "...";
    if (ring.size() > 900) ring.resize(900);
    for (int channel = 0; channel < kChannels; ++channel)
      voice.info(out, Thread::init, member.slot, "Channel {:02}/{:02} :{}", channel, kChannels,
                 ring);
  }
  voice.info(out, Thread::init, member.slot, "{}", tree(version, member.rank, size));
  if (version.since(16, 2))
    voice.info(out, Thread::init, member.slot, "P2P Chunksize set to {}",
               communicator.nodes > 1 ? 131072 : 524288);
  if (version.since(24, 3) && member.slot == 0) {
    voice.info(out, Thread::init, 0, "PROFILER/Plugin: Could not find: libnccl-profiler.so. ");
    voice.info(out, Thread::service, 0, "[Proxy Service] Device {} CPU core {}",
               context.cuda_device, 2 * context.cuda_device + 1);
    voice.info(out, Thread::uds, 0, "[Proxy Service UDS] Device {} CPU core {}",
               context.cuda_device, 2 * context.cuda_device + 2);
  }
}

void write_connections(std::string& out, const SetupContext& context, const Membership& member,
                       bool done) {
  const Voice& voice = *context.voice;
  const NcclVersion& version = voice.version();
  const int size = member.communicator->size();
  const Thread thread = connects_lazily(version) ? Thread::connect : Thread::init;
  if (size > 1) {
    const int next = (member.rank + 1) % size;
    const int previous = (member.rank + size - 1) % size;
    for (int channel = 0; channel < kChannels; ++channel)
      connection(out, context, member, channel, previous, member.rank, false);
    for (int channel = 0; channel < kChannels; ++channel)
      connection(out, context, member, channel, member.rank, next, false);
  }
  if (member.slot == 0 && member.communicator->nodes > 1 && context.setup->rdma) {
    if (version.since(24, 3))
      voice.info(out, Thread::progress, 0, "[Proxy Progress] Device {} CPU core {}",
                 context.cuda_device, 2 * context.cuda_device + 3);
    voice.info(out, Thread::service, 0, "NCCL_IB_TIMEOUT set by environment to 22.");
  }
  if (!done) return;
  if (version.since(24, 3))
    voice.info(out, thread, member.slot, "Connected all rings, use ring PXN 0 GDR {}",
               context.setup->rdma && context.setup->gdr ? 1 : 0);
  else if (version.since(8, 3))
    voice.info(out, thread, member.slot, "Connected all rings");
  if (!connects_lazily(version) && version.since(8, 3))
    voice.info(out, thread, member.slot, "Connected all trees");
}

void write_init_complete(std::string& out, const SetupContext& context, const Membership& member) {
  const Voice& voice = *context.voice;
  const NcclVersion& version = voice.version();
  const auto say = [&](const std::string& text) {
    voice.info(out, Thread::init, member.slot, "{}", text);
  };
  const int size = member.communicator->size();
  say(fmt::format("threadThresholds 8/8/64 | {}/8/64 | 512{}", size * 8,
                  version.since(12) ? " | 512" : "/512/64"));
  if (version.since(20, 3))
    say("2 coll channels, 2 collnet channels, 0 nvls channels, 2 p2p channels, 2 p2p channels per "
        "peer");
  else if (version.since(17, 1))
    say("2 coll channels, 0 nvls channels, 2 p2p channels, 2 p2p channels per peer");
  else
    say("2 coll channels, 2 p2p channels, 2 p2p channels per peer");
  if (version.since(24, 3) && member.rank == 0) say("CC Off, workFifoBytes 1048576");
  if (version.since(26, 2) && member.slot == 0)
    say("TUNER/Plugin: Could not find: libnccl-tuner.so. Using internal tuner plugin.");
  say(identity(context, member, false) + "- Init COMPLETE");
  if (version.since(23, 4))
    say(fmt::format(
        "Init timings - {}: rank {} nranks {} total 0.93 (kernels 0.14, alloc 0.23, bootstrap "
        "0.41, "
        "allgathers 0.01, topo 0.09, graphs 0.01, connections 0.03, rest 0.01)",
        member.parent != 0 ? "ncclCommSplit" : "ncclCommInitRankConfig", member.rank, size));
}

void write_peer_connection(std::string& out, const SetupContext& context, const Membership& member,
                           int peer, bool sends) {
  connection(out, context, member, 0, sends ? member.rank : peer, sends ? peer : member.rank, true);
}

namespace {

void write_end(std::string& out, const SetupContext& context, const Membership& member,
               std::string_view how) {
  context.voice->info(out, Thread::destroy, member.slot,
                      "comm 0x{:x} rank {} nranks {} cudaDev {} busId {:x} - {} COMPLETE",
                      member.pointer, member.rank, member.communicator->size(), context.cuda_device,
                      context.cluster->bus(context.bus_of), how);
}

}  // namespace

// Older versions print nothing; from 2.30.3 on the subsystem DESTROY must be asked for.
void write_destroy(std::string& out, const SetupContext& context, const Membership& member) {
  const NcclVersion& version = context.voice->version();
  if (version.since(12, 7) && !version.since(30, 3)) write_end(out, context, member, "Destroy");
}

void write_abort(std::string& out, const SetupContext& context, const Membership& member) {
  const NcclVersion& version = context.voice->version();
  if (version.since(12, 7) && !version.since(30, 3)) write_end(out, context, member, "Abort");
}

}  // namespace faultline::simulation
