// Network ports, GPUs, paths and hosts as tools tell of them, beside what the job's ranks say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job.h"
#include "rules/confidence.h"
#include "rules/state/gpus.h"
#include "rules/state/ports.h"

namespace faultline {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using Named = std::vector<NamedValue>;

EventTime at(int second) {
  return EventTime::at(Timestamp(std::chrono::seconds(1'800'000'000 + second)));
}
constexpr int kHour = 3600;

PartReport ibstat(const std::string& device, const std::string& lid, const std::string& guid,
                  const std::string& state = "Active", const std::string& physical = "LinkUp",
                  const std::string& rate = "400") {
  return {.tool = "ibstat",
          .kind = "port",
          .names = {{"device", device},
                    {"node_guid", guid},
                    {"port", "1"},
                    {"lid", lid},
                    {"guid", guid}},
          .values = {{"CA type", "MT4129"},
                     {"State", state},
                     {"Physical state", physical},
                     {"Rate", rate},
                     {"Link layer", "InfiniBand"}}};
}

PartReport perfquery(const std::string& lid, const Named& values,
                     const std::string& tool = "perfquery") {
  return {.tool = tool, .kind = "port", .names = {{"lid", lid}, {"port", "1"}}, .values = values};
}

PartReport counters_of(const std::string& device, const Named& values,
                       const std::string& tool = "sysfs") {
  return {
      .tool = tool, .kind = "port", .names = {{"device", device}, {"port", "1"}}, .values = values};
}

// A switch's port, and what it is cabled to.
PartReport cable(const std::string& port, const std::string& guid, const std::string& host,
                 const std::string& device, const Named& values = {}) {
  return {.tool = "iblinkinfo",
          .kind = "link",
          .names = {{"node", "MF0;leaf01:MQM9700/U1"},
                    {"guid", "0xb83fd2030011e000"},
                    {"port", port},
                    {"peer_guid", guid},
                    {"peer_port", "1"},
                    {"peer_node", host + " " + device},
                    {"peer_host", host},
                    {"peer_device", device}},
          .values = values.empty() ? Named{{"state", "Active"}, {"phys_state", "LinkUp"}} : values};
}

PartReport switch_port(const std::string& port, const Named& values) {
  return {
      .tool = "ibqueryerrors",
      .kind = "port",
      .names = {{"node", "MF0;leaf01:MQM9700/U1"}, {"guid", "0xb83fd2030011e000"}, {"port", port}},
      .values = values};
}

PartReport gpu(const std::string& pci, const Named& values,
               const std::string& tool = "nvidia-smi-q") {
  return {.tool = tool, .kind = "gpu", .names = {{"pci", pci}}, .values = values};
}

// Sixteen ranks on two hosts, in step, from second 0 on.
Job running_job() {
  Job job;
  job.join_all(16);
  job.call(ranks(0, 16), all_reduce(), 100);
  return job;
}

// Everybody entered the last call, and nobody came out of it.
Job stalled_job() {
  Job job;
  job.join_all(16);
  job.call(ranks(0, 16), all_reduce(), 100);
  for (int rank = 0; rank < 16; ++rank) {
    Signature done = all_reduce();
    done.done = true;
    job.call_once(rank, done, "world", 98);
  }
  return job;
}

const Finding* find(const std::vector<Finding>& findings, const std::string& cause) {
  const auto found = std::ranges::find(findings, cause, &Finding::cause);
  return found == findings.end() ? nullptr : &*found;
}

// --- Counters
// ---------------------------------------------------------------------------------------

TEST(PortCounters, OfTwoSnapshotsAnHourApartGiveTheRate) {
  Job job = running_job();
  job.part("node-1", ibstat("mlx5_3", "37", "0x946dae0300a1b2c2"), at(0), "ibstat.txt");
  job.part("node-1", perfquery("37", {{"SymbolErrorCounter", "100"}, {"PortXmitData", "5"}}),
           at(0));
  job.part("node-1", perfquery("37", {{"SymbolErrorCounter", "2500"}, {"PortXmitData", "9"}}),
           at(kHour));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.link_errors"));
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_EQ(finding.title,
            "node-1/mlx5_3:1 counts damaged data on its link: SymbolErrorCounter rose by 2400 in "
            "1.0 h (2400 per hour)");
  EXPECT_THAT(finding.subject.nics, ElementsAre("node-1/mlx5_3:1"));
  EXPECT_THAT(finding.subject.hosts, ElementsAre("node-1"));
  EXPECT_EQ(finding.severity, Severity::error);
  EXPECT_TRUE(finding.part_of_job);
  EXPECT_EQ(finding.evidence.size(), 2U);
  EXPECT_FALSE(finding.actions.empty());
  EXPECT_EQ(diagnosis.verdict, Verdict::slow);
}

TEST(PortCounters, ThatAreLargeAndDoNotMoveAreHealthy) {
  Job job = running_job();
  const Named large{{"symbol_error", "65535"},
                    {"link_downed", "255"},
                    {"port_rcv_errors", "48211"},
                    {"excessive_buffer_overrun_errors", "15"}};
  job.part("node-1", counters_of("mlx5_3", large), at(0));
  job.part("node-1", counters_of("mlx5_3", large), at(kHour));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::healthy);
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
  EXPECT_THAT(diagnosis.observations, IsEmpty());
}

TEST(PortCounters, OfOneSnapshotAreMentionedAndAccuseNobody) {
  Job job = running_job();
  job.part("node-1", counters_of("mlx5_3", {{"symbol_error", "48211"}, {"link_downed", "2"}}));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::healthy);
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
  ASSERT_THAT(causes(diagnosis.observations), ElementsAre("network.link_errors"));
  EXPECT_EQ(diagnosis.observations.front().title,
            "node-1/mlx5_3:1: symbol_error is 48211; one reading does not tell when it rose");
}

TEST(PortCounters, ThatBecameFullRoseByAtLeastThat) {
  Job job = running_job();
  job.part("node-1", counters_of("mlx5_3", {{"symbol_error", "60000"}}), at(0));
  job.part("node-1", counters_of("mlx5_3", {{"symbol_error", "65535"}}), at(kHour));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(diagnosis.root_causes.size(), 1U);
  EXPECT_THAT(
      diagnosis.root_causes.front().title,
      HasSubstr("symbol_error rose by at least 5535 in 1.0 h (5535 per hour), and is full"));
}

TEST(PortCounters, ThatWereClearedRoseByWhatTheyShowSince) {
  Job job = running_job();
  job.part("node-1", counters_of("mlx5_3", {{"symbol_error", "60000"}, {"link_downed", "9"}}),
           at(0));
  job.part("node-1", counters_of("mlx5_3", {{"symbol_error", "4000"}, {"link_downed", "0"}}),
           at(kHour));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(causes(diagnosis.root_causes), std::vector<std::string>{"network.link_errors"});
  EXPECT_THAT(diagnosis.root_causes.front().title,
              HasSubstr("symbol_error rose by at least 4000 in 1.0 h (4000 per hour), and was "
                        "cleared in between"));
}

TEST(PortCounters, ThatWrapGoOnFromZero) {
  Job job = running_job();
  job.part("node-1", counters_of("mlx5_3", {{"local_ack_timeout_err", "4294967000"}}), at(0));
  job.part("node-1", counters_of("mlx5_3", {{"local_ack_timeout_err", "704"}}), at(kHour));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(causes(diagnosis.root_causes), std::vector<std::string>{"network.transport_error"});
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("rose by 1000 in 1.0 h"));
  // Who gets no answer is not who is at fault.
  EXPECT_THAT(diagnosis.root_causes.front().subject.nics, IsEmpty());
  EXPECT_THAT(diagnosis.root_causes.front().subject.hosts, IsEmpty());
}

TEST(PortCounters, OfDifferentToolsAreNotSubtracted) {
  Job job = running_job();
  job.part("node-1", ibstat("mlx5_3", "37", "0x946dae0300a1b2c2"), at(0), "ibstat.txt");
  job.part("node-1", perfquery("37", {{"SymbolErrorCounter", "65535"}}), at(0));
  job.part("node-1", perfquery("37", {{"SymbolErrorCounter", "71204"}}, "perfquery_extended"),
           at(kHour));
  EXPECT_THAT(job.diagnosis().root_causes, IsEmpty());
}

TEST(PortCounters, WithoutTimesRoseByTheDifferenceWhicheverCameFirst) {
  Job job = running_job();
  job.part("node-1", counters_of("mlx5_3", {{"symbol_error", "900000"}}, "perfquery_extended"), {},
           "b.txt");
  job.part("node-1", counters_of("mlx5_3", {{"symbol_error", "100"}}, "perfquery_extended"), {},
           "a.txt");
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(causes(diagnosis.root_causes), std::vector<std::string>{"network.link_errors"});
  EXPECT_THAT(diagnosis.root_causes.front().title,
              HasSubstr("rose by 899900 between two readings without times"));
  EXPECT_LT(diagnosis.root_causes.front().confidence, stated_confidence(0.6));
}

TEST(PortCounters, OfAnInterfaceAreNotThoseOfANvLink) {
  Job job = running_job();
  for (int time : {0, kHour})
    job.part("node-1",
             {.tool = "ip-link",
              .kind = "netdev",
              .names = {{"netdev", "eth0"}},
              .values = {{"RX / errors", time == 0 ? "3" : "90000"}, {"state", "UP"}}},
             at(time));
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy);
}

TEST(PortCounters, OfRequestsThatWereDroppedWithTheirConnectionMeanNothing) {
  Job job = running_job();
  job.part("node-1",
           counters_of("mlx5_3", {{"resp_cqe_error", "11"}, {"resp_cqe_flush_error", "0"}}), at(0));
  job.part("node-1",
           counters_of("mlx5_3", {{"resp_cqe_error", "1009"}, {"resp_cqe_flush_error", "998"}}),
           at(kHour));
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy);
}

TEST(PortCounters, ThatRoseBeforeTheJobBeganAreThePast) {
  Job job;
  job.join_all(16);
  for (int rank = 0; rank < 16; ++rank)
    job.say(Job::source_of(rank), Job::speaker_of(rank),
            CommunicatorInit{.communicator = 0x77,
                             .rank = rank,
                             .nranks = 16,
                             .gpu = Job::gpu_of(rank),
                             .communicator_id = "later",
                             .complete = true},
            "init", at(10 * kHour));
  job.part("node-1", counters_of("mlx5_3", {{"symbol_error", "100"}}), at(0));
  job.part("node-1", counters_of("mlx5_3", {{"symbol_error", "60000"}}), at(kHour));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
  ASSERT_THAT(causes(diagnosis.observations), Contains("network.link_errors"));
  EXPECT_THAT(diagnosis.observations.front().title, HasSubstr("before the job began"));
}

TEST(PortCounters, OfAHostThatRunsNoRankAreABystanders) {
  Job job = running_job();
  job.part("node-7", counters_of("mlx5_3", {{"symbol_error", "100"}}), at(0));
  job.part("node-7", counters_of("mlx5_3", {{"symbol_error", "60000"}}), at(kHour));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::healthy);
  ASSERT_THAT(causes(diagnosis.observations), ElementsAre("network.link_errors"));
  EXPECT_FALSE(diagnosis.observations.front().part_of_job);
}

TEST(PortCounters, ThatRiseSlowlyAreAWarningAndNotWhyARankIsBehind) {
  Job job;
  job.join_all(16);
  job.call(ranks(0, 16), all_reduce(), 100);
  job.call(all_but(11, 16), all_reduce());
  job.part("node-1", counters_of("mlx5_3", {{"symbol_error", "100"}}), at(0));
  job.part("node-1", counters_of("mlx5_3", {{"symbol_error", "130"}}), at(kHour));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.root_causes.front().cause, "collective.rank_behind");
  const Finding* errors = find(diagnosis.root_causes, "network.link_errors");
  ASSERT_NE(errors, nullptr);
  EXPECT_EQ(errors->severity, Severity::warning);
  EXPECT_THAT(errors->explains, IsEmpty());
  EXPECT_LE(errors->confidence, stated_confidence(0.4));
}

// --- Both ends of a link
// ----------------------------------------------------------------------------

TEST(Links, WithErrorsAtOneEndNameThatEnd) {
  Job job = running_job();
  job.part("mgmt", cable("2", "0x946dae0300a1b2d3", "node-1", "mlx5_1"), at(0), "iblinkinfo.txt");
  job.part("node-1", counters_of("mlx5_1", {{"symbol_error", "0"}, {"port_rcv_errors", "0"}}),
           at(0));
  job.part("node-1", counters_of("mlx5_1", {{"symbol_error", "0"}, {"port_rcv_errors", "9000"}}),
           at(kHour));
  job.part("mgmt", switch_port("2", {{"SymbolErrorCounter", "412"}}), at(0), "ibqueryerrors.txt");
  job.part("mgmt", switch_port("2", {{"SymbolErrorCounter", "412"}}), at(kHour),
           "ibqueryerrors.txt");
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.link_errors"));
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_THAT(finding.subject.nics, ElementsAre("node-1/mlx5_1:1"));
  EXPECT_THAT(finding.title, HasSubstr("; switch leaf01 port 2, the other end, is clean"));
}

TEST(Links, WithErrorsAtTheSwitchNameItsPortAndTheHostThatItServes) {
  Job job = running_job();
  job.part("mgmt", cable("2", "0x946dae0300a1b2d3", "node-1", "mlx5_1"), at(0), "iblinkinfo.txt");
  job.part("mgmt", switch_port("2", {{"SymbolErrorCounter", "412"}}), at(0), "ibqueryerrors.txt");
  job.part("mgmt", switch_port("2", {{"SymbolErrorCounter", "9999"}}), at(kHour),
           "ibqueryerrors.txt");
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.link_errors"));
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_THAT(finding.subject.nics, ElementsAre("switch leaf01 port 2"));
  EXPECT_THAT(finding.subject.hosts, ElementsAre("node-1"));
  EXPECT_THAT(finding.title, HasSubstr("; the other end is node-1/mlx5_1:1"));
}

TEST(Links, WithErrorsAtBothEndsAreOneFinding) {
  Job job = running_job();
  job.part("mgmt", cable("2", "0x946dae0300a1b2d3", "node-1", "mlx5_1"), at(0), "iblinkinfo.txt");
  job.part("node-1", counters_of("mlx5_1", {{"port_rcv_errors", "0"}}), at(0));
  job.part("node-1", counters_of("mlx5_1", {{"port_rcv_errors", "9000"}}), at(kHour));
  job.part("mgmt", switch_port("2", {{"SymbolErrorCounter", "0"}}), at(0), "ibqueryerrors.txt");
  job.part("mgmt", switch_port("2", {{"SymbolErrorCounter", "9000"}}), at(kHour),
           "ibqueryerrors.txt");
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.link_errors"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.nics,
              ElementsAre("node-1/mlx5_1:1", "switch leaf01 port 2"));
}

TEST(Links, DamageOfAnEarlierHopNamesNoPort) {
  Job job = running_job();
  job.part("node-1", counters_of("mlx5_1", {{"port_rcv_remote_physical_errors", "0"}}), at(0));
  job.part("node-1", counters_of("mlx5_1", {{"port_rcv_remote_physical_errors", "9000"}}),
           at(kHour));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.link_errors"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.nics, IsEmpty());
  EXPECT_THAT(diagnosis.root_causes.front().subject.hosts, IsEmpty());
  EXPECT_LE(diagnosis.root_causes.front().confidence, stated_confidence(0.3));
}

TEST(Links, ThatWentDownExplainAStall) {
  Job job = stalled_job();
  job.part("node-1", counters_of("mlx5_1", {{"link_downed", "3"}}), at(0));
  job.part("node-1", counters_of("mlx5_1", {{"link_downed", "4"}}), at(kHour));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::hang);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.link_down"));
  EXPECT_EQ(diagnosis.root_causes.front().severity, Severity::error);
  EXPECT_THAT(causes(diagnosis.symptoms), ElementsAre("collective.stalled"));
}

TEST(Links, AreHeldUpWhereOnePortWaitsFarMoreThanItsSiblings) {
  Job job = running_job();
  for (int device = 0; device < 6; ++device) {
    const std::string name = fmt::format("mlx5_{}", device);
    job.part("node-1", counters_of(name, {{"port_xmit_wait", "5"}}), at(0));
    job.part("node-1",
             counters_of(name, {{"port_xmit_wait", device == 4 ? "900000005" : "2000005"}}),
             at(kHour));
  }
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.congestion"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.nics, ElementsAre("node-1/mlx5_4:1"));
}

TEST(Links, ThatAllWaitAlikeAreBusy) {
  Job job = running_job();
  for (int device = 0; device < 6; ++device) {
    const std::string name = fmt::format("mlx5_{}", device);
    job.part("node-1", counters_of(name, {{"port_xmit_wait", "5"}}), at(0));
    job.part("node-1", counters_of(name, {{"port_xmit_wait", "900000005"}}), at(kHour));
  }
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy);
}

// --- Joining
// ------------------------------------------------------------------------------------------

TEST(Ports, AreJoinedOverDeviceGuidLidInterfaceAndPci) {
  Job job;
  job.part("node-1", ibstat("mlx5_3", "37", "0x946dae0300a1b2c2"));
  job.part("node-1", perfquery("37", {{"SymbolErrorCounter", "0"}}), {}, "perfquery.txt");
  job.part("node-1", {.tool = "rdma_link",
                      .kind = "port",
                      .names = {{"device", "mlx5_3"}, {"port", "1"}, {"netdev", "ib3"}},
                      .values = {{"state", "ACTIVE"}}});
  job.part("node-1", {.tool = "sysfs",
                      .kind = "port",
                      .names = {{"pci", "0000:5e:00.0"}, {"device", "mlx5_3"}, {"port", "1"}},
                      .values = {{"rate", "400 Gb/sec (4X NDR)"}}});
  job.part("mgmt", cable("2", "0x946dae0300a1b2c2", "node-1", "mlx5_3"));
  const Ports ports(job.state);
  ASSERT_EQ(ports.all().size(), 2U);
  const NetworkPort* port = ports.find_by_pci("node-1", "0000:5e:00.0");
  ASSERT_NE(port, nullptr);
  EXPECT_EQ(port->device, "mlx5_3");
  EXPECT_EQ(port->netdev, "ib3");
  EXPECT_EQ(port->records.size(), 4U);
  EXPECT_EQ(ports.find_by_device("node-1", "mlx5_3:1"), port);
  EXPECT_EQ(ports.find_by_netdev("node-1", "ib3"), port);
  ASSERT_NE(port->peer, kNoPort);
  EXPECT_EQ(ports.all()[port->peer].label(), "switch leaf01 port 2");
  EXPECT_EQ(ports.find_by_device("node-2", "mlx5_3"), nullptr);
}

TEST(Ports, OfAHostThatNeverNamedItselfToTheFabricAreItsOwn) {
  Job job;
  job.part("node-1", {.tool = "sysfs",
                      .kind = "port",
                      .names = {{"device", "mlx5_3"},
                                {"port", "1"},
                                {"node", "MT4129 ConnectX7   Mellanox Technologies"}},
                      .values = {{"state", "4: ACTIVE"}}});
  job.part("node-1", ibstat("mlx5_3", "37", "0x946dae0300a1b2c2"));
  const Ports ports(job.state);
  ASSERT_EQ(ports.all().size(), 1U);
  EXPECT_EQ(ports.all()[0].label(), "node-1/mlx5_3:1");
}

TEST(Ports, WithGuidsOfZerosAreNotTheSame) {
  Job job;
  job.part("node-1", ibstat("mlx5_3", "", "0x0000000000000000"));
  job.part("node-2", ibstat("mlx5_3", "", "0x0000000000000000"));
  EXPECT_EQ(Ports(job.state).all().size(), 2U);
}

TEST(Ports, OfALidThatTwoHostsHaveStayUnknown) {
  Job job;
  job.part("node-1", ibstat("mlx5_3", "37", "0x946dae0300a1b2c2"));
  job.part("node-2", ibstat("mlx5_3", "37", "0x946dae0300a1ffff"));
  job.part("mgmt", perfquery("37", {{"SymbolErrorCounter", "0"}}));
  const Ports ports(job.state);
  ASSERT_EQ(ports.all().size(), 3U);
  EXPECT_EQ(ports.all()[2].host, "");
  EXPECT_EQ(ports.all()[2].label(), "LID 37 port 1");
}

TEST(Ports, OfALidThatNobodyExplainsAreThoseOfTheHostThatWasAsked) {
  Job job;
  job.part("node-1", perfquery("37", {{"SymbolErrorCounter", "0"}}));
  const Ports ports(job.state);
  ASSERT_EQ(ports.all().size(), 1U);
  EXPECT_EQ(ports.all()[0].label(), "node-1/lid 37");
  EXPECT_TRUE(ports.all()[0].by_lid_alone);
}

// --- State of ports
// -----------------------------------------------------------------------------------

TEST(PortState, DownWhereTheOtherHostsHaveItUpIsACause) {
  Job job;
  job.join_all(32);
  job.call(ranks(0, 32), all_reduce(), 100);
  for (int host = 0; host < 4; ++host)
    for (int device = 0; device < 4; ++device)
      job.part(fmt::format("node-{}", host),
               host == 2 && device == 1
                   ? ibstat("mlx5_1", "", "0x1021", "Down", "Polling", "10")
                   : ibstat(fmt::format("mlx5_{}", device), fmt::format("{}", 10 * host + device),
                            fmt::format("0x10{}{}", host, device)));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.link_down"));
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_THAT(finding.subject.nics, ElementsAre("node-2/mlx5_1:1"));
  EXPECT_EQ(finding.title,
            "node-2/mlx5_1:1 is not up (Down, Polling): nothing answers at the other end of its "
            "cable");
}

TEST(PortState, DownOnAllHostsIsNotCabled) {
  Job job = running_job();
  for (const char* host : {"node-0", "node-1"}) {
    job.part(host, ibstat("mlx5_0", "3", fmt::format("0x1{}", host)));
    job.part(host, ibstat("mlx5_1", "", fmt::format("0x2{}", host), "Down", "Polling", "10"));
  }
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy);
}

TEST(PortState, ASecondPortWithoutACableIsHealthy) {
  Job job;
  job.part("ws", ibstat("mlx4_0", "3", "0x2f79"));
  PartReport second = ibstat("mlx4_0", "", "0x2f7a", "Down", "Polling", "10");
  second.names[2].value = "2";
  job.part("ws", second);
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
}

TEST(PortState, WithoutASubnetManagerIsSaidSo) {
  Job job = running_job();
  job.part("node-0", ibstat("mlx5_0", "", "0x10", "Initializing", "LinkUp"));
  job.part("node-1", ibstat("mlx5_0", "", "0x11", "Initializing", "LinkUp"));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(diagnosis.root_causes.size(), 2U);
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("no subnet manager has set it up"));
}

TEST(PortState, SlowerThanItsSiblingsIsAWarning) {
  Job job = running_job();
  for (int device = 0; device < 8; ++device)
    job.part("node-1", ibstat(fmt::format("mlx5_{}", device), fmt::format("{}", 20 + device),
                              fmt::format("0x20{}", device), "Active", "LinkUp",
                              device == 5 ? "200" : "400"));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.link_errors"));
  EXPECT_EQ(diagnosis.root_causes.front().title,
            "node-1/mlx5_5:1 runs at 200 Gb/s, and its siblings at 400");
  EXPECT_EQ(diagnosis.root_causes.front().severity, Severity::warning);
}

TEST(PortState, OfAdaptersOfAnotherTypeMayDiffer) {
  Job job = running_job();
  for (int device = 0; device < 4; ++device)
    job.part("node-1", ibstat(fmt::format("mlx5_{}", device), fmt::format("{}", 20 + device),
                              fmt::format("0x20{}", device)));
  PartReport other = ibstat("mlx5_4", "30", "0x30", "Active", "LinkUp", "100");
  other.values[0].value = "MT4125";
  job.part("node-1", other);
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy);
}

TEST(PortState, LinksThatCouldBeFasterAreNamedWithBothEnds) {
  Job job = running_job();
  job.part("mgmt", cable("2", "0x946dae0300a1b2d3", "node-1", "mlx5_1",
                         {{"state", "Active"}, {"phys_state", "LinkUp"}, {"could_be", "4X"}}));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.link_errors"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.nics,
              ElementsAre("node-1/mlx5_1:1", "switch leaf01 port 2"));
}

TEST(PortState, ADeviceThatOnlyOneHostLacksIsMissing) {
  Job job;
  job.join_all(32);
  job.call(ranks(0, 32), all_reduce(), 100);
  for (int host = 0; host < 4; ++host)
    for (int device = 0; device < 4; ++device)
      if (host != 3 || device != 2)
        job.part(fmt::format("node-{}", host),
                 ibstat(fmt::format("mlx5_{}", device), fmt::format("{}", 10 * host + device),
                        fmt::format("0x10{}{}", host, device)));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.nic_failure"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.nics, ElementsAre("node-3/mlx5_2"));
}

// --- MTU, paths, hosts
// --------------------------------------------------------------------------------

PartReport netdev(const std::string& name, const std::string& mtu,
                  const std::string& state = "UP") {
  return {.tool = "ip-link",
          .kind = "netdev",
          .names = {{"netdev", name}},
          .values = {{"mtu", mtu}, {"state", state}}};
}

TEST(Mtu, ThatDiffersOnAnInterfaceOfTheJobIsACause) {
  Job job;
  job.join_all(24);
  job.call(ranks(0, 24), all_reduce(), 10);
  for (int rank = 0; rank < 24; ++rank)
    job.setting(rank, "interface", "bootstrap", fmt::format("eth0:10.0.0.{}", rank / 8));
  for (int host = 0; host < 3; ++host)
    job.part(fmt::format("node-{}", host), netdev("eth0", host == 1 ? "1500" : "9000"));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.mtu_mismatch"));
  EXPECT_EQ(diagnosis.root_causes.front().title,
            "The MTU of eth0 differs: 1500 on node-1; 9000 on the others");
  EXPECT_THAT(diagnosis.root_causes.front().subject.hosts, ElementsAre("node-1"));
}

TEST(Mtu, OfBridgesAndOfOtherHostsMayDiffer) {
  Job job = running_job();
  job.part("node-0", netdev("docker0", "1500"));
  job.part("node-1", netdev("docker0", "9000"));
  job.part("node-0", netdev("eth0", "9000"));
  job.part("node-1", netdev("eth0", "9000"));
  job.part("node-9", netdev("eth0", "1500"));
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy);
}

PartReport ping(const std::string& to, const std::string& bytes, const std::string& received) {
  return {.tool = "ping",
          .kind = "path",
          .names = {{"to", to}},
          .values = {{"bytes", bytes}, {"packets transmitted", "3"}, {"received", received}}};
}

TEST(Mtu, APathThatLosesLargePacketsAloneIsABlackHole) {
  Job job = running_job();
  job.part("node-0", ping("node-1", "1472(1500)", "3"));
  job.part("node-0", ping("node-1", "8972(9000)", "0"));
  ASSERT_THAT(causes(job.diagnosis().root_causes), ElementsAre("network.mtu_mismatch"));

  Job healthy = running_job();
  healthy.part("node-0", ping("node-1", "1472(1500)", "3"));
  healthy.part("node-0", ping("node-1", "8972(9000)", "3"));
  EXPECT_EQ(healthy.diagnosis().verdict, Verdict::healthy);
}

TEST(Mtu, ARouterThatAsksForFragmentsIsHeardAmongOtherErrors) {
  Job job = running_job();
  job.part("node-0", {.tool = "ping",
                      .kind = "path",
                      .names = {{"to", "node-1"}},
                      .values = {{"bytes", "8972(9000)"},
                                 {"error", "Frag needed and DF set (mtu = 1500)"},
                                 {"error", "local error: message too long, mtu=1500"},
                                 {"received", "0"}}});
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.mtu_mismatch"));
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("node-0 to node-1"));
  EXPECT_EQ(diagnosis.root_causes.front().severity, Severity::error);
}

TEST(Paths, RefusedMeanSomethingOnlyBeforeTheJobRan) {
  const PartReport refused{.tool = "nc",
                           .kind = "path",
                           .names = {{"to", "10.0.0.8"}, {"port", "29500"}},
                           .values = {{"error", "Connection refused"}}};
  Job starting;
  starting.part("node-1", refused);
  ASSERT_THAT(causes(starting.diagnosis().root_causes), ElementsAre("launch.connect_failed"));
  Job running = running_job();
  running.part("node-1", refused);
  EXPECT_EQ(running.diagnosis().verdict, Verdict::healthy);
}

TEST(Hosts, WhoseSharedMemoryIsFullAreNamed) {
  const auto df = [](const std::string& use, const std::string& mount) {
    return PartReport{.tool = "df",
                      .kind = "host",
                      .names = {{"mount", mount}, {"filesystem", "shm"}},
                      .values = {{"Size", "64M"}, {"Used", "64M"}, {"Use%", use}}};
  };
  Job job = running_job();
  job.part("node-1", df("100%", "/dev/shm"));
  ASSERT_THAT(causes(job.diagnosis().root_causes), ElementsAre("host.shm_full"));
  EXPECT_THAT(job.diagnosis().root_causes.front().subject.hosts, ElementsAre("node-1"));

  Job healthy = running_job();
  healthy.part("node-1", df("100%", "/snap/core"));
  healthy.part("node-1", df("3%", "/dev/shm"));
  EXPECT_EQ(healthy.diagnosis().verdict, Verdict::healthy);
}

TEST(Bandwidth, FarUnderTheRateOfTheLinkIsLow) {
  const auto test = [](const std::string& gbits) {
    return PartReport{.tool = "perftest",
                      .kind = "path",
                      .names = {{"device", "mlx5_0"}, {"to", "node-0"}},
                      .values = {{"#bytes", "65536"}, {"BW average[Gb/sec]", gbits}}};
  };
  Job job = running_job();
  job.part("node-1", ibstat("mlx5_0", "20", "0x200"));
  job.part("node-1", test("97.12"));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("performance.bandwidth_low"));
  EXPECT_EQ(diagnosis.root_causes.front().title,
            "node-1/mlx5_0:1 measured 97.1 Gb/s over a link of 400 Gb/s");

  Job healthy = running_job();
  healthy.part("node-1", ibstat("mlx5_0", "20", "0x200"));
  healthy.part("node-1", test("391.80"));
  EXPECT_EQ(healthy.diagnosis().verdict, Verdict::healthy);
}

// --- GPUs
// -----------------------------------------------------------------------------------------------

struct GpuCase {
  const char* why;
  const char* cause;
  Named sick;
  Named well;
};

TEST(GpuConditions, AreToldFromTheirHealthyTwins) {
  const GpuCase cases[] = {
      {"uncorrectable errors",
       "gpu.ecc_uncorrectable",
       {{"ECC Errors / Volatile / DRAM Uncorrectable", "1"}},
       {{"ECC Errors / Volatile / DRAM Uncorrectable", "0"},
        {"ECC Errors / Volatile / DRAM Correctable", "214"},
        {"ECC Errors / Aggregate / DRAM Uncorrectable", "3"}}},
      {"a remapping is pending",
       "gpu.row_remap",
       {{"Remapped Rows / Pending", "Yes"}},
       {{"Remapped Rows / Pending", "No"}, {"Remapped Rows / Uncorrectable Error", "2"}}},
      {"a remapping failed",
       "gpu.row_remap",
       {{"Remapped Rows / Remapping Failure Occurred", "Yes"}},
       {{"Remapped Rows / Remapping Failure Occurred", "No"}}},
      {"pages wait to be retired",
       "gpu.row_remap",
       {{"Retired Pages / Pending Page Blacklist", "Yes"}},
       {{"Retired Pages / Pending Page Blacklist", "No"}, {"Retired Pages / Double Bit ECC", "5"}}},
      {"slowed by its power supply",
       "gpu.thermal",
       {{"Clocks Event Reasons / HW Slowdown / HW Power Brake Slowdown", "Active"},
        {"Utilization / Gpu", "100 %"}},
       {{"Clocks Event Reasons / HW Slowdown / HW Power Brake Slowdown", "Not Active"},
        {"Clocks Event Reasons / SW Power Cap", "Active"},
        {"Utilization / Gpu", "100 %"}}},
      {"slowed by heat",
       "gpu.thermal",
       {{"Clocks Throttle Reasons / HW Thermal Slowdown", "Active"}, {"Utilization / Gpu", "98 %"}},
       {{"Clocks Throttle Reasons / HW Thermal Slowdown", "Active"}, {"Utilization / Gpu", "0 %"}}},
      {"a narrow PCIe link",
       "pcie.degraded",
       {{"PCI / GPU Link Info / Link Width / Current", "8x"},
        {"PCI / GPU Link Info / Link Width / Max", "16x"}},
       {{"PCI / GPU Link Info / Link Width / Current", "16x"},
        {"PCI / GPU Link Info / Link Width / Max", "16x"}}},
      {"a slow PCIe link under load",
       "pcie.degraded",
       {{"PCI / GPU Link Info / PCIe Generation / Current", "1"},
        {"PCI / GPU Link Info / PCIe Generation / Max", "5"},
        {"Utilization / Gpu", "100 %"}},
       {{"PCI / GPU Link Info / PCIe Generation / Current", "1"},
        {"PCI / GPU Link Info / PCIe Generation / Max", "5"},
        {"Utilization / Gpu", "0 %"}}},
      {"outside its fabric",
       "gpu.nvswitch_error",
       {{"Fabric / State", "In Progress"}},
       {{"Fabric / State", "Completed"}, {"Fabric / Status", "Success"}}},
      {"not on an NVSwitch",
       "gpu.nvswitch_error",
       {{"Fabric / Status", "System not yet initialized"}},
       {{"Fabric / State", "N/A"}, {"Fabric / Status", "N/A"}}},
      {"asks for a reset",
       "gpu.hang",
       {{"GPU Recovery Action", "Reset"}},
       {{"GPU Recovery Action", "None"},
        {"GPU Reset Status / Reset Required", "Requested functionality has been deprecated"}}},
      {"lost", "gpu.off_bus", {{"power.draw", "[GPU is lost]"}}, {{"power.draw", "[N/A]"}}},
  };
  for (const GpuCase& one : cases) {
    Job sick = running_job();
    sick.part("node-1", gpu(Job::gpu_of(11), one.sick));
    const Diagnosis diagnosis = sick.diagnosis();
    ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre(one.cause)) << one.why;
    const Finding& finding = diagnosis.root_causes.front();
    EXPECT_THAT(finding.subject.ranks, ElementsAre(11)) << one.why;
    EXPECT_THAT(finding.subject.gpus, ElementsAre("node-1/" + Job::gpu_of(11))) << one.why;
    EXPECT_FALSE(finding.actions.empty()) << one.why;
    EXPECT_THAT(finding.title, Not(HasSubstr("{"))) << one.why;

    Job well = running_job();
    well.part("node-1", gpu(Job::gpu_of(11), one.well));
    EXPECT_EQ(well.diagnosis().verdict, Verdict::healthy) << one.why;

    Job bystander = running_job();
    bystander.part("node-1", gpu("0000:aa:00.0", one.sick));
    const Diagnosis other = bystander.diagnosis();
    EXPECT_THAT(other.root_causes, IsEmpty()) << one.why;
    EXPECT_THAT(causes(other.observations), ElementsAre(one.cause)) << one.why;
  }
}

// The kernel says it when the driver is loaded, which alone accuses nobody.
TEST(GpuConditions, WhatAToolAndTheKernelSayOfOnePartWeighsAsTheGraverOfTheTwo) {
  Job job = running_job();
  job.kernel("node-1",
             "nvidia " + Job::gpu_of(11) +
                 ": 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link at "
                 "0000:0a:01.0 (capable of 252.048 Gb/s with 16.0 GT/s PCIe x16 link)");
  EXPECT_THAT(job.diagnosis().root_causes, IsEmpty());
  job.part("node-1", gpu(Job::gpu_of(11), {{"PCI / GPU Link Info / Link Width / Max", "16x"},
                                           {"PCI / GPU Link Info / Link Width / Current", "8x"}}));
  EXPECT_THAT(causes(job.diagnosis().root_causes), ElementsAre("pcie.degraded"));
}

TEST(GpuConditions, OfCsvAreThoseOfTheReport) {
  Job job = running_job();
  job.part("node-1", gpu(Job::gpu_of(11),
                         {{"clocks_event_reasons.active", "0x0000000000000080"},
                          {"utilization.gpu", "100 %"}},
                         "nvidia-smi-csv"));
  EXPECT_THAT(causes(job.diagnosis().root_causes), ElementsAre("gpu.thermal"));
  Job healthy = running_job();
  healthy.part("node-1", gpu(Job::gpu_of(11),
                             {{"clocks_event_reasons.active", "0x0000000000000004"},
                              {"utilization.gpu", "100 %"},
                              {"ecc.errors.uncorrected.volatile.total", "0"},
                              {"pcie.link.width.current", "16"},
                              {"pcie.link.width.max", "16"}},
                             "nvidia-smi-csv"));
  EXPECT_EQ(healthy.diagnosis().verdict, Verdict::healthy);
}

TEST(GpuConditions, OfDcgmAreKeyedToTheGpuByItsNumber) {
  const auto diag = [](const std::string& result) {
    return PartReport{.tool = "dcgmi-diag",
                      .kind = "gpu",
                      .names = {{"index", "3"}},
                      .values = {{"GPU Memory", result}, {"Persistence Mode", "Fail"}}};
  };
  Job remap = running_job();
  remap.part("node-1", {.tool = "dcgmi-diag",
                        .kind = "gpu",
                        .names = {{"index", "3"}},
                        .values = {{"Page Retirement/Row Remap", "Fail"}}});
  EXPECT_THAT(causes(remap.diagnosis().root_causes), ElementsAre("gpu.row_remap"));
  Job job = running_job();
  job.part("node-1", diag("Fail"));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("gpu.ecc_uncorrectable"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(11));
  Job healthy = running_job();
  healthy.part("node-1", diag("Pass"));
  EXPECT_EQ(healthy.diagnosis().verdict, Verdict::healthy);
}

TEST(GpuConditions, StopTheRankThatIsBehindOnThatGpu) {
  Job job;
  job.join_all(16);
  job.call(ranks(0, 16), all_reduce(), 100);
  job.call(all_but(11, 16), all_reduce());
  job.part("node-1", gpu(Job::gpu_of(11), {{"ECC Errors / Volatile / DRAM Uncorrectable", "1"}}));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::hang);
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("gpu.ecc_uncorrectable"));
  EXPECT_THAT(causes(diagnosis.symptoms), ElementsAre("collective.rank_behind"));
}

TEST(GpuConditions, AreSurerWhereAnEarlierSampleWasClean) {
  Job job = running_job();
  job.part("node-1", gpu(Job::gpu_of(11), {{"ECC Errors / Volatile / DRAM Uncorrectable", "1"}}),
           at(kHour));
  const double once = job.diagnosis().root_causes.front().confidence;
  job.part("node-1", gpu(Job::gpu_of(11), {{"ECC Errors / Volatile / DRAM Uncorrectable", "0"}}),
           at(0));
  EXPECT_GT(job.diagnosis().root_causes.front().confidence, once);
}

PartReport nvlink(int gpu, int link, const Named& values) {
  return {.tool = "nvidia-smi-nvlink",
          .kind = "nvlink",
          .names = {{"index", std::to_string(gpu)},
                    {"uuid", fmt::format("GPU-{}", gpu)},
                    {"link", std::to_string(link)}},
          .values = values};
}

TEST(NvLinks, ThatAreInactiveOnOneGpuAloneAreFaulty) {
  Job job = running_job();
  for (int gpu = 0; gpu < 4; ++gpu)
    for (int link = 0; link < 6; ++link)
      job.part(
          "node-1",
          nvlink(gpu, link, {{"Status", gpu == 3 && link == 5 ? "<inactive>" : "26.562 GB/s"}}));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("gpu.nvlink_error"));
  // NCCL counts this GPU as nvidia-smi does.
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(11));
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("NVLink 5 of GPU 0000:13:00.0"));
}

TEST(NvLinks, ThatAreInactiveOnAllGpusAreNotWired) {
  Job job = running_job();
  for (int gpu = 0; gpu < 4; ++gpu)
    for (int link = 0; link < 6; ++link)
      job.part("node-1", nvlink(gpu, link, {{"Status", link >= 4 ? "<inactive>" : "26.562 GB/s"}}));
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy);
}

TEST(NvLinks, ThatRecoverAgainAndAgainAreNamed) {
  Job job = running_job();
  job.part("node-1", nvlink(3, 1, {{"Recovery Errors", "1"}, {"CRC Errors", "9"}}), at(0));
  job.part("node-1", nvlink(3, 1, {{"Recovery Errors", "500"}, {"CRC Errors", "9"}}), at(kHour));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("gpu.nvlink_error"));
  EXPECT_THAT(diagnosis.root_causes.front().title,
              HasSubstr("link 1: Recovery Errors rose by 499 in 1.0 h"));
  Job healthy = running_job();
  healthy.part("node-1", nvlink(3, 1, {{"Recovery Errors", "500"}, {"CRC Errors", "90000"}}),
               at(0));
  healthy.part("node-1", nvlink(3, 1, {{"Recovery Errors", "500"}, {"CRC Errors", "90000"}}),
               at(kHour));
  EXPECT_EQ(healthy.diagnosis().verdict, Verdict::healthy);
}

}  // namespace
}  // namespace faultline
