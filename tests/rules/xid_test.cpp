// What the kernels say of GPUs, in jobs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job.h"

namespace faultline {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

EventTime up(double second) {
  return EventTime::since_boot(static_cast<std::int64_t>(second * 1e6));
}

void report(Job& job, const std::string& host, const std::string& gpu, int code, double second,
            const std::string& detail = "", std::int64_t pid = 0) {
  GpuXid xid{.gpu = gpu, .code = code, .detail = detail};
  if (pid != 0) xid.pid = pid;
  job.say(Job::kernel_of(host), Speaker{}, xid, fmt::format("Xid {} {}", code, detail), up(second));
}

TEST(Xids, EveryCodeGivesItsClassSeverityAndAction) {
  static const Catalog catalog = load_catalog();
  for (const auto& [code, meaning] : catalog.xids) {
    SCOPED_TRACE(code);
    Job job = sixteen_ranks();
    job.xid("node-0", Job::gpu_of(3), code);
    const std::vector<Finding> found = findings_of(job.diagnosis());
    if (meaning.cause == Cause::none) {
      EXPECT_THAT(found, IsEmpty());
      continue;
    }
    ASSERT_THAT(causes(found), ElementsAre(name_of(meaning.cause)));
    EXPECT_EQ(found[0].severity, meaning.severity);
    EXPECT_THAT(actions_of(found[0]), HasSubstr(meaning.action));
    EXPECT_THAT(actions_of(found[0]), HasSubstr(meaning.escalation));
    EXPECT_THAT(found[0].title, HasSubstr(fmt::format("Xid {}", code)));
  }
}

TEST(Xids, NoProgramsFaultIsAnsweredWithAReplacement) {
  static const Catalog catalog = load_catalog();
  for (const auto& [code, meaning] : catalog.xids) {
    if (!is_of(meaning.cause, Family::software)) continue;
    Job job = sixteen_ranks();
    job.xid("node-0", Job::gpu_of(3), code);
    for (const Finding& finding : findings_of(job.diagnosis())) {
      EXPECT_THAT(actions_of(finding), Not(HasSubstr("eplace"))) << code;
      EXPECT_THAT(actions_of(finding), Not(HasSubstr("RMA"))) << code;
      EXPECT_THAT(actions_of(finding), Not(HasSubstr("swap"))) << code;
    }
  }
}

TEST(Xids, LinesOfOneMemoryErrorAreOneIncidentAndTheDriversAdviceCounts) {
  Job job = sixteen_ranks();
  const std::string gpu = Job::gpu_of(3);
  report(job, "node-0", gpu, 48, 100,
         "An uncorrectable double bit error (DBE) has been detected on "
         "GPU in the framebuffer at partition 7, subpartition 0.");
  report(job, "node-0", gpu, 63, 100.02,
         "Row Remapper: New row (0x10c2a7e000) marked for "
         "remapping, reset gpu to activate.");
  report(job, "node-0", gpu, 94, 100.03, "Contained: SM (0x1). RST: No, D-RST: No");
  report(job, "node-0", gpu, 154, 100.04,
         "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)");
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(findings_of(diagnosis)), ElementsAre("gpu.ecc_uncorrectable"));
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_THAT(finding.title, HasSubstr("(Xid 48, 63, 94"));
  EXPECT_EQ(finding.severity, Severity::critical);
  EXPECT_THAT(actions_of(finding), HasSubstr("GPU Reset Required"));
  EXPECT_THAT(actions_of(finding), HasSubstr("WORKFLOW_XID_48"));
}

TEST(Xids, ATimeoutBeforeAGpuFellOffTheBusIsNoSecondRoot) {
  for (const int first : {119, 8, 109, 74}) {
    SCOPED_TRACE(first);
    Job job = sixteen_ranks();
    report(job, "node-0", Job::gpu_of(3), first, 100);
    report(job, "node-0", Job::gpu_of(3), 79, 160);
    const Diagnosis diagnosis = job.diagnosis();
    EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("gpu.off_bus"));
    EXPECT_EQ(diagnosis.symptoms.size(), 1U);
  }
}

TEST(Xids, GpusThatFallOffTheBusAtOnceAreToldWithWhatTheyMayShare) {
  const auto titles = [](const std::vector<std::pair<int, double>>& lost, bool one_board = false) {
    Job job = sixteen_ranks();
    for (const auto& [rank, second] : lost) {
      if (one_board)
        job.say(Job::kernel_of("node-0"), Speaker{},
                GpuIdentity{.gpu = Job::gpu_of(rank), .serial = "0325015054694"},
                "GPU serial number is 0325015054694.", up(second));
      report(job, "node-0", Job::gpu_of(rank), 79, second);
    }
    std::vector<std::string> all;
    for (const Finding& finding : job.diagnosis().root_causes) all.push_back(finding.title);
    return all;
  };
  EXPECT_THAT(titles({{3, 100}, {4, 100.1}}),
              testing::Each(HasSubstr("off the bus (Xid 79), together with GPU ")));
  EXPECT_THAT(titles({{3, 100}, {4, 100.1}}, true),
              testing::Each(HasSubstr(" of the same board, serial number 0325015054694")));
  EXPECT_THAT(titles({{2, 100}, {3, 100}, {4, 100.1}}),
              testing::Each(HasSubstr("together with 2 other GPUs of the host")));
  EXPECT_THAT(titles({{3, 100}, {4, 400}}), testing::Each(Not(HasSubstr("together"))));
}

TEST(Xids, HoursLaterItIsAnotherEvent) {
  Job job = sixteen_ranks();
  report(job, "node-0", Job::gpu_of(3), 119, 100);
  report(job, "node-0", Job::gpu_of(3), 79, 9000);
  EXPECT_THAT(causes(job.diagnosis().root_causes),
              UnorderedElementsAre("gpu.off_bus", "gpu.gsp_timeout"));
}

TEST(Xids, AFaultWithinASecondOfTheLossIsItsConsequence) {
  Job job = sixteen_ranks();
  report(job, "node-0", Job::gpu_of(3), 31, 100);
  report(job, "node-0", Job::gpu_of(3), 79, 100.6);
  EXPECT_THAT(causes(job.diagnosis().root_causes), ElementsAre("gpu.off_bus"));
}

TEST(Xids, AGpuThatFellAndCleanupOnAllOthersIsOneRootCause) {
  Job job = sixteen_ranks();
  report(job, "node-0", Job::gpu_of(3), 79, 100);
  for (int rank = 0; rank < 8; ++rank)
    if (rank != 3)
      for (int channel = 0; channel < 20; ++channel)
        report(job, "node-0", Job::gpu_of(rank), 45, 101 + channel,
               fmt::format("Ch {:08x}", channel));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("gpu.off_bus"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(3));
  ASSERT_THAT(causes(diagnosis.symptoms), ElementsAre("gpu.teardown"));
  EXPECT_EQ(diagnosis.symptoms.front().count, 140U);
  EXPECT_THAT(diagnosis.observations, IsEmpty());
}

TEST(Xids, AStormIsOneSymptomAndHidesNoneOfTheOthers) {
  Job job = sixteen_ranks();
  const std::vector<int> others{79, 48, 31, 119, 74, 64, 62, 13};
  for (std::size_t i = 0; i < others.size(); ++i)
    report(job, "node-1", Job::gpu_of(static_cast<int>(8 + i)), others[i], 50.0 + double(i) * 1000);
  for (int line = 0; line < 20000; ++line)
    report(job, "node-0", Job::gpu_of(line % 8), 45, 9000 + line * 0.001,
           fmt::format("Ch {:08x}", line));
  const std::vector<Finding> found = findings_of(job.diagnosis());
  EXPECT_EQ(found.size(), others.size() + 1);
  EXPECT_EQ(std::ranges::count(causes(found), "gpu.teardown"), 1);
  EXPECT_LE(job.state.hardware().xids().size(), others.size() + 8);
}

TEST(Xids, AStormOfAHostThatNoLineNamesIsOneSymptomToo) {
  Job job;
  report(job, "", Job::gpu_of(3), 79, 50);
  for (int line = 0; line < 800; ++line)
    report(job, "", Job::gpu_of(line % 8), 45, 51 + line * 0.001, fmt::format("Ch {:08x}", line));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("gpu.off_bus"));
  ASSERT_THAT(causes(diagnosis.symptoms), ElementsAre("gpu.teardown"));
  EXPECT_EQ(diagnosis.symptoms.front().count, 800U);
}

TEST(Xids, AChannelThatNamesItsCauseTellsOfALineThatWasLost) {
  Job job = sixteen_ranks();
  job.say(Job::kernel_of("node-0"), Speaker{},
          GpuXid{.gpu = Job::gpu_of(3), .code = 45, .detail = "channel 0x10", .caused_by = 31},
          "Xid 45 caused by previous Xid 31", up(100));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.gpu_memory_fault"));
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("own line is missing"));
  EXPECT_LT(diagnosis.root_causes.front().confidence, 0.89);
}

PastOffence faulted(const std::string& job, const std::string& program = "",
                    bool others_were_clean = true) {
  const std::string line =
      program.empty()
          ? "Xid 31 of " + job
          : fmt::format("Xid (PCI:0000:13:00): 31, pid=77, name={}, MMU Fault", program);
  return {.part = "node-0/" + Job::gpu_of(3),
          .cause = Cause::software_gpu_memory_fault,
          .job = job,
          .evidence = {.source = "dmesg", .line = 7, .text = line},
          .others_were_clean = others_were_clean};
}

// Rank 3's program makes an illegal access.
Job faulting_job(const std::string& program = "") {
  Job job = sixteen_ranks();
  job.say(Job::kernel_of("node-0"), Speaker{}, GpuXid{.gpu = Job::gpu_of(3), .code = 31},
          program.empty() ? "Xid 31"
                          : fmt::format("Xid (PCI:0000:13:00): 31, pid=9, name={}, MMU", program),
          up(100));
  return job;
}

TEST(Xids, ProgramsOfUnrelatedJobsThatFaultOnOneGpuMakeItSuspect) {
  Job job = faulting_job();
  EXPECT_THAT(causes(job.diagnosis().root_causes), ElementsAre("software.gpu_memory_fault"));
  PastOffence elsewhere = faulted("x");
  elsewhere.part = "node-1/" + Job::gpu_of(3);
  job.moment.past_offences = {faulted("other-1"), faulted("other-1"), elsewhere};
  EXPECT_THAT(causes(job.diagnosis().root_causes), ElementsAre("software.gpu_memory_fault"));
  job.moment.past_offences.push_back(faulted("other-2"));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("gpu.hang"));
  EXPECT_LE(diagnosis.root_causes.front().confidence, 0.79);
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("2 other jobs"));
}

TEST(Xids, DifferentProgramsThatFaultOnOneGpuMakeItSuspect) {
  Job job = faulting_job("python3");
  job.moment.past_offences = {faulted("other-1", "lmp_gpu"), faulted("other-2", "python3")};
  EXPECT_THAT(causes(job.diagnosis().root_causes), ElementsAre("gpu.hang"));
}

TEST(Xids, AUsersBugUnderNewJobNamesStaysTheUsers) {
  const auto expect_software = [](const Job& job) {
    const Diagnosis diagnosis = job.diagnosis();
    ASSERT_FALSE(diagnosis.root_causes.empty());
    for (const Finding& finding : diagnosis.root_causes)
      EXPECT_EQ(finding.cause, "software.gpu_memory_fault");
    EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("programs of 3 other jobs faulted"));
    EXPECT_THAT(actions_of(diagnosis.root_causes.front()), HasSubstr("nothing in common"));
  };
  Job same_program = faulting_job("train");
  for (const char* other : {"a", "b", "c"})
    same_program.moment.past_offences.push_back(faulted(other, "train"));
  expect_software(same_program);

  Job on_other_gpus_too = faulting_job();
  for (const char* other : {"a", "b", "c"})
    on_other_gpus_too.moment.past_offences.push_back(faulted(other, "", false));
  expect_software(on_other_gpus_too);

  Job two_gpus_now = faulting_job();
  report(two_gpus_now, "node-0", Job::gpu_of(3), 31, 100);
  report(two_gpus_now, "node-1", Job::gpu_of(5), 31, 100);
  for (const char* other : {"a", "b", "c"})
    two_gpus_now.moment.past_offences.push_back(faulted(other));
  for (const Finding& finding : two_gpus_now.diagnosis().root_causes)
    EXPECT_EQ(finding.cause, "software.gpu_memory_fault");
}

TEST(Xids, OnAHostWhoseRanksNobodySawAreNotABystandersOutright) {
  Job job;
  for (int rank = 0; rank < 16; ++rank) job.join(rank, "world", rank, 24);
  job.call(ranks(0, 16), all_reduce(), 10);
  report(job, "node-2", Job::gpu_of(3), 79, 100);
  const std::vector<Finding> found = findings_of(job.diagnosis());
  const auto fell = std::ranges::find(found, Cause::gpu_off_bus, &Finding::cause);
  ASSERT_NE(fell, found.end());
  EXPECT_TRUE(fell->part_of_job);
  EXPECT_LE(fell->confidence, 0.79);

  Job complete = sixteen_ranks();
  report(complete, "node-2", Job::gpu_of(3), 79, 100);
  EXPECT_THAT(causes(complete.diagnosis().observations), ElementsAre("gpu.off_bus"));
}

// Fifteen processes, on two hosts, print how they start and never set up a communicator.
Job starting(const EventTime& begin) {
  Job job;
  for (int rank = 0; rank < 15; ++rank)
    job.say(Job::source_of(rank), Job::speaker_of(rank),
            Setting{"interface", "bootstrap", "eth0:10.0.0.1<0>"}, "Bootstrap", begin);
  return job;
}

TEST(Xids, OfAJobThatDoesNotStartWhatWasLongBeforeIsOldAndWhatWasJustBeforeIsNot) {
  for (const auto& [minutes, is_old] : {std::pair(10, false), std::pair(30 * 60, true)}) {
    Job job = starting(EventTime::at(Timestamp(std::chrono::hours(40))));
    job.xid("node-1", Job::gpu_of(7), 79,
            EventTime::at(Timestamp(std::chrono::hours(40) - std::chrono::minutes(minutes))));
    const Diagnosis diagnosis = job.diagnosis();
    EXPECT_EQ(causes(diagnosis.observations) == std::vector<std::string>{"gpu.off_bus"}, is_old);
  }
}

TEST(Xids, OfAJobThatDoesNotStartAHostWithoutAProcessIsNotAccusedForNothing) {
  Job job = starting({});
  job.xid("node-7", Job::gpu_of(7), 79);
  EXPECT_THAT(causes(job.diagnosis().root_causes), Not(Contains("gpu.off_bus")));
  Job there = starting({});
  there.xid("node-1", Job::gpu_of(7), 79);
  EXPECT_THAT(causes(there.diagnosis().root_causes), Contains("gpu.off_bus"));
}

TEST(Xids, AGpuThatWasResetSinceIsSaidToBe) {
  Job job = sixteen_ranks();
  const std::string gpu = Job::gpu_of(3);
  report(job, "node-0", gpu, 119, 100, "Timeout after 6s of waiting for RPC response from GPU3");
  report(job, "node-0", gpu, 154, 101,
         "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)");
  EXPECT_THAT(actions_of(job.diagnosis().root_causes.front()), HasSubstr("GPU Reset Required"));
  report(job, "node-0", gpu, 154, 160,
         "GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)");
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("gpu.gsp_timeout"));
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("was reset since"));
  EXPECT_THAT(actions_of(diagnosis.root_causes.front()), HasSubstr("has recovered"));
  EXPECT_THAT(actions_of(diagnosis.root_causes.front()), Not(HasSubstr("Reset Required")));
}

TEST(Xids, LinksThatGoDownWhileAPeerIsResetAreNotAccusedLoudly) {
  const auto link_error = [](Job& job) {
    report(job, "node-0", Job::gpu_of(5), 74, 155,
           "NVLink: fatal error detected on link 3(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)");
  };
  Job job = sixteen_ranks();
  link_error(job);
  ASSERT_THAT(causes(job.diagnosis().root_causes), ElementsAre("gpu.nvlink_error"));
  const double alone = job.diagnosis().root_causes.front().confidence;
  report(job, "node-0", Job::gpu_of(3), 154, 160,
         "GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)");
  const std::vector<Finding> found = findings_of(job.diagnosis());
  ASSERT_THAT(causes(found), ElementsAre("gpu.nvlink_error"));
  EXPECT_LT(found.front().confidence, alone);
  EXPECT_THAT(found.front().title, HasSubstr("was reset"));
}

PastOffence fell_off(const std::string& job, std::optional<Timestamp> when = {}) {
  return {.part = "node-0/" + Job::gpu_of(3),
          .cause = Cause::gpu_off_bus,
          .job = job,
          .when = when,
          .evidence = {.source = "dmesg", .line = 7, .text = "Xid 79 of " + job}};
}

std::vector<std::string> sources_of(const Finding& finding) {
  std::vector<std::string> sources;
  for (const Evidence& line : finding.evidence) sources.push_back(line.source);
  return sources;
}

TEST(Xids, AGpuThatFailedEarlierJobsIsSaidToWithALineOfEachOfTheLastThree) {
  Job job = sixteen_ranks();
  report(job, "node-0", Job::gpu_of(3), 79, 100);
  for (const char* other : {"a", "b", "c", "d", "d"})
    job.moment.past_offences.push_back(fell_off(other));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), Contains("gpu.off_bus"));
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_THAT(actions_of(finding), HasSubstr("failed 4 earlier jobs"));
  EXPECT_THAT(sources_of(finding), Contains("job d: dmesg"));
  EXPECT_THAT(sources_of(finding), Contains("job b: dmesg"));
  EXPECT_THAT(sources_of(finding), Not(Contains("job a: dmesg")));
}

TEST(Xids, WhatAGpuDidLaterOrAnotherBoardDidInItsPlaceIsNoPastOffence) {
  const Timestamp noon = Timestamp(std::chrono::hours(24 * 20000 + 12));
  Job job = sixteen_ranks();
  job.say(Job::kernel_of("node-0"), Speaker{},
          GpuIdentity{.gpu = Job::gpu_of(3), .uuid = "GPU-new"}, "GPU-new", EventTime::at(noon));
  job.say(Job::kernel_of("node-0"), Speaker{}, GpuXid{.gpu = Job::gpu_of(3), .code = 79}, "Xid 79",
          EventTime::at(noon));
  const auto says_so = [&](PastOffence past) {
    job.moment.past_offences = {std::move(past)};
    return actions_of(job.diagnosis().root_causes.front()).find("earlier job") != std::string::npos;
  };
  PastOffence past = fell_off("a", noon - std::chrono::hours(1));
  past.found_before = false;  // it was found after this job's first upload
  EXPECT_TRUE(says_so(past));
  past.uuid = "GPU-new";
  EXPECT_TRUE(says_so(past));
  past.uuid = "GPU-old";
  EXPECT_FALSE(says_so(past));
  EXPECT_FALSE(says_so(fell_off("a", noon + std::chrono::hours(1))));
  PastOffence undated = fell_off("a");
  EXPECT_TRUE(says_so(undated));
  undated.found_before = false;
  EXPECT_FALSE(says_so(undated));
  EXPECT_FALSE(says_so(fell_off(job.state.name(), noon - std::chrono::hours(1))));
}

TEST(Xids, ProcessesThatAreNotOfTheJobAccuseNobodyHoweverOftenTheyFault) {
  Job job = sixteen_ranks();
  for (int run = 0; run < 4; ++run)
    report(job, "node-0", Job::gpu_of(3), 31, 1000.0 * run, "", 7000 + run);
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(causes(diagnosis.root_causes), testing::IsEmpty());
  EXPECT_THAT(causes(diagnosis.observations), ElementsAre("software.gpu_memory_fault"));
}

TEST(Xids, OneProgramThatFaultsAgainAndAgainStaysAProgram) {
  const Timestamp noon = Timestamp(std::chrono::hours(24 * 20000 + 12));
  Job job;
  job.in_containers = true;  // so that the kernel's pids may be those of ranks
  job.clock = EventTime::at(noon);
  job.join_all(16);
  job.clock = EventTime::at(noon + std::chrono::hours(1));
  job.call(ranks(0, 16), all_reduce(), 10);
  for (int run = 0; run < 4; ++run)
    job.say(Job::kernel_of("node-0"), Speaker{},
            GpuXid{.gpu = Job::gpu_of(3), .code = 31, .pid = 7000 + run}, "Xid 31",
            EventTime::at(noon + std::chrono::minutes(10 * (run + 1))));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.gpu_memory_fault"));
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("4 processes did"));
  EXPECT_LE(diagnosis.root_causes.front().confidence, 0.79);
}

// A program that faults ends. Its GPU goes on, unless the GPU is what is broken.
TEST(Xids, AGpuThatStopsWheneverAProgramFaultsIsAccusedInsteadOfThePrograms) {
  struct Fault {
    std::int64_t pid;
    int stop = 62;  // 0: the GPU goes on
    std::string program;
  };
  const auto causes_of = [](const std::vector<Fault>& faults, const std::string& other_host = "",
                            bool stops_first = false) {
    Job job;
    double second = 100;
    for (const Fault& fault : faults) {
      const std::string detail =
          fault.program.empty() ? "" : fmt::format("pid={}, name={}", fault.pid, fault.program);
      const std::string gpu = Job::gpu_of(3);
      if (fault.stop != 0 && stops_first)
        report(job, "node-0", gpu, fault.stop, second - 1, "", fault.pid);
      report(job, "node-0", gpu, 13, second, detail, fault.pid);
      if (fault.stop != 0 && !stops_first)
        report(job, "node-0", gpu, fault.stop, second + 1, "", fault.pid);
      second += 5000;
    }
    if (!other_host.empty()) report(job, other_host, Job::gpu_of(4), 13, second, "", 999);
    return job.diagnosis().root_causes;
  };
  const std::vector<Finding> found = causes_of({{7000}, {7100}, {7200}});
  ASSERT_THAT(causes(found), ElementsAre("gpu.hang"));
  EXPECT_THAT(found.front().title, HasSubstr("each time after another program faulted"));
  EXPECT_THAT(found.front().title, HasSubstr(Job::gpu_of(3)));
  EXPECT_LT(found.front().confidence, 0.8);
  // A fault after which the GPU went on stays a program's, and the first suspect stays the GPU.
  EXPECT_EQ(causes_of({{7000}, {7100}, {7200}, {7300, 0}}).front().cause, Cause::gpu_hang);

  const std::string program = "software.gpu_memory_fault";
  EXPECT_THAT(causes(causes_of({{7000}})), ElementsAre(program)) << "once proves nothing";
  EXPECT_THAT(causes(causes_of({{7000}, {7000}, {7000}})), ElementsAre(program)) << "one process";
  EXPECT_THAT(causes(causes_of({{7000, 0}, {7100, 0}, {7200, 0}})), ElementsAre(program));
  EXPECT_THAT(causes(causes_of({{7000, 109}, {7100, 109}})), ElementsAre(program))
      << "a context that faulted may not yield";
  EXPECT_THAT(causes(causes_of({{7000}, {7100}, {7200, 0}, {7300, 0}})), ElementsAre(program))
      << "most of them did not stop it";
  EXPECT_THAT(causes(causes_of({{7000, 62, "train.py"}, {7100, 62, "train.py"}})),
              ElementsAre(program))
      << "one program with a bug";
  EXPECT_THAT(causes(causes_of({{7000, 62, "train.py"}, {7100, 62, "bench"}})),
              ElementsAre("gpu.hang"));
  EXPECT_THAT(causes(causes_of({{7000}, {7100}, {7200}}, "node-1")), Contains(program))
      << "programs fault on other GPUs, too";
  const std::vector<Finding> first = causes_of({{7000}, {7100}}, "", true);
  ASSERT_THAT(causes(first), ElementsAre("gpu.hang"));
  EXPECT_THAT(first.front().title, Not(HasSubstr("another program"))) << "it stopped by itself";
}

TEST(Xids, WhatComesWhileTheDriverIsReloadedOrTheHostStopsIsUpkeep) {
  for (const Fact& upkeep :
       {Fact(GpuDriver{.loaded = false}), Fact(HostStopping{.how = "reboot"})}) {
    Job job = sixteen_ranks();
    job.say(Job::kernel_of("node-0"), Speaker{}, upkeep, "upkeep", up(100));
    report(job, "node-0", Job::gpu_of(3), 79, 101);
    const Diagnosis diagnosis = job.diagnosis();
    EXPECT_EQ(diagnosis.verdict, Verdict::healthy);
    EXPECT_THAT(causes(diagnosis.observations), ElementsAre("gpu.off_bus"));
  }
  Job job = sixteen_ranks();
  job.say(Job::kernel_of("node-0"), Speaker{}, GpuDriver{.loaded = false}, "unload", up(100));
  job.say(Job::kernel_of("node-0"), Speaker{}, GpuDriver{.loaded = true}, "load", up(130));
  report(job, "node-0", Job::gpu_of(3), 79, 131);
  EXPECT_THAT(causes(job.diagnosis().root_causes), ElementsAre("gpu.off_bus"));
}

TEST(Xids, ALinkThatItsOtherEndTookDownIsNotAccusedLoudly) {
  Job job = sixteen_ranks();
  report(job, "node-0", Job::gpu_of(3), 149, 100,
         "NETIR_LINK_EVT  Fatal   XC1 i0 Link 11 (0x00000086 0x0 0x0 0x0 0x0)");
  const std::vector<Finding> found = findings_of(job.diagnosis());
  ASSERT_THAT(causes(found), ElementsAre("gpu.nvlink_error"));
  EXPECT_LE(found.front().confidence, 0.5);
  EXPECT_EQ(found.front().severity, Severity::warning);
}

TEST(Xids, ADeadGpuWhoseRecordWasSplitIntoLinesIsTheOneNamedJustBefore) {
  const Fact fell = GpuXid{.code = 79, .xid_line = false};
  Job job = sixteen_ranks();
  job.say(Job::kernel_of("node-0"), Speaker{}, fell, "fell", up(9));
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy);
  job.say(Job::kernel_of("node-0"), Speaker{}, GpuIdentity{.gpu = Job::gpu_of(3)}, "named", up(10));
  job.say(Job::kernel_of("node-1"), Speaker{}, fell, "another host", up(10));
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy);
  job.say(Job::kernel_of("node-0"), Speaker{}, fell, "fell", up(10));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("gpu.off_bus"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(3));
}

TEST(Xids, LinesThatWereLostAreAskedFor) {
  Job job = sixteen_ranks();
  job.say(Job::kernel_of("node-0"), Speaker{}, LinesLost{.lines = 123, .teller = "journald"},
          "Missed 123 kernel messages", up(5));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_FALSE(diagnosis.missing_evidence.empty());
  EXPECT_EQ(diagnosis.missing_evidence.front().what, "123 kernel messages of node-0");
}

}  // namespace
}  // namespace faultline
