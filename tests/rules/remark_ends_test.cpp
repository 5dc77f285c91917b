// NCCL's warnings: which of the two ends of a connection is at fault.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "remarks.h"

namespace faultline {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::UnorderedElementsAre;

TEST(RemarkCauses, OneReportNamesBothEndsAndSaysThatNothingTellsWhich) {
  Job job = hosts_of_eight();
  job.warn(2,
           retry_exceeded(1, " localGid ::ffff:10.1.1.11 remoteGids::ffff:10.1.1.12 hca mlx5_1"));
  const Diagnosis diagnosis = look(job);
  EXPECT_EQ(diagnosis.verdict, Verdict::failed);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.transport_error"));
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_THAT(finding.subject.hosts, ElementsAre("node-0", "node-1"));
  EXPECT_THAT(finding.subject.ranks, ElementsAre(2));
  EXPECT_THAT(finding.subject.nics, ElementsAre("node-0/mlx5_1"));
  EXPECT_THAT(finding.title, HasSubstr("No answer from node-1 to mlx5_1 on node-0"));
  EXPECT_THAT(finding.title, HasSubstr("only rank 2 on node-0 reports it"));
  EXPECT_LE(finding.confidence, 0.79);
  EXPECT_THAT(finding.evidence.front().text, HasSubstr("Got completion"));
}

TEST(RemarkCauses, SeveralRanksOfOneEndAreCountedAndNotCalledOne) {
  Job job = hosts_of_eight();
  for (const int rank : {2, 3, 5}) job.warn(rank, retry_exceeded(1));
  const Diagnosis diagnosis = look(job);
  ASSERT_FALSE(diagnosis.root_causes.empty());
  EXPECT_THAT(diagnosis.root_causes.front().title,
              HasSubstr("only 3 processes of node-0 report it"));
}

TEST(RemarkCauses, ThePeersLineTellsWhichNicTheOtherEndIs) {
  Job job = hosts_of_eight();
  job.setting(2, "devices", "IB", "mlx5_0:1/RoCE mlx5_1:1/RoCE");
  job.warn(2,
           retry_exceeded(1, " localGid ::ffff:10.1.1.11 remoteGids::ffff:10.1.1.12 hca mlx5_1"));
  job.warn(10,
           retry_exceeded(0, " localGid ::ffff:10.1.1.12 remoteGids::ffff:10.1.1.11 hca mlx5_4"));
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.transport_error"));
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_THAT(finding.subject.nics, ElementsAre("node-0/mlx5_1:1", "node-1/mlx5_4"));
  EXPECT_THAT(finding.subject.ranks, ElementsAre(2, 10));
  EXPECT_THAT(finding.title, HasSubstr("node-0 and node-1 both report it"));
  EXPECT_THAT(finding.evidence, SizeIs(2));
  EXPECT_LE(finding.confidence, 0.79);
}

TEST(RemarkCauses, AGidTellsThePeerWhereNoLineNamesItsAddress) {
  Job job;
  job.join_all(16);  // no interface lines
  job.warn(2, retry_exceeded(1, " localGid fd00::11 remoteGidsfd00::12 hca mlx5_1"));
  job.warn(10, retry_exceeded(0, " localGid fd00::12 remoteGidsfd00::11 hca mlx5_4"));
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.transport_error"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.hosts, ElementsAre("node-0", "node-1"));
}

TEST(RemarkCauses, ANicThatManyCannotReachIsNamedAlone) {
  Job job = hosts_of_eight(6);
  for (int host = 1; host < 6; ++host)
    job.warn(
        8 * host,
        retry_exceeded(0, fmt::format(" localGid fd00::{} remoteGidsfd00::a1 hca mlx5_3", host)));
  job.warn(3, retry_exceeded(2, " localGid fd00::a1 remoteGidsfd00::2 hca mlx5_1"));
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.transport_error"));
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_THAT(finding.subject.hosts, ElementsAre("node-0"));
  EXPECT_THAT(finding.subject.nics, ElementsAre("node-0/mlx5_1"));
  EXPECT_THAT(finding.subject.ranks, ElementsAre(3));
  EXPECT_THAT(finding.title, HasSubstr("node-0/mlx5_1 is an end of all 5 failed connections"));
  EXPECT_GT(finding.confidence, 0.9);
  EXPECT_EQ(finding.count, 6U);
}

TEST(RemarkCauses, ManyFailuresWithoutACommonEndAccuseNobodyLoudly) {
  Job job = hosts_of_eight(6);
  for (int host = 0; host < 6; ++host) job.warn(8 * host, retry_exceeded((host + 1) % 6));
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.transport_error"));
  EXPECT_LE(diagnosis.root_causes.front().confidence, 0.5);
  EXPECT_THAT(diagnosis.root_causes.front().subject.hosts, SizeIs(6));
}

TEST(RemarkCauses, TwoPairsThatShareNothingAreTwoFindings) {
  Job job = hosts_of_eight(4);
  job.warn(0, retry_exceeded(1));
  job.warn(16, retry_exceeded(3));
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes),
              ElementsAre("network.transport_error", "network.transport_error"));
  EXPECT_NE(diagnosis.root_causes[0].subject.hosts, diagnosis.root_causes[1].subject.hosts);
}

TEST(RemarkCauses, AnEndThatNobodyHeardOfIsAskedFor) {
  Job job;
  job.join(0, "world", 0, 16);
  job.setting(0, "interface", "bootstrap", "eth0:10.0.0.10<0>");
  job.warn(0, "socketStartConnect: Connect to 10.0.0.77<39121> failed : No route to host");
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("launch.connect_failed"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.hosts, ElementsAre("node-0"));
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("10.0.0.77"));
  std::vector<std::string> asked;
  for (const MissingEvidence& missing : diagnosis.missing_evidence) asked.push_back(missing.what);
  EXPECT_THAT(asked, Contains("kernel log of node-0"));
  EXPECT_THAT(asked, Contains(HasSubstr("NCCL log of rank 1 to 15")));
}

// --- The far end is gone ------------------------------------------------------------------------

TEST(RemarkCauses, AKilledRankIsNamedAndNotThoseWhoReportIt) {
  Job job = hosts_of_eight();
  // Rank 11 is killed and prints nothing. Its peers see its connections close, give up, and close
  // their own.
  for (int rank : {3, 10, 12}) job.warn(rank, closed_by(1));
  for (int rank : {0, 2, 8, 9, 13}) job.warn(rank, closed_by(0));
  for (int rank : {1, 4, 5, 6, 7, 14, 15}) job.warn(rank, closed_by(1));
  for (int rank : all_but(11, 16)) job.end(rank, "world", CommunicatorEnding::aborted);
  const Diagnosis diagnosis = look(job);
  EXPECT_EQ(diagnosis.verdict, Verdict::failed);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.peer_lost"));
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_THAT(finding.subject.ranks, ElementsAre(11));
  EXPECT_THAT(finding.subject.hosts, ElementsAre("node-1"));
  EXPECT_THAT(finding.title, HasSubstr("rank 11 on it reported nothing"));
  EXPECT_THAT(causes(diagnosis.symptoms), Contains("process.aborted"));
}

TEST(RemarkCauses, OfSilentRanksTheOneThatIsBehindIsNamed) {
  Job job = hosts_of_eight();
  job.call(all_but(13, 16), all_reduce());
  job.warn(2, closed_by(1));
  const Diagnosis diagnosis = look(job);
  EXPECT_EQ(diagnosis.verdict, Verdict::failed);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.peer_lost"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(13));
  EXPECT_THAT(causes(diagnosis.symptoms), ElementsAre("collective.rank_behind"));
}

TEST(RemarkCauses, APeerThatSaidWhyItDiedExplainsItsClosedConnections) {
  Job job = hosts_of_eight();
  job.warn(5, "Cuda failure 'an illegal memory access was encountered'");
  for (int rank : {6, 8, 9}) job.warn(rank, closed_by(0));
  job.warn(0, closed_by(1));  // the ranks that report it close their own
  abort_all(job, 16);
  const Diagnosis diagnosis = look(job);
  EXPECT_EQ(diagnosis.verdict, Verdict::failed);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.gpu_memory_fault"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(5));
  EXPECT_THAT(diagnosis.root_causes.front().subject.gpus, ElementsAre("node-0/" + Job::gpu_of(5)));
  EXPECT_THAT(causes(diagnosis.symptoms),
              UnorderedElementsAre("network.peer_lost", "process.aborted"));
}

TEST(RemarkCauses, AnXidExplainsTheConnectionsOfItsRank) {
  Job job = hosts_of_eight();
  job.xid("node-1", Job::gpu_of(11), 79);
  for (int rank : {3, 10}) job.warn(rank, closed_by(1));
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("gpu.off_bus"));
  EXPECT_THAT(causes(diagnosis.symptoms), ElementsAre("network.peer_lost"));
}

// Two builds read each other's records wrongly, so each looks for its peer at a wrong place.
TEST(RemarkEnds, RecordsThatDoNotFitTogetherAreWhyPeersFindNobody) {
  Job job;
  job.warn(0,
           "Bootstrap Root : mismatch in info from procs, nranks 16 vs 16, nroots 1 vs 1, iroot 0 "
           "vs 0, offset 0 vs 871234567");
  job.warn(9,
           "socketPollConnect: connect to 10.0.0.11<36141> returned Connection refused, exceeded "
           "error retry count after 35 attempts");
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_FALSE(diagnosis.root_causes.empty());
  EXPECT_EQ(diagnosis.root_causes.front().cause, Cause::software_version_mismatch);
}

}  // namespace
}  // namespace faultline
