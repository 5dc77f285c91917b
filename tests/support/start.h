// The start of a job in a few words: every rank prints its settings, joins one communicator and is
// connected in a ring. Eight ranks on a host.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "job.h"

namespace faultline {

// What one rank prints. The defaults are a healthy rank of a cluster with InfiniBand and NVLink.
struct RankStart {
  std::string nccl = "2.27.7+cuda12.8";
  std::string driver = "12080";
  std::map<std::string, std::string> environment = {{"NCCL_IB_HCA", "mlx5"},
                                                    {"NCCL_SOCKET_IFNAME", "eth0"}};
  std::string network = "IB";
  std::string devices = "mlx5_0:1/IB mlx5_1:1/IB mlx5_2:1/IB mlx5_3:1/IB";
  std::string within_host = "P2P/CUMEM";
  std::string between_hosts = "NET/IB";
  bool gdr = true;
  std::string hca = "enabled";  // GPUDirect of the HCA
  std::string channels = "16";
  std::string multicast = "available";
};

using RankStarts = std::function<RankStart(int rank)>;

constexpr std::uint64_t kWorldPointer = 0x9000;

// After job.restart() this is a later attempt on the same machines.
inline void start(Job& job, int ranks, const RankStarts& start_of) {
  for (int rank = 0; rank < ranks; ++rank) {
    const RankStart how = start_of(rank);
    const Speaker speaker = job.speaker_now(rank);
    const std::int64_t thread = speaker.pid + 20;
    const Source source = Job::source_of(rank);
    auto tell = [&](const std::string& group, const std::string& name, const std::string& value) {
      job.say(source, speaker, Setting{group, name, value, thread},
              fmt::format("rank {} has {} {}: {}", rank, group, name, value));
    };
    auto connect = [&](int from, int to, const std::string& direction) {
      const bool within = Job::host_of(from) == Job::host_of(to);
      const std::string& transport = within ? how.within_host : how.between_hosts;
      const bool net = transport.starts_with("NET");
      job.say(source, speaker,
              PeerConnection{.from = from,
                             .to = to,
                             .direction = net ? direction : "",
                             .transport = transport,
                             .device = net ? rank % 4 : -1,
                             .gdr = net && how.gdr,
                             .channels = 16,
                             .thread = thread + 100},
              fmt::format("Channel 00/0 : {} -> {} via {}", from, to, transport));
    };
    CommunicatorInit init{.communicator = kWorldPointer,
                          .rank = rank,
                          .nranks = ranks,
                          .cuda_device = rank % 8,
                          .nvml_device = rank % 8,
                          .gpu = Job::gpu_of(rank),
                          .communicator_id = fmt::format("0xfeed{}", job.speaker_now(0).pid),
                          .thread = thread};

    if (!how.nccl.empty()) tell("version", "nccl", how.nccl);
    if (!how.driver.empty()) tell("version", "driver", how.driver);
    for (const auto& [name, value] : how.environment) tell("environment", name, value);
    tell("devices", "IB", how.devices);
    if (!how.network.empty()) tell("network", "used", how.network);
    job.say(source, speaker, init, fmt::format("rank {} Init START", rank));
    if (!how.multicast.empty()) tell("nvls", "multicast", how.multicast);
    if (!how.hca.empty()) tell("gdr", "mlx5_0", how.hca);
    tell("channels", "collective", how.channels);
    if (rank == 0)
      for (int ring = 0; ring < 2; ++ring) tell("ring", std::to_string(ring), "0 1 2 3");
    init.complete = true;
    job.say(source, speaker, init, fmt::format("rank {} Init COMPLETE", rank));
    if (ranks == 1) continue;
    const int next = (rank + 1) % ranks;
    const int before = (rank + ranks - 1) % ranks;
    connect(rank, next, "send");
    if (Job::host_of(before) != Job::host_of(rank)) connect(before, rank, "receive");
    job.say(source, speaker, SetupStep{.step = "rings", .thread = thread + 100},
            fmt::format("rank {} Connected all rings", rank));
  }
}

// All ranks are alike, except those of one host.
inline RankStarts all_but_host(const std::string& odd, const RankStart& odd_start) {
  return [=](int rank) { return Job::host_of(rank) == odd ? odd_start : RankStart{}; };
}
inline RankStarts all_alike(const RankStart& start_of_all = {}) {
  return [=](int) { return start_of_all; };
}

}  // namespace faultline
