// Which reports are about the same port, and ports that are down, slow or missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/state/ports.h"
#include "tool_reports.h"

namespace faultline {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

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
  const NetworkPort* port = ports.find_by_device("node-1", "mlx5_3:1");
  ASSERT_NE(port, nullptr);
  EXPECT_EQ(port->device, "mlx5_3");
  EXPECT_EQ(port->pci, "0000:5e:00.0");
  EXPECT_EQ(port->netdev, "ib3");
  EXPECT_EQ(port->records.size(), 4U);
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

TEST(Ports, OfAGuidThatTwoHostsReportOfThemselvesAreTwo) {
  Job job;
  job.part("node-1", ibstat("mlx5_3", "37", "0x946dae0300a1b2c2"));
  job.part("node-2", ibstat("mlx5_3", "38", "0x946dae0300a1b2c2"));
  const Ports ports(job.state);
  ASSERT_EQ(ports.all().size(), 2U);
  EXPECT_EQ(ports.all()[0].label(), "node-1/mlx5_3:1");
  EXPECT_EQ(ports.all()[1].label(), "node-2/mlx5_3:1");
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

TEST(Ports, OfManyThatOnlyALidTellsAreThoseThatOthersName) {
  constexpr int kFirst = 1000;
  constexpr int kMany = 2000;
  const auto numbered = [](PartReport report, int port) {
    for (NamedValue& name : report.names)
      if (name.name == "port") name.value = std::to_string(port);
    return report;
  };
  Job job;
  for (int port = kFirst; port < kFirst + kMany; ++port)
    job.part("mgmt", numbered(perfquery("37", {{"SymbolErrorCounter", "9"}}), port));
  for (int port = kFirst; port < kFirst + kMany; port += 2)
    job.part("node-1", numbered(ibstat("mlx5_3", "37", "0x946dae0300a1b2c2"), port));
  const Ports ports(job.state);
  ASSERT_EQ(ports.all().size(), kMany);
  for (const NetworkPort& port : ports.all()) {
    const bool named = std::stoi(port.port) % 2 == 0;
    EXPECT_EQ(port.records.size(), named ? 2U : 1U) << port.label();
    EXPECT_EQ(port.by_lid_alone, !named) << port.label();
    EXPECT_EQ(port.host, named ? "node-1" : "mgmt") << port.label();
  }
}

TEST(Ports, OfALidWithoutANumberAreTheOneThatTheHostItselfHas) {
  Job job;
  PartReport unnumbered = perfquery("37", {{"SymbolErrorCounter", "0"}});
  std::erase_if(unnumbered.names, [](const NamedValue& name) { return name.name == "port"; });
  job.part("node-1", ibstat("mlx5_3", "37", "0x946dae0300a1b2c2"));
  job.part("node-2", ibstat("mlx5_3", "37", "0x946dae0300a1ffff"));
  job.part("node-2", unnumbered);
  job.part("mgmt", unnumbered, {}, "other.txt");
  const Ports ports(job.state);
  ASSERT_EQ(ports.all().size(), 3U);
  EXPECT_EQ(ports.find_by_device("node-1", "mlx5_3")->records.size(), 1U);
  EXPECT_EQ(ports.find_by_device("node-2", "mlx5_3")->records.size(), 2U);
}

// --- State of ports -----------------------------------------------------------------------------

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
  Job job = sixteen_ranks();
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
  Job job = sixteen_ranks();
  job.part("node-0", ibstat("mlx5_0", "", "0x10", "Initializing", "LinkUp"));
  job.part("node-1", ibstat("mlx5_0", "", "0x11", "Initializing", "LinkUp"));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(diagnosis.root_causes.size(), 2U);
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_THAT(finding.title, HasSubstr("no subnet manager has set it up"));
  std::string actions;
  for (const Action& action : finding.actions) actions += action.what + '\n';
  EXPECT_THAT(actions, HasSubstr("whether a subnet manager runs"));
  EXPECT_THAT(actions, Not(HasSubstr("Reseat")));
}

TEST(PortState, SlowerThanItsSiblingsIsAWarning) {
  Job job = sixteen_ranks();
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
  Job job = sixteen_ranks();
  for (int device = 0; device < 4; ++device)
    job.part("node-1", ibstat(fmt::format("mlx5_{}", device), fmt::format("{}", 20 + device),
                              fmt::format("0x20{}", device)));
  PartReport other = ibstat("mlx5_4", "30", "0x30", "Active", "LinkUp", "100");
  other.values[0].value = "MT4125";
  job.part("node-1", other);
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy);
}

// All ports of node-0 have the rate `first`, those of the other hosts the rate `others`.
Job hosts_at(int hosts, const std::string& first, const std::string& others) {
  Job job;
  job.join_all(8 * hosts);
  job.call(ranks(0, 8 * hosts), all_reduce(), 10);
  for (int host = 0; host < hosts; ++host)
    for (int device = 0; device < 4; ++device)
      job.part(fmt::format("node-{}", host),
               ibstat(fmt::format("mlx5_{}", device), fmt::format("{}", 10 * host + device),
                      fmt::format("0x10{}{}", host, device), "Active", "LinkUp",
                      host == 0 ? first : others));
  return job;
}

TEST(PortState, AHostWhoseEveryPortIsSlowerThanElsewhereIsOneFinding) {
  const Diagnosis diagnosis = hosts_at(4, "100", "200").diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.link_errors"));
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_EQ(finding.title,
            "All 4 ports of node-0 run at 100 Gb/s, and those of the job's other hosts at 200");
  EXPECT_THAT(finding.subject.hosts, ElementsAre("node-0"));
  EXPECT_EQ(finding.subject.nics.size(), 4U);
  EXPECT_EQ(diagnosis.verdict, Verdict::slow);
}

TEST(PortState, OfTwoHostsTheSlowerOneIsNamedAndNotLoudly) {
  const Diagnosis diagnosis = hosts_at(2, "100", "200").diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.link_errors"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.hosts, ElementsAre("node-0"));
  EXPECT_LE(diagnosis.root_causes.front().confidence, 0.58);
}

TEST(PortState, AFasterHostAmongOthersSlowsNobody) {
  EXPECT_EQ(hosts_at(4, "400", "200").diagnosis().verdict, Verdict::healthy);
  EXPECT_EQ(hosts_at(4, "200", "200").diagnosis().verdict, Verdict::healthy);
}

PartReport mlxlink(const std::string& speed, const std::string& port, const std::string& cable) {
  return {.tool = "mlxlink",
          .kind = "port",
          .names = {{"device", "mlx5_0"}, {"port", "1"}},
          .values = {{"State", "Active"},
                     {"Physical state", "LinkUp"},
                     {"Speed", speed},
                     {"Enabled Link Speed", port},
                     {"Supported Cable Speed", cable}}};
}

TEST(PortState, BelowWhatPortAndCableCanDoIsSlow) {
  Job job = sixteen_ranks();
  job.part("node-1", mlxlink("IB-EDR", "0x00000075 (HDR,EDR,FDR,QDR,SDR)", "HDR,EDR,SDR"));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.link_errors"));
  EXPECT_EQ(diagnosis.root_causes.front().title,
            "node-1/mlx5_0:1 runs at IB-EDR, and both it and its cable can do hdr");

  Job old_cable = sixteen_ranks();
  old_cable.part("node-1", mlxlink("IB-EDR", "0x00000075 (HDR,EDR,FDR,QDR,SDR)", "EDR,SDR"));
  EXPECT_EQ(old_cable.diagnosis().verdict, Verdict::healthy);
}

PartReport ipoib(int number, const std::string& state) {
  return {.tool = "sysfs",
          .kind = "netdev",
          .names = {{"pci", fmt::format("0000:1{}:00.0", number)},
                    {"netdev", fmt::format("ib{}", number)}},
          .values = {{"operstate", state}, {"type", "32"}}};
}

PartReport port_below(int number, const std::string& state) {
  return {.tool = "sysfs",
          .kind = "port",
          .names = {{"pci", fmt::format("0000:1{}:00.0", number)},
                    {"device", fmt::format("mlx5_{}", number)},
                    {"port", "1"}},
          .values = {{"state", state}, {"phys_state", "5: LinkUp"}}};
}

TEST(PortState, AnInterfaceThatIsDownOverAnActivePortIsNamed) {
  Job job = sixteen_ranks();
  for (int number = 0; number < 4; ++number) {
    job.part("node-1", port_below(number, "4: ACTIVE"));
    job.part("node-1", ipoib(number, number == 2 ? "down" : "up"));
  }
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.link_down"));
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_THAT(finding.title,
              HasSubstr("ib2 of node-1 is down (down) though its port mlx5_2 at 0000:12:00.0 is"));
  EXPECT_EQ(finding.severity, Severity::warning);
  EXPECT_EQ(diagnosis.verdict, Verdict::slow);
}

TEST(PortState, ANameOfAnInterfaceIsOneWordOfTheShell) {
  Job job = sixteen_ranks();
  for (int number = 0; number < 4; ++number) {
    job.part("node-1", port_below(number, "4: ACTIVE"));
    PartReport interface = ipoib(number, number == 2 ? "down" : "up");
    if (number == 2) interface.names.back().value = "ib2;reboot";
    job.part("node-1", interface);
  }
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_FALSE(diagnosis.root_causes.empty());
  EXPECT_THAT(diagnosis.root_causes.front().actions,
              Contains(Field(&Action::command, HasSubstr("ip link set 'ib2;reboot' up; ip addr"))));
}

TEST(PortState, InterfacesThatNobodySetUpAreNone) {
  Job job = sixteen_ranks();
  for (int number = 0; number < 4; ++number) {
    job.part("node-1", port_below(number, "4: ACTIVE"));
    job.part("node-1", ipoib(number, number == 0 ? "up" : "down"));
  }
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy);
}

TEST(PortState, LinksThatCouldBeFasterAreNamedWithBothEnds) {
  Job job = sixteen_ranks();
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

}  // namespace
}  // namespace faultline
