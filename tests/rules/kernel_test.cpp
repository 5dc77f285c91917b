// What kernels report, and whether it mattered to the job. Each fault has a twin job in which the
// same lines are old, about a bystander, or harmless.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job.h"

namespace faultline {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr int kStart = 1'800'000'000;

// Seconds after the job began, on a host that had been up for a day then.
EventTime day_up_at(double second) {
  const auto us = static_cast<std::int64_t>(second * 1e6);
  EventTime time = EventTime::at(Timestamp(std::chrono::microseconds(kStart * 1'000'000LL + us)));
  time.uptime_us = 86'400'000'000LL + us;
  return time;
}

// Sixteen ranks on two hosts make calls for a minute; rank 3 never makes the last one.
Job minute_long_job() {
  Job job;
  job.clock = day_up_at(0);
  job.join_all(16);
  job.clock = day_up_at(50);
  job.call(ranks(0, 16), all_reduce(), 20);
  job.clock = day_up_at(60);
  job.call(all_but(3, 16), all_reduce());
  return job;
}

const std::string kGpu3 = Job::gpu_of(3);  // of rank 3, and also of rank 11 on node-1

const Finding* finding_named(const std::vector<Finding>& findings, std::string_view cause) {
  for (const Finding& finding : findings)
    if (finding.cause == cause) return &finding;
  return nullptr;
}

void expect_no_cause(const Diagnosis& diagnosis, std::string_view cause) {
  EXPECT_THAT(causes(diagnosis.root_causes), Not(Contains(std::string(cause))));
}

// --- PCIe ---------------------------------------------------------------------------------------

std::string aer(const std::string& kind, const std::string& device) {
  return "pcieport 0000:0a:01.0: AER: " + kind + " error received: " + device;
}

TEST(KernelPcie, AFatalErrorNamesTheRankOfItsGpu) {
  Job job = minute_long_job();
  job.kernel("node-0", aer("Uncorrected (Fatal)", kGpu3), day_up_at(52));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("pcie.error"));
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_THAT(finding.subject.ranks, ElementsAre(3));
  EXPECT_THAT(finding.subject.hosts, ElementsAre("node-0"));
  EXPECT_THAT(finding.subject.gpus, ElementsAre("node-0/" + kGpu3));
  EXPECT_THAT(causes(diagnosis.symptoms), ElementsAre("collective.rank_behind"));
}

TEST(KernelPcie, FunctionsOfOneCardAreCountedAsOneCard) {
  Job job = minute_long_job();
  for (int function = 0; function < 6; ++function)
    job.kernel("node-0", aer("Uncorrected (Fatal)", fmt::format("0000:5c:00.{}", function)),
               day_up_at(52));
  const auto title_of = [](const Job& of) {
    const Diagnosis diagnosis = of.diagnosis();
    const Finding* finding = finding_named(diagnosis.root_causes, "pcie.error");
    if (finding == nullptr) finding = finding_named(diagnosis.observations, "pcie.error");
    return finding == nullptr ? std::string() : finding->title;
  };
  EXPECT_THAT(title_of(job), AllOf(HasSubstr("0000:5c:00."), Not(HasSubstr("like it"))));
  for (int card = 1; card < 5; ++card)
    job.kernel("node-0", aer("Uncorrected (Fatal)", fmt::format("0000:6c:0{}.0", card)),
               day_up_at(52));
  EXPECT_THAT(title_of(job), HasSubstr("and 4 others like it"));
}

TEST(KernelPcie, AnErrorOfAHostOutsideTheJobIsABystanders) {
  Job job = minute_long_job();
  job.kernel("node-7", aer("Uncorrected (Fatal)", kGpu3), day_up_at(52));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("collective.rank_behind"));
  ASSERT_NE(finding_named(diagnosis.observations, "pcie.error"), nullptr);
  EXPECT_FALSE(finding_named(diagnosis.observations, "pcie.error")->part_of_job);
}

TEST(KernelPcie, OfALogThatNamesNoHostTheRankThatIsWaitedForTellsTheHost) {
  Job job = minute_long_job();
  job.kernel("", aer("Uncorrected (Fatal)", kGpu3), day_up_at(52));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("pcie.error"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(3));
}

TEST(KernelPcie, WhereNoRanksAreKnownTheHostIsLookedAtByItself) {
  Job job("j");
  job.kernel("node-0", aer("Uncorrected (Fatal)", kGpu3), day_up_at(52));
  ASSERT_THAT(causes(job.diagnosis().root_causes), ElementsAre("pcie.error"));
}

TEST(KernelPcie, AnErrorBeforeTheJobIsOld) {
  Job job = minute_long_job();
  job.kernel("node-0", aer("Uncorrected (Fatal)", kGpu3), day_up_at(-7200));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("collective.rank_behind"));
  ASSERT_NE(finding_named(diagnosis.observations, "pcie.error"), nullptr);
  EXPECT_THAT(finding_named(diagnosis.observations, "pcie.error")->title,
              HasSubstr("before the job began"));
}

TEST(KernelPcie, ErrorsBeforeAGpuFellOffTheBusAreEvidenceOfThat) {
  Job job = minute_long_job();
  job.kernel("node-0", aer("Uncorrected (Fatal)", kGpu3), day_up_at(52));
  job.kernel("node-0", "pcieport 0000:0a:01.0: AER: device recovery failed", day_up_at(53));
  job.xid("node-0", kGpu3, 79, day_up_at(55));
  job.xid("node-0", Job::gpu_of(4), 45, day_up_at(56));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("gpu.off_bus"));
  std::string evidence;
  for (const Evidence& line : diagnosis.root_causes.front().evidence) evidence += line.text + '\n';
  EXPECT_THAT(evidence, HasSubstr("AER: Uncorrected (Fatal)"));
  EXPECT_THAT(evidence, HasSubstr("device recovery failed"));
  EXPECT_THAT(causes(diagnosis.symptoms), Contains("pcie.error"));
}

TEST(KernelPcie, APortThatCutOffWhatIsBelowIsToldByTheGpuThatWasLost) {
  Job job = minute_long_job();
  job.kernel("node-0", "pcieport 0000:0a:01.0: DPC: containment event, status:0x1f01 source:0x0000",
             day_up_at(54.9));
  job.xid("node-0", kGpu3, 79, day_up_at(55));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("gpu.off_bus"));
  EXPECT_THAT(causes(diagnosis.symptoms), Contains("pcie.error"));
}

TEST(KernelPcie, ThePortOfAGpuThatWasLostAndIsNoRanksIsABystandersToo) {
  Job job = minute_long_job();
  job.kernel("node-0", aer("Uncorrected (Fatal)", "0000:f3:00.0"), day_up_at(52));
  job.xid("node-0", "0000:f3:00.0", 79, day_up_at(55));
  expect_no_cause(job.diagnosis(), "pcie.error");
}

TEST(KernelPcie, AFaultThatTheJobOutlivedAccusesNobody) {
  Job job = sixteen_ranks(20, day_up_at(0));
  job.kernel("node-0", aer("Uncorrected (Fatal)", kGpu3), day_up_at(55));
  job.xid("node-1", Job::gpu_of(5), 79, day_up_at(55));
  EXPECT_EQ(job.diagnosis().root_causes.size(), 2U);
  for (int rank = 0; rank < 16; ++rank) job.end(rank, "world", CommunicatorEnding::destroyed);
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::healthy);
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
  EXPECT_THAT(causes(diagnosis.observations), Contains("gpu.off_bus"));
}

TEST(KernelHosts, AHostMayBeOneOfTheRanksThatNobodySaw) {
  Job job;
  for (int rank = 0; rank < 8; ++rank) job.join(rank, "world", rank, 16);
  job.kernel("node-1", "Kernel panic - not syncing: Fatal Machine check");
  const Diagnosis diagnosis = job.diagnosis();
  const Finding* panic = finding_named(diagnosis.observations, "host.down");
  ASSERT_NE(panic, nullptr);
  EXPECT_TRUE(panic->part_of_job);
  EXPECT_THAT(panic->title, Not(HasSubstr("does not use")));
}

TEST(KernelPcie, ACardOfAnotherDriverDoesNotExplainALostGpu) {
  Job job = minute_long_job();
  job.kernel("node-0",
             "nvme 0000:e1:00.0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), "
             "type=Transaction Layer, (Requester ID)",
             day_up_at(52));
  job.xid("node-0", kGpu3, 79, day_up_at(55));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_FALSE(diagnosis.root_causes.empty());
  EXPECT_EQ(diagnosis.root_causes.front().cause, "gpu.off_bus");
}

TEST(KernelPcie, AFewCorrectedErrorsAreNoFault) {
  Job job = minute_long_job();
  for (int i = 0; i < 5; ++i) job.kernel("node-0", aer("Corrected", kGpu3), day_up_at(10 + i));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("collective.rank_behind"));
  const Finding* finding = finding_named(diagnosis.observations, "pcie.degraded");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, Severity::info);
  EXPECT_EQ(finding->count, 5U);
}

TEST(KernelPcie, AStormOfCorrectedErrorsIsOneFindingAndStopsNobody) {
  Job job = minute_long_job();
  for (int i = 0; i < 500; ++i)
    job.kernel("node-0", aer("Corrected", kGpu3), day_up_at(10 + 0.05 * i));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("collective.rank_behind"));
  const Finding* finding = finding_named(diagnosis.observations, "pcie.degraded");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, Severity::warning);
  EXPECT_EQ(finding->count, 500U);
  EXPECT_THAT(finding->subject.ranks, ElementsAre(3));
}

TEST(KernelPcie, WhatAHostSaysWhileItStartsDoesNotCount) {
  Job job = minute_long_job();
  EventTime young = day_up_at(52);
  young.uptime_us = 20'000'000;
  job.kernel("node-0", aer("Uncorrected (Non-Fatal)", kGpu3), young);
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("collective.rank_behind"));
  EXPECT_EQ(finding_named(diagnosis.observations, "pcie.error"), nullptr);
}

// --- Networks -----------------------------------------------------------------------------------

const std::string kLinkDown = "mlx5_core 0000:5c:00.0 ens3f0np0: Link down";
const std::string kLinkUp = "mlx5_core 0000:5c:00.0 ens3f0np0: Link up";

std::string retries_exhausted() {
  return "NET/IB: Got completion from peer 10.0.0.11<51544> with status=12 opcode=32698 len=32696 "
         "vendor err 129 (Send)";
}

Job job_with_nics() {
  Job job = minute_long_job();
  for (int rank = 0; rank < 16; ++rank)
    job.setting(rank, "devices", "IB", "mlx5_0:1/IB mlx5_2:1/IB");
  job.kernel("node-0", "mlx5_core 0000:5c:00.0: mlx5_2: registered", day_up_at(-86'390));
  return job;
}

TEST(KernelLinks, ALinkThatStaysDownNamesTheNicByTheNameThatNcclHasForIt) {
  Job job = job_with_nics();
  job.kernel("node-0", kLinkDown, day_up_at(51));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.link_down"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.nics, ElementsAre("node-0/mlx5_2:1"));
  EXPECT_THAT(causes(diagnosis.symptoms), Contains("collective.rank_behind"));
}

TEST(KernelLinks, ALinkThatCameBackAtOnceIsAFlap) {
  Job job = job_with_nics();
  job.kernel("node-0", kLinkDown, day_up_at(51));
  job.kernel("node-0", kLinkUp, day_up_at(54));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("collective.rank_behind"));
  const Finding* finding = finding_named(diagnosis.observations, "network.link_down");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(finding->title, HasSubstr("came back after 3 s"));
}

TEST(KernelLinks, ALinkThatFlappedAndWentDownAgainIsDown) {
  Job job = job_with_nics();
  job.kernel("node-0", kLinkDown, day_up_at(41));
  job.kernel("node-0", kLinkUp, day_up_at(44));
  job.kernel("node-0", kLinkDown, day_up_at(51));
  EXPECT_THAT(causes(job.diagnosis().root_causes), ElementsAre("network.link_down"));
}

TEST(KernelLinks, ALinkThatCameBackTooLateExplainsTheRetriesThatRanOut) {
  Job job = job_with_nics();
  job.kernel("node-0", kLinkDown, day_up_at(51));
  job.warn(2, retries_exhausted(), day_up_at(85));
  job.kernel("node-0", kLinkUp, day_up_at(110));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), Contains("network.link_down"));
  EXPECT_THAT(causes(diagnosis.symptoms), Contains("network.transport_error"));
}

TEST(KernelLinks, ANicThatTheJobDoesNotUseIsABystander) {
  Job job = job_with_nics();
  job.kernel("node-0", "mlx5_5: Port: 1 Link DOWN", day_up_at(51));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("collective.rank_behind"));
  const Finding* finding = finding_named(diagnosis.observations, "network.link_down");
  ASSERT_NE(finding, nullptr);
  EXPECT_FALSE(finding->part_of_job);
}

TEST(KernelLinks, ANicThatIsAtTheAddressOfNoneOfTheJobsIsABystander) {
  Job job = job_with_nics();
  const std::string kFails =
      "mlx5_core 0000:9f:00.0: poll_health:825:(pid 0): device's health compromised - reached miss "
      "count";
  job.kernel("node-0", kFails, day_up_at(51));
  EXPECT_THAT(causes(job.diagnosis().root_causes), Contains("network.nic_failure"));
  job.kernel("node-0", "mlx5_core 0000:1a:00.0: mlx5_0: registered", day_up_at(-86'391));
  expect_no_cause(job.diagnosis(), "network.nic_failure");
}

TEST(KernelLinks, ATitleThatBeginsWithANicWithoutANameBeginsWithACapital) {
  Job job = job_with_nics();
  job.kernel("node-0",
             "mlx5_core 0000:9f:00.0: Port module event[error]: module 1, Cable error, Bad or "
             "shorted cable/module",
             day_up_at(51));
  const Diagnosis diagnosis = job.diagnosis();
  const Finding* finding = finding_named(diagnosis.root_causes, "network.nic_failure");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(finding->title, testing::StartsWith("The NIC at 0000:9f:00.0 on node-0"));
}

TEST(KernelLinks, AReportOfAToolTeachesWhichDeviceIsAtAnAddress) {
  Job job = minute_long_job();
  for (int rank = 0; rank < 16; ++rank) job.setting(rank, "devices", "IB", "mlx5_0:1/IB");
  job.say(
      Job::kernel_of("node-0"), Speaker{},
      PartReport{
          .tool = "rdma", .kind = "port", .names = {{"device", "mlx5_7"}, {"pci", "0000:5C:00.0"}}},
      "mlx5_7");
  job.kernel("node-0", kLinkDown, day_up_at(51));
  const Diagnosis diagnosis = job.diagnosis();
  const Finding* finding = finding_named(diagnosis.observations, "network.link_down");
  ASSERT_NE(finding, nullptr) << "mlx5_7 is none of the job's";
  EXPECT_THAT(finding->subject.nics, ElementsAre("node-0/mlx5_7"));
}

TEST(KernelLinks, AnInterfaceThatLostItsCarrierAndGotItBackIsNotDown) {
  Job job = minute_long_job();
  job.system("node-0", "systemd-networkd", "ib1: Lost carrier", day_up_at(51));
  EXPECT_THAT(causes(job.diagnosis().root_causes), ElementsAre("network.link_down"));
  job.system("node-0", "systemd-networkd", "ib1: Gained carrier", day_up_at(54));
  EXPECT_THAT(causes(job.diagnosis().root_causes), ElementsAre("collective.rank_behind"));
}

TEST(KernelLinks, FirmwareThatFailedIsTheNicsFault) {
  Job job = job_with_nics();
  job.kernel("node-0",
             "mlx5_core 0000:5c:00.0: poll_health:825:(pid 0): device's health "
             "compromised - reached miss count",
             day_up_at(51));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.nic_failure"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.nics, ElementsAre("node-0/mlx5_2:1"));
}

TEST(KernelLinks, ALinkThatIsDownInAJobThatRunsAccusesNobody) {
  Job job = sixteen_ranks(20, day_up_at(0));
  job.kernel("node-0", kLinkDown, day_up_at(51));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
  EXPECT_NE(finding_named(diagnosis.observations, "network.link_down"), nullptr);
}

TEST(KernelGpus, AFabricManagerThatHasNoSwitchesDidNotFail) {
  for (const bool no_switches : {false, true}) {
    Job job = minute_long_job();
    if (no_switches)
      job.system("node-0", "nvidia-fabricmanager-start.sh",
                 "request to query NVSwitch device information from NVSwitch driver failed with "
                 "error:WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]",
                 day_up_at(50));
    job.system("node-0", "systemd",
               "nvidia-fabricmanager.service: Control process exited, code=exited, "
               "status=1/FAILURE",
               day_up_at(51));
    const Diagnosis diagnosis = job.diagnosis();
    EXPECT_EQ(finding_named(diagnosis.root_causes, "gpu.nvswitch_error") == nullptr, no_switches);
  }
}

// --- Out of memory ------------------------------------------------------------------------------

void kill_for_memory(Job& job, const std::string& host, int pid, double second) {
  job.kernel(host,
             "python3 invoked oom-killer: gfp_mask=0x140dca(GFP_HIGHUSER_MOVABLE), order=0, "
             "oom_score_adj=0",
             day_up_at(second));
  job.kernel(host,
             fmt::format("oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=x.scope,"
                         "mems_allowed=0-1,oom_memcg=/kubepods/pod1,task_memcg=/kubepods/pod1/8f,"
                         "task=pt_main_thread,pid={},uid=1000",
                         pid),
             day_up_at(second + 0.001));
  job.kernel(host,
             fmt::format("Memory cgroup out of memory: Killed process {} (pt_main_thread) "
                         "total-vm:512004120kB, anon-rss:131051200kB",
                         pid),
             day_up_at(second + 0.002));
  job.kernel(host,
             fmt::format("oom_reaper: reaped process {} (pt_main_thread), now anon-rss:0kB", pid),
             day_up_at(second + 0.1));
}

TEST(KernelOom, AllLinesOfOneKillAreOneFindingThatNamesTheRank) {
  Job job = minute_long_job();
  kill_for_memory(job, "node-0", 1003, 55);
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("host.oom_killed"));
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_THAT(finding.subject.ranks, ElementsAre(3));
  EXPECT_THAT(finding.title, HasSubstr("process 1003 (pt_main_thread)"));
  std::string evidence;
  for (const Evidence& line : finding.evidence) evidence += line.text + '\n';
  EXPECT_THAT(evidence, HasSubstr("task_memcg=/kubepods/pod1/8f"));
  EXPECT_THAT(evidence, HasSubstr("invoked oom-killer"));
}

TEST(KernelOom, AVictimThatIsNoRankNamesTheHostAndOnlyWhereARankStopped) {
  Job stalled = minute_long_job();
  kill_for_memory(stalled, "node-0", 41310, 55);
  const Diagnosis diagnosis = stalled.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("host.oom_killed"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, IsEmpty());
  EXPECT_LT(diagnosis.root_causes.front().confidence, 0.89);

  Job running = sixteen_ranks(20, day_up_at(0));
  kill_for_memory(running, "node-0", 41310, 55);
  EXPECT_THAT(running.diagnosis().root_causes, IsEmpty());
}

TEST(KernelOom, AServiceThatIsKilledForItsOwnLimitIsNotTheJobs) {
  Job job = minute_long_job();
  job.kernel("node-0",
             "Memory cgroup out of memory: Killed process 62195 (node_exporter) "
             "total-vm:1240048kB, anon-rss:524288kB",
             day_up_at(52));
  expect_no_cause(job.diagnosis(), "host.oom_killed");
}

TEST(KernelOom, AKillOnAHostOfNobodysExplainsNothing) {
  Job job = minute_long_job();
  kill_for_memory(job, "node-9", 1003, 55);
  EXPECT_THAT(causes(job.diagnosis().root_causes), ElementsAre("collective.rank_behind"));
}

TEST(KernelOom, TwoVictimsAreNotOne) {
  Job job = minute_long_job();
  kill_for_memory(job, "node-0", 1003, 55);
  kill_for_memory(job, "node-0", 1004, 56);
  std::vector<int> killed;
  const Diagnosis diagnosis = job.diagnosis();
  for (const Finding& finding : findings_of(diagnosis))
    if (finding.cause == "host.oom_killed")
      killed.insert(killed.end(), finding.subject.ranks.begin(), finding.subject.ranks.end());
  EXPECT_THAT(killed, testing::UnorderedElementsAre(3, 4));
}

// --- Storage and hangs --------------------------------------------------------------------------

const std::string kNfsDown = "nfs: server fs-01.example not responding, still trying";
const std::string kNfsOk = "nfs: server fs-01.example OK";

TEST(KernelStorage, AServerThatIsSilentHoldsUpTheRank) {
  Job job = minute_long_job();
  job.kernel("node-0", kNfsDown, day_up_at(52));
  job.kernel("node-0", "INFO: task pt_main_thread:1003 blocked for more than 120 seconds.",
             day_up_at(180));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("host.storage_stall"));
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("fs-01.example"));
  EXPECT_THAT(causes(diagnosis.symptoms), Contains("host.cpu_hang"));
}

TEST(KernelStorage, AServerThatCameBackIsNotTheCause) {
  Job job = minute_long_job();
  job.kernel("node-0", kNfsDown, day_up_at(20));
  job.kernel("node-0", "INFO: task pt_main_thread:1003 blocked for more than 120 seconds.",
             day_up_at(30));
  job.kernel("node-0", kNfsOk, day_up_at(45));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("collective.rank_behind"));
  ASSERT_NE(finding_named(diagnosis.observations, "host.storage_stall"), nullptr);
  EXPECT_EQ(finding_named(diagnosis.observations, "host.cpu_hang"), nullptr);
}

TEST(KernelStorage, AnotherServersAnswerEndsNothing) {
  Job job = minute_long_job();
  job.kernel("node-0", kNfsDown, day_up_at(52));
  job.kernel("node-0", "nfs: server fs-02.example OK", day_up_at(54));
  EXPECT_THAT(causes(job.diagnosis().root_causes), ElementsAre("host.storage_stall"));
}

TEST(KernelStorage, AServerThatWasSilentHoursBeforeTheJobDoesNotHoldItUp) {
  Job job = minute_long_job();
  job.kernel("node-0", kNfsDown, day_up_at(-4 * 3600));
  expect_no_cause(job.diagnosis(), "host.storage_stall");
}

TEST(KernelStorage, AServerThatWasSilentBeforeTheJobAndStillIsHoldsItUp) {
  Job job = minute_long_job();
  job.kernel("node-0", kNfsDown, day_up_at(-900));
  EXPECT_THAT(causes(job.diagnosis().root_causes), ElementsAre("host.storage_stall"));
}

TEST(KernelStorage, ManyHostsThatLostOneServerAreOneFinding) {
  Job job;
  job.clock = day_up_at(0);
  job.join_all(64);
  job.call(ranks(0, 64), all_reduce(), 20);
  job.call(all_but(3, 64), all_reduce());
  for (int host = 0; host < 8; ++host)
    job.kernel(fmt::format("node-{}", host), kNfsDown, day_up_at(52 + 0.1 * host));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("host.storage_stall"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.hosts, SizeIs(8));
}

TEST(KernelHangs, ALockupThatTheJobOutlivedForAnHourIsNotTheCause) {
  Job job = minute_long_job();
  job.kernel("node-0", "watchdog: BUG: soft lockup - CPU#44 stuck for 26s! [kworker/u264:2:21877]",
             day_up_at(10));
  EXPECT_THAT(causes(job.diagnosis().root_causes), ElementsAre("host.cpu_hang"));
  job.clock = day_up_at(3700);
  job.call(ranks(0, 8), all_reduce(2048), 1);
  expect_no_cause(job.diagnosis(), "host.cpu_hang");
}

// --- Memory and hosts ---------------------------------------------------------------------------

TEST(KernelMemory, AnErrorThatWasNotCorrectedStandsByItself) {
  Job job = sixteen_ranks(20, day_up_at(0));
  job.kernel("node-0",
             "EDAC MC1: 1 UE memory read error on CPU_SrcID#1_MC#0_Chan#1_DIMM#0 "
             "(channel:1 slot:0 page:0x30aa905 offset:0xa80 grain:32)",
             day_up_at(52));
  ASSERT_THAT(causes(job.diagnosis().root_causes), ElementsAre("host.memory_error"));
}

TEST(KernelMemory, CorrectedErrorsAreNoFault) {
  Job job = minute_long_job();
  for (int i = 0; i < 50; ++i)
    job.kernel(
        "node-0",
        fmt::format(
            "EDAC MC0: 1 CE memory read error on "
            "CPU_SrcID#0_MC#0_Chan#1_DIMM#0 (channel:1 slot:0 page:0x{:x} offset:0xa80 grain:32 "
            "syndrome:0x0)",
            0x30aa905 + i),
        day_up_at(10 + i * 0.5));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("collective.rank_behind"));
  const Finding* finding = finding_named(diagnosis.observations, "host.memory_error");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->count, 50U) << "equal but for the page";
}

TEST(KernelMemory, AProcessThatLostItsMemoryIsNamedByItsRank) {
  Job job = minute_long_job();
  job.kernel("node-0",
             "Memory failure: 0x30aa905: Sending SIGBUS to pt_main_thread:1003 due to "
             "hardware memory corruption",
             day_up_at(52));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("host.memory_error"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(3));
}

TEST(KernelHosts, APanicTakesAllRanksOfItsHost) {
  Job job = minute_long_job();
  job.kernel("node-0", "Kernel panic - not syncing: Fatal Machine check", day_up_at(52));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("host.down"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, SizeIs(8));
}

TEST(KernelHosts, APanicMayHaveTakenRanksOfWhichNoLineSaysWhereTheyRanUnlessThereAreMany) {
  for (const int loose : {1, 65}) {
    Job job;
    job.clock = day_up_at(0);
    for (int rank = 0; rank < 16; ++rank) job.join(rank, "world", rank, 16 + loose);
    for (int i = 0; i < loose; ++i)
      job.say({"j", fmt::format("loose{}.log", i), "", -1}, Speaker{},
              CommunicatorInit{.communicator = 0x7000 + static_cast<std::uint64_t>(i),
                               .rank = 16 + i,
                               .nranks = 16 + loose,
                               .communicator_id = "world",
                               .complete = true},
              "a rank joins", day_up_at(0));
    job.clock = day_up_at(60);
    job.call(all_but(3, 16), all_reduce());
    job.kernel("node-0", "Kernel panic - not syncing: Fatal Machine check", day_up_at(52));
    const Diagnosis diagnosis = job.diagnosis();
    ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("host.down"));
    EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, SizeIs(loose == 1 ? 9 : 8));
  }
}

TEST(KernelHosts, AHostThatStartedAnewWhileTheJobRanWentDown) {
  Job job = minute_long_job();
  job.kernel("node-0", "mlx5_core 0000:5c:00.0: mlx5_2: registered", day_up_at(-50));
  EventTime boot = day_up_at(240);
  boot.uptime_us = 0;
  job.boot("node-0", boot);
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("host.down"));
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("rebooted without a shutdown"));
}

// NCCL's lines have no time stamps. The line of the Xid has one, and names the rank's process.
TEST(KernelHosts, AnXidOfARankDatesAJobWhoseOwnLinesHaveNoTime) {
  const auto verdict_on = [](std::int64_t pid, double reboot) {
    Job job;
    job.join_all(16);
    job.call(ranks(0, 16), all_reduce(), 20);
    job.call(all_but(3, 16), all_reduce());
    job.say(Job::kernel_of("node-0"), Speaker{},
            GpuXid{.gpu = kGpu3, .code = 119, .pid = pid, .process = "python3"}, "Xid 119",
            day_up_at(55));
    job.kernel("node-1", "mlx5_core 0000:5c:00.0: mlx5_2: registered", day_up_at(-50));
    EventTime boot = day_up_at(reboot);
    boot.uptime_us = 0;
    job.boot("node-1", boot);
    return causes(job.diagnosis().root_causes);
  };
  const std::int64_t rank_3 = Job::speaker_of(3).pid;
  EXPECT_THAT(verdict_on(rank_3, 240), ElementsAre("gpu.gsp_timeout", "host.down"));
  EXPECT_THAT(verdict_on(rank_3 + 5000, 240), ElementsAre("gpu.gsp_timeout")) << "nobody's process";
  EXPECT_THAT(verdict_on(rank_3, 9000), ElementsAre("gpu.gsp_timeout")) << "hours later";
}

TEST(KernelHosts, AHostThatWasShutDownIsNotAccused) {
  Job job = minute_long_job();
  job.system("node-0", "systemd", "Reached target System Reboot.", day_up_at(200));
  job.kernel("node-0", kNfsDown, day_up_at(203));
  job.kernel("node-0", "reboot: Restarting system", day_up_at(210));
  EventTime boot = day_up_at(240);
  boot.uptime_us = 0;
  job.boot("node-0", boot);
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("collective.rank_behind"));
  EXPECT_EQ(finding_named(diagnosis.observations, "host.storage_stall"), nullptr);
}

TEST(KernelHosts, ALogThatBeginsWithABootTellsOfNoCrash) {
  Job job = minute_long_job();
  job.boot("node-0", day_up_at(-86'400));
  EXPECT_THAT(causes(job.diagnosis().root_causes), ElementsAre("collective.rank_behind"));
}

TEST(KernelHosts, ACrashInNcclIsTheRanksWhoseProcessItWas) {
  Job job = minute_long_job();
  job.kernel("node-0",
             "pt_main_thread[1003]: segfault at 18 ip 00007f6a2c0b1f2d sp 00007f69d55fd7c0 "
             "error 4 in libnccl.so.2[7f6a2c000000+3a0000]",
             day_up_at(52));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.rank_crashed"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(3));
}

TEST(KernelHosts, HeatOfACpuSlowsAndStopsNobody) {
  Job job = minute_long_job();
  for (int i = 0; i < 40; ++i)
    job.kernel("node-0",
               fmt::format("CPU41: Package temperature is above threshold, cpu clock is "
                           "throttled (total events = {})",
                           9 + i),
               day_up_at(10 + i * 0.5));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_FALSE(diagnosis.root_causes.empty());
  expect_no_cause(diagnosis, "host.cpu_hang");
}

// --- What no signature knows --------------------------------------------------------------------

const std::string kUnread = "NVRM: kfspPollForResponse_IMPL: FSP command timed out";

Job running_job() {
  Job job;
  job.clock = day_up_at(0);
  job.join_all(16);
  job.clock = day_up_at(50);
  job.call(ranks(0, 16), all_reduce(), 20);
  return job;
}

TEST(KernelUnread, AnErrorOfADriverLeavesAJobThatShowsNothingElseOpen) {
  Job job = running_job();
  ASSERT_EQ(job.diagnosis().verdict, Verdict::healthy);
  job.kernel("node-0", kUnread, day_up_at(40));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::unknown);
  for (const Finding& cause : diagnosis.root_causes)
    EXPECT_LT(cause.confidence, 0.5) << "by its words at most";
  EXPECT_THAT(causes(diagnosis.observations), Contains("host.error"));
}

TEST(KernelUnread, AnErrorOfADriverAccusesNobodyWhereAJobStands) {
  Job job = minute_long_job();
  job.kernel("node-0", kUnread, day_up_at(40));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::hang);
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("collective.rank_behind"));
  EXPECT_THAT(causes(diagnosis.observations), Contains("host.error"));
}

TEST(KernelUnread, AnErrorOfNobodysHostOrOfAnotherTimeIsNoDoubt) {
  struct Case {
    const char* why;
    const char* host;
    double second;
  };
  const Case cases[] = {{"a host that the job does not run on", "node-7", 40},
                        {"before the job", "node-0", -7200}};
  for (const Case& c : cases) {
    Job job = running_job();
    job.kernel(c.host, kUnread, day_up_at(c.second));
    EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy) << c.why;
  }
  Job outlived = running_job();
  outlived.kernel("node-0", kUnread, day_up_at(40));
  for (int rank = 0; rank < 16; ++rank) outlived.end(rank, "world", CommunicatorEnding::destroyed);
  EXPECT_EQ(outlived.diagnosis().verdict, Verdict::healthy) << "it came to its end";
}

TEST(KernelHosts, ThousandsOfTextsOfOneLogAreBounded) {
  Job job = minute_long_job();
  for (int i = 0; i < 5000; ++i)
    job.kernel("node-0", fmt::format("nfs: server fs-{}x not responding, still trying", i),
               day_up_at(10));
  ASSERT_THAT(job.state.kernel_lines().logs(), SizeIs(1));
  EXPECT_LE(job.state.kernel_lines().logs().front().texts.size(), 2048U);
  EXPECT_EQ(causes(job.diagnosis().root_causes).size(), 1U);
}

TEST(Kernel, ABootBringsLinksUpAndDownAndBreaksNone) {
  EventTime young;
  young.uptime_us = 131'000'000;
  const auto verdict_on = [&](const std::string& text) {
    Job job;
    job.kernel("node-0", text, young);
    return job.diagnosis().verdict;
  };
  EXPECT_EQ(verdict_on("mlx5_core 0000:5c:00.0 ens3f0np0: Link down"), Verdict::unknown);
  EXPECT_EQ(verdict_on("mlx5_core 0000:5c:00.0: poll_health:820:(pid 0): device's health "
                       "compromised - reached miss count"),
            Verdict::failed);
}

TEST(Kernel, AWatchdogOfAnInterfaceNamesIt) {
  Job job;
  job.kernel("node-0", "NETDEV WATCHDOG: ens7 (ixgbe): transmit queue 3 timed out", day_up_at(0));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_FALSE(diagnosis.root_causes.empty());
  EXPECT_THAT(diagnosis.root_causes.front().title, testing::HasSubstr("ens7 on node-0 stopped"));
}

// Without a job, it does not matter when the fault was: the only question is what is wrong here.
TEST(Kernel, WithoutALineOfAJobAFaultIsSurerThanBesideAJobOfAnOpenTime) {
  const auto sureness = [](bool with_job) {
    Job job;
    if (with_job) {
      job.join_all(16);
      job.call(ranks(0, 16), all_reduce(), 3);
    }
    EventTime up;
    up.uptime_us = 86'400'000'000;
    job.kernel("node-0", "nfs: server filer-2 not responding, still trying", up);
    const Diagnosis diagnosis = job.diagnosis();
    return diagnosis.root_causes.empty() ? 0.0 : diagnosis.root_causes.front().confidence;
  };
  EXPECT_GT(sureness(false), 0.65);
  EXPECT_LT(sureness(false), 0.8);
  EXPECT_LT(sureness(true), 0.6);
}

}  // namespace
}  // namespace faultline
