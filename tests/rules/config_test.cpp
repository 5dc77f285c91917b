// Wrong configurations, and right ones that only look wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "rules/detect/configuration.h"
#include "start.h"

namespace faultline {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Hosts = std::vector<std::string>;

const Finding* finding_named(const std::vector<Finding>& findings, std::string_view cause) {
  const auto found = std::ranges::find(findings, cause_named(cause), &Finding::cause);
  return found == findings.end() ? nullptr : &*found;
}

// All findings as text, also for failure messages.
std::string told(const Diagnosis& diagnosis) {
  std::string text;
  for (const Finding& finding : findings_of(diagnosis))
    text += fmt::format("{} {}: {}\n", finding.cause, finding.confidence, finding.title);
  return text;
}

void call_once_each(Job& job, int ranks, int but = -1) {
  for (int rank = 0; rank < ranks; ++rank)
    if (rank != but)
      for (std::uint64_t op = 0; op < 3; ++op)
        job.call_on(rank, kWorldPointer, ranks, all_reduce(), op);
}

// The ranks, eight on each host, start like this and make a few calls.
Diagnosis diagnosis_of(const RankStarts& starts, int ranks = 32) {
  Job job;
  start(job, ranks, starts);
  call_once_each(job, ranks);
  return job.diagnosis();
}

void expect_nothing(const Diagnosis& diagnosis) {
  EXPECT_EQ(diagnosis.verdict, Verdict::healthy) << told(diagnosis);
  EXPECT_EQ(told(diagnosis), "");
}

// Expects this cause and no other, on these hosts.
void expect_cause(const Diagnosis& diagnosis, std::string_view cause, const Hosts& hosts,
                  double at_least, double at_most, const std::string& words) {
  ASSERT_EQ(diagnosis.root_causes.size(), 1u) << told(diagnosis);
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_EQ(finding.cause, cause) << told(diagnosis);
  EXPECT_EQ(finding.subject.hosts, hosts);
  EXPECT_GE(finding.confidence, at_least);
  EXPECT_LE(finding.confidence, at_most);
  EXPECT_EQ(finding.severity, Severity::warning);
  EXPECT_EQ(diagnosis.verdict, Verdict::slow);
  EXPECT_THAT(finding.title, HasSubstr(words));
  EXPECT_FALSE(finding.evidence.empty());
  EXPECT_TRUE(diagnosis.symptoms.empty()) << told(diagnosis);
}

RankStart with(void (*change)(RankStart&)) {
  RankStart start;
  change(start);
  return start;
}

// --- What scripts set ---------------------------------------------------------------------------

void write_script(Job& job, const std::string& name, const std::string& value) {
  job.say({"j", "job.sh", "", -1}, Speaker{}, Setting{"script", name, value, 0},
          "export " + name + "=" + value);
}

TEST(Scripts, AreToldWhatAVariableReallyMeansAndHeldAgainstNobody) {
  Job job;
  start(job, 32, all_alike());
  write_script(job, "NCCL_TIMEOUT", "3600");
  write_script(job, "TORCH_NCCL_TRACE_BUFFER_SIZE", "209715200");
  write_script(job, "NCCL_DEBUG_SUBSYS", "INIT");
  call_once_each(job, 32);
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::healthy) << told(diagnosis);
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
  const Finding* finding = finding_named(diagnosis.observations, "config.environment_mismatch");
  ASSERT_NE(finding, nullptr) << told(diagnosis);
  EXPECT_EQ(finding->severity, Severity::info);
  EXPECT_THAT(finding->title, AllOf(HasSubstr("NCCL_TIMEOUT is 3600: NCCL knows no such variable"),
                                    HasSubstr("counts entries, not bytes")));
  // NCCL printed lines, so NCCL_DEBUG was set somewhere.
  EXPECT_THAT(finding->title, testing::Not(HasSubstr("NCCL_DEBUG_SUBSYS")));
  ASSERT_EQ(finding->evidence.size(), 2U);
  EXPECT_EQ(finding->evidence.front().source, "job.sh");
}

TEST(Scripts, AreNeverWhatAJobHangsFrom) {
  Job job;
  start(job, 32, all_alike());
  write_script(job, "NCCL_TIMEOUT", "3600");
  call_once_each(job, 32, 5);
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_FALSE(diagnosis.root_causes.empty());
  for (const Finding& cause : diagnosis.root_causes)
    EXPECT_EQ(cause.cause, "collective.rank_behind") << told(diagnosis);
}

TEST(Scripts, AreToldOfLinesThatNothingSwitchesOn) {
  for (const bool beside : {false, true}) {
    Job job;
    write_script(job, "NCCL_DEBUG_SUBSYS", "INIT,NET");
    if (beside) write_script(job, "NCCL_DEBUG", "INFO");
    const Diagnosis diagnosis = job.diagnosis();
    EXPECT_EQ(finding_named(diagnosis.observations, "config.environment_mismatch") == nullptr,
              beside)
        << told(diagnosis);
  }
}

// --- Nothing wrong ------------------------------------------------------------------------------

TEST(Configuration, SaysNothingOfAJobWhoseRanksAreAlike) {
  expect_nothing(diagnosis_of(all_alike()));
}

TEST(Configuration, SaysNothingOfASingleHostOverPeerAccess) {
  expect_nothing(diagnosis_of(all_alike(with([](RankStart& s) { s.network = "Socket"; })), 8));
}

TEST(Configuration, SaysNothingOfAClusterWithoutRdma) {
  expect_nothing(diagnosis_of(all_alike(with([](RankStart& s) {
    s.network = "Socket";
    s.devices = "";
    s.between_hosts = "NET/Socket";
    s.gdr = false;
    s.hca = "";
    s.environment.erase("NCCL_IB_HCA");
  }))));
}

TEST(Configuration, SaysNothingOfSettingsThatEachProcessHasOfItsOwn) {
  expect_nothing(diagnosis_of([](int rank) {
    RankStart start;
    start.environment["NCCL_DEBUG_FILE"] = fmt::format("/logs/nccl.{}.log", rank);
    start.environment["NCCL_HOSTID"] = Job::host_of(rank);
    start.environment["NCCL_TOPO_DUMP_FILE"] = fmt::format("/tmp/{}.xml", rank);
    return start;
  }));
}

TEST(Configuration, SaysNothingWhereEveryHostHasItsOwnAnswer) {
  expect_nothing(diagnosis_of([](int rank) {
    RankStart start;
    start.environment["NCCL_SOCKET_IFNAME"] = "bond" + std::to_string(rank / 8);
    start.devices = fmt::format("mlx5_{}:1/IB", rank / 8);
    return start;
  }));
}

TEST(Configuration, SaysNothingOfRanksOfAHostThatDifferAlikeOnAllHosts) {
  expect_nothing(diagnosis_of([](int rank) {
    RankStart start;
    start.environment["NCCL_IB_HCA"] = fmt::format("mlx5_{}", rank % 8);
    start.devices = fmt::format("mlx5_{}:1/IB", rank % 8);
    return start;
  }));
}

TEST(Configuration, SaysNothingOfAProcessThatOnlyJoinsASmallCommunicator) {
  Job job;
  start(job, 16, all_alike());
  call_once_each(job, 16);
  // An evaluator runs beside the training, with one GPU and its own software.
  const Source source{"j", "evaluator.log", "", -1};
  const Speaker evaluator{"node-9", 77, 0, -1};
  job.say(source, evaluator, Setting{"version", "nccl", "2.20.5+cuda12.4", 1}, "version");
  job.say(source, evaluator, Setting{"network", "used", "Socket", 1}, "Using network Socket");
  job.say(source, evaluator, Setting{"environment", "NCCL_ALGO", "Tree", 1}, "NCCL_ALGO");
  for (bool complete : {false, true}) {
    CommunicatorInit init{.communicator = 0x77,
                          .rank = 1,
                          .nranks = 2,
                          .gpu = "0000:10:00.0",
                          .communicator_id = "0xe7a1",
                          .complete = complete,
                          .thread = 1};
    job.say(source, evaluator, init, "Init");
    init.rank = 0;
    job.say(Job::source_of(0), Job::speaker_of(0), init, "Init");
  }
  EXPECT_EQ(told(job.diagnosis()), "");
}

TEST(Configuration, SaysNothingOfALineThatOneProcessDidNotPrint) {
  expect_nothing(diagnosis_of([](int rank) {
    RankStart start;
    if (rank != 5) start.environment["NCCL_ALGO"] = "Ring";
    if (rank != 6) return start;
    start.nccl = start.driver = start.network = start.multicast = start.hca = "";
    return start;
  }));
}

// --- Network ------------------------------------------------------------------------------------

TEST(NetworkFallback, NamesTheHostThatRunsOverSocketsAmongPeersWithInfiniBand) {
  const Diagnosis diagnosis = diagnosis_of(all_but_host("node-2", with([](RankStart& s) {
                                                          s.network = "Socket";
                                                          s.devices = "";
                                                          s.between_hosts = "NET/Socket";
                                                          s.gdr = false;
                                                          s.hca = "";
                                                        })));
  expect_cause(diagnosis, "config.network_fallback", {"node-2"}, 0.8, 0.97,
               "NCCL runs over sockets on node-2, and over IB on its peers: no RDMA device");
}

TEST(NetworkFallback, IsSeenBeforeAnythingIsConnected) {
  Job job;
  for (int rank = 0; rank < 4; ++rank) {
    const Speaker speaker = {"n" + std::to_string(rank), 100 + rank, 0, -1};
    job.say(Job::source_of(rank), speaker,
            Setting{"network", "used", rank == 3 ? "Socket" : "IB", 1}, "Using network");
    job.say(Job::source_of(rank), speaker,
            CommunicatorInit{.communicator = 1,
                             .rank = rank,
                             .nranks = 4,
                             .gpu = "0000:10:00.0",
                             .communicator_id = "0x1",
                             .thread = 1},
            "Init START");
  }
  const Diagnosis diagnosis = job.diagnosis();
  const Finding* finding = finding_named(diagnosis.root_causes, "config.network_fallback");
  ASSERT_NE(finding, nullptr) << told(diagnosis);
  EXPECT_EQ(finding->subject.hosts, Hosts{"n3"});
}

TEST(NetworkFallback, IsLessSureWhereHalfOfTheHostsUseSockets) {
  const Diagnosis diagnosis = diagnosis_of([](int rank) {
    RankStart start;
    if (rank >= 16) {
      start.network = "Socket";
      start.between_hosts = "NET/Socket";
      start.gdr = false;
    }
    return start;
  });
  expect_cause(diagnosis, "config.network_fallback", {"node-2", "node-3"}, 0.6, 0.89, "sockets");
}

TEST(NetworkFallback, IsNamedWhereAllUseSocketsThoughRdmaWasMeant) {
  const Diagnosis diagnosis = diagnosis_of(all_alike(with([](RankStart& s) {
    s.network = "Socket";
    s.devices = "";
    s.between_hosts = "NET/Socket";
    s.gdr = false;
    s.environment["NCCL_IB_HCA"] = "mlx5_bond_0";
  })));
  expect_cause(diagnosis, "config.network_fallback", {"node-0", "node-1", "node-2", "node-3"}, 0.6,
               0.89, "although NCCL_IB_HCA is mlx5_bond_0");
}

TEST(NetworkFallback, IsNamedWhereAllUseSocketsThoughDevicesWereFound) {
  const Diagnosis diagnosis = diagnosis_of(all_alike(with([](RankStart& s) {
    s.network = "Socket";
    s.between_hosts = "NET/Socket";
    s.gdr = false;
    s.environment.clear();
  })));
  expect_cause(diagnosis, "config.network_fallback", {"node-0", "node-1", "node-2", "node-3"}, 0.6,
               0.89, "although it found RDMA devices (mlx5_0:1)");
}

TEST(NetworkFallback, IsOnlyAnObservationWhereSocketsWereAskedForOnAllRanks) {
  const Diagnosis diagnosis = diagnosis_of(all_alike(with([](RankStart& s) {
    s.network = "Socket";
    s.devices = "";
    s.between_hosts = "NET/Socket";
    s.gdr = false;
    s.environment = {{"NCCL_IB_DISABLE", "1"}};
  })));
  EXPECT_EQ(diagnosis.verdict, Verdict::healthy);
  ASSERT_EQ(diagnosis.observations.size(), 1u) << told(diagnosis);
  EXPECT_EQ(diagnosis.observations[0].cause, "config.network_fallback");
  EXPECT_EQ(diagnosis.observations[0].severity, Severity::info);
}

PartReport port_report(std::string_view tool, std::string_view layer, std::string_view state,
                       std::string_view rate) {
  PartReport report{.tool = std::string(tool), .kind = "port", .names = {}, .values = {}};
  report.names = {{"device", "mlx5_0"}, {"port", "1"}};
  report.values = {{"State", std::string(state)},
                   {"Rate", std::string(rate)},
                   {"Link layer", std::string(layer)}};
  return report;
}

// All ranks were told to use sockets; the first `hosts` hosts report these ports.
Diagnosis told_to_use_sockets(const PartReport& ports, int hosts, const std::string& variable,
                              const std::string& value) {
  Job job;
  RankStart sockets;
  sockets.network = "Socket";
  sockets.devices = "";
  sockets.between_hosts = "NET/Socket";
  sockets.gdr = false;
  sockets.environment = {{variable, value}};
  start(job, 32, all_alike(sockets));
  call_once_each(job, 32);
  for (int host = 0; host < hosts; ++host) job.part(fmt::format("node-{}", host), ports);
  return job.diagnosis();
}

TEST(NetworkFallback, IsACauseWhereSocketsWereAskedForAndRdmaPortsAreUp) {
  for (const auto& [variable, value] :
       {std::pair("NCCL_IB_DISABLE", "1"), {"NCCL_NET", "Socket"}}) {
    const Diagnosis diagnosis = told_to_use_sockets(
        port_report("ibstat", "InfiniBand", "Active", "400"), 4, variable, value);
    expect_cause(diagnosis, "config.network_fallback", {"node-0", "node-1", "node-2", "node-3"},
                 0.8, 0.89, fmt::format("because {} is {}", variable, value));
  }
  const Diagnosis roce =
      told_to_use_sockets(port_report("ibstatus", "Ethernet", "4: ACTIVE", "200 Gb/sec (4X HDR)"),
                          4, "NCCL_IB_DISABLE", "1");
  EXPECT_EQ(roce.verdict, Verdict::slow) << told(roce);
}

TEST(NetworkFallback, IsNoCauseWherePortsAreDownOrSlowOrOfOneHost) {
  for (const auto& [ports, hosts] :
       {std::pair(port_report("ibstat", "InfiniBand", "Down", "10"), 4),
        {port_report("ibstat", "Ethernet", "Active", "25"), 4},
        {port_report("ibstat", "InfiniBand", "Active", "400"), 1}}) {
    const Diagnosis diagnosis = told_to_use_sockets(ports, hosts, "NCCL_IB_DISABLE", "1");
    EXPECT_EQ(finding_named(diagnosis.root_causes, "config.network_fallback"), nullptr)
        << told(diagnosis);
  }
}

TEST(NetworkFallback, TellsThatOneHostWasToldToUseSockets) {
  const Diagnosis diagnosis = diagnosis_of(all_but_host("node-1", with([](RankStart& s) {
                                                          s.network = "Socket";
                                                          s.between_hosts = "NET/Socket";
                                                          s.gdr = false;
                                                          s.environment["NCCL_IB_DISABLE"] = "1";
                                                        })));
  expect_cause(diagnosis, "config.network_fallback", {"node-1"}, 0.8, 0.97,
               "NCCL_IB_DISABLE is 1 on node-1");
}

// --- GPUDirect ----------------------------------------------------------------------------------

TEST(GdrDisabled, NamesTheHostWithoutGpuDirect) {
  const Diagnosis diagnosis =
      diagnosis_of(all_but_host("node-3", with([](RankStart& s) { s.gdr = false; })));
  expect_cause(diagnosis, "config.gdr_disabled", {"node-3"}, 0.8, 0.97,
               "RDMA goes through the host's memory on node-3");
}

TEST(GdrDisabled, IsNotSaidWhereNoHostHasIt) {
  expect_nothing(diagnosis_of(all_alike(with([](RankStart& s) { s.gdr = false; }))));
}

TEST(GdrDisabled, IsNotSaidWhereReadingIsOffOnAllHosts) {
  Job job;
  start(job, 32, all_alike(with([](RankStart& s) { s.gdr = false; })));
  for (int rank : {0, 8, 16, 24})
    job.say(Job::source_of(rank), Job::speaker_of(rank),
            PeerConnection{.from = (rank + 31) % 32,
                           .to = rank,
                           .direction = "receive",
                           .transport = "NET/IB",
                           .device = 0,
                           .gdr = true,
                           .thread = 9},
            "receive via NET/IB/0/GDRDMA");
  call_once_each(job, 32);
  expect_nothing(job.diagnosis());
}

TEST(GdrDisabled, IsNotSaidOfAHostOfWhichFewerRanksTell) {
  expect_nothing(diagnosis_of(
      [](int rank) {
        RankStart start;
        start.gdr = rank != 16;  // the only one on node-2
        return start;
      },
      17));
}

TEST(GdrDisabled, IsSeenBeforeAnythingIsConnected) {
  const Diagnosis diagnosis = diagnosis_of([](int rank) {
    RankStart start;
    start.between_hosts = start.within_host = "COLLNET/SHARP";
    start.hca = rank / 8 == 1 ? "disabled" : "enabled";
    return start;
  });
  expect_cause(diagnosis, "config.gdr_disabled", {"node-1"}, 0.8, 0.97,
               "GPUDirect RDMA is disabled on node-1, and enabled on its peers");
}

TEST(GdrDisabled, IsSaidWhereASettingSwitchesItOff) {
  const Diagnosis diagnosis = diagnosis_of(all_alike(with([](RankStart& s) {
    s.gdr = false;
    s.environment["NCCL_NET_GDR_LEVEL"] = "LOC";
  })));
  expect_cause(diagnosis, "config.gdr_disabled", {"node-0", "node-1", "node-2", "node-3"}, 0.5,
               0.89, "NCCL_NET_GDR_LEVEL is LOC on all ranks");
}

// --- Peer access --------------------------------------------------------------------------------

TEST(P2pDisabled, NamesTheHostWhoseGpusGoThroughSharedMemory) {
  const Diagnosis diagnosis = diagnosis_of(
      all_but_host("node-1", with([](RankStart& s) { s.within_host = "SHM/direct/direct"; })));
  expect_cause(diagnosis, "config.p2p_disabled", {"node-1"}, 0.8, 0.97,
               "GPUs of node-1 reach each other through SHM/direct/direct");
}

TEST(P2pDisabled, NamesTheHostWhoseGpusGoThroughTheNetwork) {
  const Diagnosis diagnosis =
      diagnosis_of(all_but_host("node-1", with([](RankStart& s) { s.within_host = "NET/IB"; })));
  expect_cause(diagnosis, "config.p2p_disabled", {"node-1"}, 0.8, 0.97, "through NET/IB");
}

TEST(P2pDisabled, IsNotSaidWhereNoHostHasIt) {
  expect_nothing(diagnosis_of(all_alike(with([](RankStart& s) { s.within_host = "SHM/direct"; }))));
}

TEST(P2pDisabled, IsNotSaidWhereSomePairsOfAHostHaveIt) {
  expect_nothing(diagnosis_of([](int rank) {
    RankStart start;
    if (rank == 3) start.within_host = "SHM/direct";
    return start;
  }));
}

TEST(P2pDisabled, IsSaidWhereASettingSwitchesItOff) {
  const Diagnosis diagnosis = diagnosis_of(all_alike(with([](RankStart& s) {
                                             s.within_host = "SHM/direct";
                                             s.environment["NCCL_P2P_DISABLE"] = "1";
                                           })),
                                           8);
  expect_cause(diagnosis, "config.p2p_disabled", {"node-0"}, 0.5, 0.89, "NCCL_P2P_DISABLE is 1");
}

// --- Settings -----------------------------------------------------------------------------------

TEST(EnvironmentMismatch, NamesTheRankWithAnotherAlgorithm) {
  const Diagnosis diagnosis = diagnosis_of([](int rank) {
    RankStart start;
    start.environment["NCCL_ALGO"] = rank == 21 ? "Tree" : "Ring";
    return start;
  });
  expect_cause(diagnosis, "config.environment_mismatch", {"node-2"}, 0.8, 0.97,
               "NCCL_ALGO is Tree on rank 21 on node-2, Ring on its peers");
  EXPECT_THAT(diagnosis.root_causes[0].subject.ranks, ElementsAre(21));
  EXPECT_THAT(diagnosis.root_causes[0].evidence[0].text, HasSubstr("NCCL_ALGO: Tree"));
}

TEST(EnvironmentMismatch, NamesAHostThatDoesNotSetWhatItsPeersSet) {
  const Diagnosis diagnosis = diagnosis_of([](int rank) {
    RankStart start;
    if (Job::host_of(rank) != "node-1") start.environment["NCCL_PROTO"] = "Simple";
    return start;
  });
  expect_cause(diagnosis, "config.environment_mismatch", {"node-1"}, 0.6, 0.89,
               "NCCL_PROTO is not set on node-1, Simple on its peers");
}

TEST(EnvironmentMismatch, NamesBothHalvesAndIsLessSure) {
  const Diagnosis diagnosis = diagnosis_of([](int rank) {
    RankStart start;
    start.environment["NCCL_BUFFSIZE"] = rank < 16 ? "4194304" : "8388608";
    return start;
  });
  expect_cause(diagnosis, "config.environment_mismatch", {"node-0", "node-1", "node-2", "node-3"},
               0.5, 0.79, "NCCL_BUFFSIZE is 4194304 or 8388608");
}

TEST(EnvironmentMismatch, PutsTheSettingsOfOneHostIntoOneFinding) {
  const Diagnosis diagnosis = diagnosis_of([](int rank) {
    RankStart start;
    start.environment["NCCL_ALGO"] = rank / 8 == 1 ? "Tree" : "Ring";
    start.environment["NCCL_PROTO"] = rank / 8 == 1 ? "LL" : "Simple";
    return start;
  });
  expect_cause(diagnosis, "config.environment_mismatch", {"node-1"}, 0.8, 0.97,
               "NCCL_ALGO is Tree on node-1, Ring on its peers");
  EXPECT_THAT(diagnosis.root_causes[0].title, HasSubstr("; NCCL_PROTO is LL on node-1"));
}

TEST(EnvironmentMismatch, OnlyObservesThatAHostHasAnotherInterfaceIfItWorks) {
  const Diagnosis diagnosis = diagnosis_of(all_but_host(
      "node-1", with([](RankStart& s) { s.environment["NCCL_SOCKET_IFNAME"] = "ens3"; })));
  EXPECT_EQ(diagnosis.verdict, Verdict::healthy);
  ASSERT_EQ(diagnosis.observations.size(), 1u) << told(diagnosis);
  EXPECT_EQ(diagnosis.observations[0].severity, Severity::info);
  EXPECT_EQ(diagnosis.observations[0].subject.hosts, Hosts{"node-1"});
}

TEST(EnvironmentMismatch, NamesAnotherInterfaceOfRanksThatNeverStarted) {
  Job job;
  for (int rank = 0; rank < 4; ++rank) {
    const Speaker speaker = {"n" + std::to_string(rank), 100 + rank, 0, -1};
    job.say(Job::source_of(rank), speaker,
            Setting{"environment", "NCCL_SOCKET_IFNAME", rank == 3 ? "docker0" : "eth0", 1},
            "NCCL_SOCKET_IFNAME set");
    job.say(Job::source_of(rank), speaker,
            CommunicatorInit{.communicator = 1,
                             .rank = rank,
                             .nranks = 4,
                             .gpu = "0000:10:00.0",
                             .communicator_id = "0x1",
                             .thread = 1},
            "Init START");
  }
  const Diagnosis diagnosis = job.diagnosis();
  const Finding* finding = finding_named(diagnosis.root_causes, "config.environment_mismatch");
  ASSERT_NE(finding, nullptr) << told(diagnosis);
  EXPECT_EQ(finding->subject.hosts, Hosts{"n3"});
  EXPECT_THAT(finding->title, HasSubstr("docker0"));
}

TEST(EnvironmentMismatch, NamesAHostThatLostANic) {
  const Diagnosis diagnosis = diagnosis_of(all_but_host(
      "node-3", with([](RankStart& s) { s.devices = "mlx5_0:1/IB mlx5_1:1/IB mlx5_3:1/IB"; })));
  expect_cause(diagnosis, "config.environment_mismatch", {"node-3"}, 0.8, 0.97,
               "NCCL uses 3 NICs on node-3, 4 on its peers");
}

TEST(EnvironmentMismatch, OnlyObservesThatAHostNamesItsNicsOtherwise) {
  const Diagnosis diagnosis = diagnosis_of(all_but_host("node-3", with([](RankStart& s) {
                                                          s.devices =
                                                              "ibp0:1/IB ibp1:1/IB "
                                                              "ibp2:1/IB ibp3:1/IB";
                                                        })));
  EXPECT_EQ(diagnosis.verdict, Verdict::healthy) << told(diagnosis);
  ASSERT_EQ(diagnosis.observations.size(), 1u) << told(diagnosis);
}

TEST(EnvironmentMismatch, NamesAHostWithOtherChannelsThanItsPeers) {
  const Diagnosis diagnosis =
      diagnosis_of(all_but_host("node-0", with([](RankStart& s) { s.channels = "2"; })));
  expect_cause(diagnosis, "config.environment_mismatch", {"node-0"}, 0.8, 0.97,
               "the number of channels is 2 on node-0, 16 on its peers");
}

TEST(EnvironmentMismatch, ObservesAVariableThatNcclDoesNotKnow) {
  const Diagnosis diagnosis =
      diagnosis_of(all_alike(with([](RankStart& s) { s.environment["NCCL_TIMEOUT"] = "3600"; })));
  EXPECT_EQ(diagnosis.verdict, Verdict::healthy);
  ASSERT_EQ(diagnosis.observations.size(), 1u) << told(diagnosis);
  EXPECT_THAT(diagnosis.observations[0].title, HasSubstr("NCCL knows no such variable"));
}

// --- Versions -----------------------------------------------------------------------------------

TEST(VersionMismatch, NamesTheHostWithAnotherNccl) {
  const Diagnosis diagnosis =
      diagnosis_of(all_but_host("node-1", with([](RankStart& s) { s.nccl = "2.21.5+cuda12.4"; })));
  expect_cause(diagnosis, "software.version_mismatch", {"node-1"}, 0.85, 0.97,
               "the NCCL version is 2.21.5+cuda12.4 on node-1, 2.27.7+cuda12.8 on its peers");
}

TEST(VersionMismatch, OnlyObservesAnotherDriver) {
  const Diagnosis diagnosis =
      diagnosis_of(all_but_host("node-1", with([](RankStart& s) { s.driver = "12040"; })));
  EXPECT_EQ(diagnosis.verdict, Verdict::healthy) << told(diagnosis);
  ASSERT_EQ(diagnosis.observations.size(), 1u) << told(diagnosis);
  EXPECT_EQ(diagnosis.observations[0].cause, "software.version_mismatch");
}

// --- Since the last start -----------------------------------------------------------------------

// A job that started like `first`, worked unless `worked` is false, and restarted like `second`.
Diagnosis diagnosis_after(const RankStarts& first, const RankStarts& second, bool worked = true) {
  Job job;
  start(job, 16, first);
  if (worked) call_once_each(job, 16);
  job.restart();
  start(job, 16, second);
  call_once_each(job, 16);
  return job.diagnosis();
}

TEST(SinceTheLastStart, NothingIsSaidOfAStartLikeTheLast) {
  const Diagnosis diagnosis = diagnosis_after(all_alike(), all_alike());
  EXPECT_EQ(diagnosis.attempts, 2);
  expect_nothing(diagnosis);
}

TEST(SinceTheLastStart, AllHostsFellBackToSockets) {
  const Diagnosis diagnosis = diagnosis_after(all_alike(), all_alike(with([](RankStart& s) {
                                                s.network = "Socket";
                                                s.devices = "";
                                                s.between_hosts = "NET/Socket";
                                                s.gdr = false;
                                                s.hca = "";
                                                s.environment.erase("NCCL_IB_HCA");
                                              })));
  const Finding* finding = finding_named(diagnosis.root_causes, "config.network_fallback");
  ASSERT_NE(finding, nullptr) << told(diagnosis);
  EXPECT_EQ(diagnosis.verdict, Verdict::slow);
  EXPECT_EQ(finding->subject.hosts, (Hosts{"node-0", "node-1"}));
  EXPECT_EQ(finding->title,
            "Since the last start: the network is Socket on node-0, node-1, and was IB");
  EXPECT_EQ(finding->evidence.size(), 2u);
  EXPECT_EQ(diagnosis.root_causes.size(), 1u) << told(diagnosis);
}

TEST(SinceTheLastStart, AllHostsLostGpuDirectAndPeerAccess) {
  const Diagnosis diagnosis = diagnosis_after(all_alike(), all_alike(with([](RankStart& s) {
                                                s.within_host = "SHM/direct";
                                                s.gdr = false;
                                              })));
  EXPECT_NE(finding_named(diagnosis.root_causes, "config.gdr_disabled"), nullptr)
      << told(diagnosis);
  EXPECT_NE(finding_named(diagnosis.root_causes, "config.p2p_disabled"), nullptr)
      << told(diagnosis);
}

TEST(SinceTheLastStart, AnUpgradeIsOnlyObserved) {
  const Diagnosis diagnosis = diagnosis_after(all_alike(), all_alike(with([](RankStart& s) {
                                                s.nccl = "2.28.3+cuda12.8";
                                                s.environment["NCCL_IB_TIMEOUT"] = "22";
                                              })));
  EXPECT_EQ(diagnosis.verdict, Verdict::healthy) << told(diagnosis);
  const Finding* finding = finding_named(diagnosis.observations, "software.version_mismatch");
  ASSERT_NE(finding, nullptr) << told(diagnosis);
  EXPECT_THAT(finding->title, HasSubstr("the NCCL version is 2.28.3+cuda12.8 on node-0, node-1"));
}

TEST(SinceTheLastStart, WhatGotBetterIsNotHeldAgainstIt) {
  const RankStarts slow = all_alike(with([](RankStart& s) {
    s.network = "Socket";
    s.devices = "";
    s.between_hosts = "NET/Socket";
    s.within_host = "SHM/direct";
    s.channels = "2";
    s.gdr = false;
    s.environment.clear();
  }));
  expect_nothing(diagnosis_after(slow, all_alike()));
}

TEST(SinceTheLastStart, AStartThatNeverWorkedIsNoMeasure) {
  const Diagnosis diagnosis =
      diagnosis_after(all_alike(), all_alike(with([](RankStart& s) { s.gdr = false; })), false);
  EXPECT_EQ(finding_named(findings_of(diagnosis), "config.gdr_disabled"), nullptr)
      << told(diagnosis);
}

// --- Beside a hang ------------------------------------------------------------------------------

TEST(Configuration, DoesNotExplainAHangNorStandBeforeIt) {
  Job job;
  start(job, 32, all_but_host("node-2", with([](RankStart& s) {
                                s.gdr = false;
                                s.within_host = "SHM/direct";
                                s.nccl = "2.21.5+cuda12.4";
                                s.environment["NCCL_ALGO"] = "Tree";
                              })));
  call_once_each(job, 32);
  for (std::uint64_t call = 3; call < 40; ++call)  // the job worked with these settings
    for (int rank = 0; rank < 32; ++rank)
      if (rank != 20 || call < 39) job.call_on(rank, kWorldPointer, 32, all_reduce(), call);
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::hang);
  ASSERT_FALSE(diagnosis.root_causes.empty());
  EXPECT_EQ(diagnosis.root_causes[0].cause, "collective.rank_behind") << told(diagnosis);
  EXPECT_THAT(diagnosis.root_causes[0].subject.ranks, ElementsAre(20));
  EXPECT_TRUE(diagnosis.symptoms.empty()) << told(diagnosis);
  EXPECT_EQ(diagnosis.root_causes.size(), 5u) << told(diagnosis);
}

}  // namespace
}  // namespace faultline
