// NCCL's warnings: those about one process, host, GPU or port by itself.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "remarks.h"
#include "rules/answer/diagnosis_forms.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

TEST(RemarkCauses, AnOutOfMemoryNamesRankHostAndGpu) {
  Job job = hosts_of_eight();
  job.warn(9, "Cuda failure 'out of memory'");
  job.warn(9, "Cuda failure 2 'out of memory'");
  const Diagnosis diagnosis = look(job);
  EXPECT_EQ(diagnosis.verdict, Verdict::failed);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.cuda_oom"));
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_EQ(finding.title, "Rank 9 ran out of GPU memory on " + Job::gpu_of(9));
  EXPECT_THAT(finding.subject.hosts, ElementsAre("node-1"));
  EXPECT_EQ(finding.count, 2U);
  EXPECT_THAT(to_text(diagnosis), HasSubstr("NCCL warn Cuda failure 'out of memory'"));
}

TEST(RemarkCauses, AHelperThreadOfAProcessWithSeveralGpusNamesTheHostAlone) {
  Job job;
  const Source source{"j", "all.log", "", -1};
  for (int device = 0; device < 4; ++device)
    job.say(source, Speaker{"node-0", 77, device, -1},
            CommunicatorInit{.communicator = 0x100U + static_cast<unsigned>(device),
                             .rank = device,
                             .nranks = 4,
                             .cuda_device = device,
                             .gpu = Job::gpu_of(device),
                             .communicator_id = "w",
                             .complete = true},
            "init");
  const Remark oom{.dialect = "nccl", .level = "warn", .text = "Cuda failure 'out of memory'"};
  Job of_helper = job;
  of_helper.say(source, Speaker{"node-0", 77, 0, -1}, oom, "WARN");
  EXPECT_THAT(look(of_helper).root_causes.front().subject.ranks, IsEmpty());
  EXPECT_THAT(look(of_helper).root_causes.front().subject.hosts, ElementsAre("node-0"));
  job.say(source, Speaker{"node-0", 77, 2, -1}, oom, "WARN");
  EXPECT_THAT(look(job).root_causes.front().subject.ranks, ElementsAre(2));
}

TEST(RemarkCauses, ARemarkOfAProcessThatIsNoRankNamesItsHost) {
  Job job = hosts_of_eight();
  job.say(Source{"j", "extra.log", "", -1}, Speaker{"node-1", 4242, 0, -1},
          Remark{.dialect = "nccl", .level = "warn", .text = "Cuda failure 'out of memory'"},
          "WARN");
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.cuda_oom"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, IsEmpty());
  EXPECT_THAT(diagnosis.root_causes.front().subject.hosts, ElementsAre("node-1"));
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("Rank unknown"));
}

TEST(RemarkCauses, ALauncherNamesTheRankWhereNoInitLineDoes) {
  Job job;
  job.say(Source{"j", "all.log", "", -1}, Speaker{"node-1", 4242, 0, 12},
          Remark{.dialect = "nccl", .level = "warn", .text = "Cuda failure 'out of memory'"},
          "WARN");
  EXPECT_THAT(look(job).root_causes.front().subject.ranks, ElementsAre(12));
}

TEST(RemarkCauses, SharedMemoryIsFullOnOneHost) {
  Job job;
  job.join_all(16);
  for (int rank : {8, 9, 12})
    job.warn(rank, fmt::format("Error: failed to extend /dev/shm/nccl-x{} to 9637892 bytes", rank));
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("host.shm_full"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.hosts, ElementsAre("node-1"));
  EXPECT_THAT(diagnosis.root_causes.front().evidence, SizeIs(3));
}

TEST(RemarkCauses, LockedMemoryOfAHostIsOneFindingForAllItsRanks) {
  Job job;
  job.join_all(16);
  for (int rank : ranks(0, 8))
    job.warn(rank, "Call to ibv_reg_mr failed with error Cannot allocate memory");
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("host.limits"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.hosts, ElementsAre("node-0"));
  EXPECT_EQ(diagnosis.root_causes.front().count, 8U);
}

TEST(RemarkCauses, AHostWithoutAnInterfaceIsNamed) {
  Job job;
  job.join_all(8);
  job.warn(9, "Bootstrap : no socket interface found");
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("launch.connect_failed"));
  EXPECT_EQ(diagnosis.root_causes.front().title, "node-1 has no interface for NCCL");
}

TEST(RemarkCauses, VersionsThatDifferAreOneFindingHoweverManyRanksSaySo) {
  Job job;
  job.join_all(16);
  for (int rank : ranks(0, 16))
    job.warn(rank, "Mismatched NCCL version detected : rank 0 version 22703 rank 12 version 22203");
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.version_mismatch"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(0, 12));
  EXPECT_THAT(diagnosis.root_causes.front().subject.hosts, ElementsAre("node-0", "node-1"));
}

TEST(RemarkCauses, BothRanksOnOneGpuSayItOfEachOtherAndAreOneFinding) {
  Job job;
  job.join_all(8);
  job.warn(0, "Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 43000");
  job.warn(1, "Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 43000");
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.invalid_usage"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(0, 1));
}

TEST(RemarkCauses, ManyRanksWithOneTroubleAreOneFinding) {
  Job job;
  job.join_all(64);
  for (int rank : ranks(0, 64)) job.warn(rank, "Cuda failure 'out of memory'");
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.cuda_oom"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, SizeIs(64));
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("and 63 others like it"));
}

TEST(RemarkCauses, TwoHostsWithTroublesOfTheirOwnAreTwoFindings) {
  Job job = hosts_of_eight(4);
  job.warn(3, "Error: failed to extend /dev/shm/nccl-a to 9637892 bytes");
  job.warn(25, "NET/IB : mlx5_2:1 async fatal event: local catastrophic error");
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes),
              UnorderedElementsAre("host.shm_full", "network.nic_failure"));
  for (const Finding& finding : diagnosis.root_causes)
    EXPECT_THAT(finding.subject.hosts, SizeIs(1));
}

TEST(RemarkCauses, AFallbackToSocketsSlowsAndFailsNothing) {
  Job job = hosts_of_eight();
  for (int rank : ranks(8, 16)) job.remark(rank, "info", "NET/IB : No device found.");
  const Diagnosis diagnosis = look(job);
  EXPECT_EQ(diagnosis.verdict, Verdict::slow);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("config.network_fallback"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.hosts, ElementsAre("node-1"));
}

// --- Ports --------------------------------------------------------------------------------------

TEST(RemarkCauses, APortThatWentDownExplainsTheRetriesThatFollow) {
  Job job = hosts_of_eight();
  job.warn(1, "NET/IB : mlx5_1:1 Got async error event: port error", at(0));
  job.warn(1, retry_exceeded(1, " hca mlx5_1"), at(32));
  const Diagnosis diagnosis = look(job);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.link_down"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.nics, ElementsAre("node-0/mlx5_1:1"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(1));
  EXPECT_THAT(causes(diagnosis.symptoms), ElementsAre("network.transport_error"));
}

TEST(RemarkCauses, APortThatCameBackWithoutAnErrorIsAFlapAndNoFailure) {
  Job job = hosts_of_eight();
  job.warn(1, "NET/IB : mlx5_1:1 Got async error event: port error", at(0));
  job.warn(1, "NET/IB : mlx5_1:1 Got async error event: port active", at(3));
  const Diagnosis diagnosis = look(job);
  EXPECT_EQ(diagnosis.verdict, Verdict::healthy);
  EXPECT_THAT(causes(diagnosis.observations), ElementsAre("network.link_down"));
  EXPECT_EQ(diagnosis.observations.front().severity, Severity::warning);
}

TEST(RemarkCauses, AnotherPortThatComesUpDoesNotExcuseTheOneThatIsDown) {
  Job job = hosts_of_eight();
  job.warn(1, "NET/IB : mlx5_1:1 Got async error event: port error", at(0));
  job.warn(1, "NET/IB : mlx5_2:1 Got async error event: port active", at(3));
  EXPECT_THAT(causes(look(job).root_causes), ElementsAre("network.link_down"));
}

}  // namespace
}  // namespace faultline
