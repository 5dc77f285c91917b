// Counters of network ports and of both ends of links, beside what the job's ranks say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tool_reports.h"

namespace faultline {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(PortCounters, OfTwoSnapshotsAnHourApartGiveTheRate) {
  Job job = sixteen_ranks();
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

PartReport all_ports(const std::string& port, const std::string& value) {
  return {.tool = "ibqueryerrors",
          .kind = "port",
          .names = {{"node", "gpu-7 mlx5_1"},
                    {"host", "node-1"},
                    {"device", "mlx5_3"},
                    {"guid", "0x946dae0300a1b2c2"},
                    {"port", port}},
          .values = {{"LinkDownedCounter", value}}};
}

TEST(PortCounters, OfAllPortsTogetherCountWhereNoneIsToldByItself) {
  Job job = sixteen_ranks();
  job.part("", all_ports("ALL", "3"), at(0));
  job.part("", all_ports("ALL", "9"), at(kHour));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.link_down"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.nics, ElementsAre("node-1/mlx5_3"));

  for (const char* value : {"3", "9"})
    job.part("", all_ports("1", value), at(value[0] == '3' ? 0 : kHour));
  const Diagnosis by_port = job.diagnosis();
  ASSERT_THAT(causes(by_port.root_causes), ElementsAre("network.link_down"));
  EXPECT_THAT(by_port.root_causes.front().subject.nics, ElementsAre("node-1/mlx5_3:1"));
}

TEST(PortCounters, ThatRoseAndThenStoodStillForHalfAnHourAreOver) {
  Job job = sixteen_ranks();
  for (const auto& [value, minutes] :
       {std::pair{"100", 0}, {"2500", 60}, {"2500", 80}, {"2500", 95}})
    job.part("node-1", counters_of("mlx5_3", {{"symbol_error", value}}), at(minutes * 60));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.link_errors"));
  EXPECT_EQ(diagnosis.root_causes.front().state, FindingState::resolved);
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("and no more since"));
}

TEST(PortCounters, ThatRiseStillOrStoodStillForMinutesAreNotOver) {
  for (const auto& [last, minutes] : {std::pair{"2500", 75}, {"2600", 120}}) {
    Job job = sixteen_ranks();
    job.part("node-1", counters_of("mlx5_3", {{"symbol_error", "100"}}), at(0));
    job.part("node-1", counters_of("mlx5_3", {{"symbol_error", "2500"}}), at(kHour));
    job.part("node-1", counters_of("mlx5_3", {{"symbol_error", last}}), at(minutes * 60));
    const Diagnosis diagnosis = job.diagnosis();
    ASSERT_EQ(diagnosis.root_causes.size(), 1U);
    EXPECT_EQ(diagnosis.root_causes.front().state, FindingState::open) << last;
  }
}

TEST(PortCounters, ThatAreLargeAndDoNotMoveAreHealthy) {
  Job job = sixteen_ranks();
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
  Job job = sixteen_ranks();
  job.part("node-1", counters_of("mlx5_3", {{"symbol_error", "48211"}, {"link_downed", "2"}}));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::healthy);
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
  ASSERT_THAT(causes(diagnosis.observations), ElementsAre("network.link_errors"));
  EXPECT_EQ(diagnosis.observations.front().title,
            "node-1/mlx5_3:1: symbol_error is 48211; one reading does not show when it rose");
  EXPECT_EQ(diagnosis.observations.front().actions.front().command, "perfquery -x -C mlx5_3 -P 1");
}

TEST(PortCounters, ThatBecameFullRoseByAtLeastThat) {
  Job job = sixteen_ranks();
  job.part("node-1", counters_of("mlx5_3", {{"symbol_error", "60000"}}), at(0));
  job.part("node-1", counters_of("mlx5_3", {{"symbol_error", "65535"}}), at(kHour));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(diagnosis.root_causes.size(), 1U);
  EXPECT_THAT(
      diagnosis.root_causes.front().title,
      HasSubstr("symbol_error rose by at least 5535 in 1.0 h (5535 per hour), and is full"));
}

TEST(PortCounters, ThatWereClearedRoseByWhatTheyShowSince) {
  Job job = sixteen_ranks();
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
  Job job = sixteen_ranks();
  job.part("node-1", counters_of("mlx5_3", {{"local_ack_timeout_err", "4294967000"}}), at(0));
  job.part("node-1", counters_of("mlx5_3", {{"local_ack_timeout_err", "704"}}), at(kHour));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(causes(diagnosis.root_causes), std::vector<std::string>{"network.transport_error"});
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("rose by 1000 in 1.0 h"));
  // The port that gets no answer need not be at fault.
  EXPECT_THAT(diagnosis.root_causes.front().subject.nics, IsEmpty());
  EXPECT_THAT(diagnosis.root_causes.front().subject.hosts, IsEmpty());
}

TEST(PortCounters, OfDifferentToolsAreNotSubtracted) {
  Job job = sixteen_ranks();
  job.part("node-1", ibstat("mlx5_3", "37", "0x946dae0300a1b2c2"), at(0), "ibstat.txt");
  job.part("node-1", perfquery("37", {{"SymbolErrorCounter", "65535"}}), at(0));
  job.part("node-1", perfquery("37", {{"SymbolErrorCounter", "71204"}}, "perfquery_extended"),
           at(kHour));
  EXPECT_THAT(job.diagnosis().root_causes, IsEmpty());
}

TEST(PortCounters, WithoutTimesRoseByTheDifferenceWhicheverCameFirst) {
  Job job = sixteen_ranks();
  job.part("node-1", counters_of("mlx5_3", {{"symbol_error", "900000"}}, "perfquery_extended"), {},
           "b.txt");
  job.part("node-1", counters_of("mlx5_3", {{"symbol_error", "100"}}, "perfquery_extended"), {},
           "a.txt");
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(causes(diagnosis.root_causes), std::vector<std::string>{"network.link_errors"});
  EXPECT_THAT(diagnosis.root_causes.front().title,
              HasSubstr("rose by 899900 between two readings without times"));
  EXPECT_LT(diagnosis.root_causes.front().confidence, 0.79);
}

TEST(PortCounters, OfAnInterfaceAreNotThoseOfANvLink) {
  Job job = sixteen_ranks();
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
  Job job = sixteen_ranks();
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
  Job job = sixteen_ranks();
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
  EXPECT_LE(errors->confidence, 0.5);
}

// --- Both ends of a link ------------------------------------------------------------------------

TEST(Links, WithErrorsAtOneEndNameThatEnd) {
  Job job = sixteen_ranks();
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
  Job job = sixteen_ranks();
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
  Job job = sixteen_ranks();
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
  Job job = sixteen_ranks();
  job.part("node-1", counters_of("mlx5_1", {{"port_rcv_remote_physical_errors", "0"}}), at(0));
  job.part("node-1", counters_of("mlx5_1", {{"port_rcv_remote_physical_errors", "9000"}}),
           at(kHour));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.link_errors"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.nics, IsEmpty());
  EXPECT_THAT(diagnosis.root_causes.front().subject.hosts, IsEmpty());
  EXPECT_LE(diagnosis.root_causes.front().confidence, 0.36);
}

TEST(Links, ThatWentDownExplainAStall) {
  Job job = stalled_job();
  job.part("node-1", counters_of("mlx5_1", {{"link_downed", "3"}}), at(0));
  job.part("node-1", counters_of("mlx5_1", {{"link_downed", "4"}}), at(kHour));
  // Nothing is sent any more, so the counter stands still.
  job.part("node-1", counters_of("mlx5_1", {{"link_downed", "4"}}), at(3 * kHour));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::hang);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.link_down"));
  EXPECT_EQ(diagnosis.root_causes.front().severity, Severity::error);
  EXPECT_EQ(diagnosis.root_causes.front().state, FindingState::open);
  EXPECT_THAT(causes(diagnosis.symptoms), ElementsAre("collective.stalled"));
}

TEST(Links, AreHeldUpWhereOnePortWaitsFarMoreThanItsSiblings) {
  Job job = sixteen_ranks();
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
  Job job = sixteen_ranks();
  for (int device = 0; device < 6; ++device) {
    const std::string name = fmt::format("mlx5_{}", device);
    job.part("node-1", counters_of(name, {{"port_xmit_wait", "5"}}), at(0));
    job.part("node-1", counters_of(name, {{"port_xmit_wait", "900000005"}}), at(kHour));
  }
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy);
}

}  // namespace
}  // namespace faultline
