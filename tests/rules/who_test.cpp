// Which process a line is about: equal pids, merged logs with few labels, programs not of the job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job.h"
#include "remarks.h"

namespace faultline {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const Source kMergedLog{"j", "train.log", "", -1};

// All ranks print into one log.
struct MergedJob : Job {
  void begin(int nranks) {
    size = nranks;
    for (int rank = 0; rank < nranks; ++rank)
      say(kMergedLog, speaker_of(rank),
          CommunicatorInit{.communicator = 0x1000u + static_cast<unsigned>(rank),
                           .rank = rank,
                           .nranks = nranks,
                           .cuda_device = rank % 8,
                           .nvml_device = rank % 8,
                           .gpu = gpu_of(rank),
                           .communicator_id = "world",
                           .complete = true},
          "Init COMPLETE");
  }
  void step(const std::vector<int>& callers, int times = 1) {
    for (int i = 0; i < times; ++i)
      for (const int rank : callers) {
        Batch batch;
        batch.from_offset = 100 * line;
        batch.to_offset = batch.from_offset + 100;
        batch.first_line = line + 1;
        ++line;
        batch.speakers = {speaker_of(rank)};
        batch.signatures = {all_reduce()};
        batch.lines = batch.recognized = 1;
        batch.end = SourceEnd::whole;
        batch.dialects = {{"nccl", 1}};
        CallRun run;
        run.communicator = 0x1000u + static_cast<unsigned>(rank);
        run.nranks = size;
        run.calls = {{calls[rank]++, 0, 0, 0}};
        run.last_text = "AllReduce";
        batch.runs = {run};
        state.apply(kMergedLog, batch, {});
      }
  }
  void tell(const Speaker& speaker, Fact fact, const std::string& text) {
    Batch batch;
    batch.from_offset = 100 * line;
    batch.to_offset = batch.from_offset + 100;
    batch.first_line = line + 1;
    ++line;
    batch.speakers = {speaker};
    batch.lines = batch.recognized = 1;
    batch.end = SourceEnd::whole;
    Event event;
    event.line = batch.first_line;
    event.offset = batch.from_offset;
    event.fact = std::move(fact);
    event.text = text;
    batch.events = {event};
    state.apply(kMergedLog, batch, {});
  }
  void raise(int label, const std::string& type, const std::string& message) {
    tell({.rank = label}, PythonException{.type = type, .message = message}, type + ": " + message);
  }

  int size = 0;
  std::uint64_t line = 1000;  // after the lines of begin()
  std::map<int, std::uint64_t> calls;
};

TEST(MergedLog, ALabelOnSomeLinesDoesNotMakeAllItsProcessesOneRank) {
  MergedJob job;
  job.begin(8);
  job.step(ranks(0, 8), 5);
  job.raise(6, "KeyError", "'labels'");
  job.step(all_but(6, 8));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(diagnosis.root_causes.size(), 1u);
  EXPECT_THAT(diagnosis.root_causes[0].subject.ranks, ElementsAre(6));
  EXPECT_THAT(diagnosis.root_causes[0].title, HasSubstr("Rank 6"));
  EXPECT_THAT(diagnosis.ranks.behind, ElementsAre(6));
}

TEST(MergedLog, ATracebackWithoutALabelIsOfTheOneWhoStoppedThere) {
  MergedJob job;
  job.begin(4);
  job.step(ranks(0, 4), 5);
  job.raise(-1, "KeyError", "'attention_mask'");
  job.step(all_but(2, 4));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(causes(diagnosis.root_causes), std::vector<std::string>{"software.rank_crashed"});
  EXPECT_THAT(diagnosis.root_causes[0].subject.ranks, ElementsAre(2));
  EXPECT_THAT(diagnosis.root_causes[0].title, HasSubstr("Rank 2 on node-0 raised KeyError"));
}

TEST(MergedLog, ATracebackWithoutALabelIsNobodysWhereSeveralStoppedThere) {
  MergedJob job;
  job.begin(8);
  job.step(ranks(0, 8), 5);
  job.raise(-1, "KeyError", "'attention_mask'");
  job.step(ranks(2, 8));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), Contains("software.rank_crashed"));
  for (const Finding& finding : diagnosis.root_causes)
    if (finding.cause == "software.rank_crashed") {
      EXPECT_THAT(finding.subject.ranks, IsEmpty());
    }
}

TEST(MergedLog, ATracebackAfterWhichAllWentOnWasCaught) {
  MergedJob job;
  job.begin(4);
  job.step(ranks(0, 4), 5);
  job.raise(-1, "KeyError", "'attention_mask'");
  job.step(ranks(0, 4), 5);
  EXPECT_THAT(job.diagnosis().root_causes, IsEmpty());
}

TEST(MergedLog, ATracebackAmidTheLastStepOfAllWasCaught) {
  MergedJob job;
  job.begin(4);
  job.step(ranks(0, 4), 5);
  job.step({0});
  job.raise(-1, "KeyError", "'attention_mask'");
  job.step({1, 2, 3});
  EXPECT_THAT(job.diagnosis().root_causes, IsEmpty());
}

// --- Pods whose processes have equal pids -------------------------------------------------------

const std::int64_t kPidInPod = 71;

Source log_of_pod(int pod) { return {"j", fmt::format("pod-{}.log", pod), "", -1}; }

// Two pods with one rank each; both ranks have the same pid.
Job pods() {
  Job job;
  for (int pod = 0; pod < 2; ++pod)
    job.say(log_of_pod(pod), {fmt::format("pod-{}", pod), kPidInPod, 0, -1},
            CommunicatorInit{.communicator = 0x1000,
                             .rank = pod,
                             .nranks = 2,
                             .cuda_device = 0,
                             .nvml_device = 0,
                             .gpu = Job::gpu_of(0),
                             .communicator_id = "world",
                             .complete = true},
            "Init COMPLETE");
  return job;
}

struct EndInAPod {
  const char* why;
  ProcessExit exit;
  const char* cause;
};

class EqualPids : public testing::TestWithParam<EndInAPod> {};

TEST_P(EqualPids, WhoWasToldToEndInAnotherPodIsAnotherProcess) {
  Job job = pods();
  job.say(log_of_pod(0), {}, ProcessExit{.teller = "torchrun", .pid = kPidInPod, .told_to = true},
          "Sending process 71 closing signal SIGTERM");
  job.say(log_of_pod(1), {}, GetParam().exit, "exitcode");
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), Contains(GetParam().cause));
  EXPECT_THAT(diagnosis.root_causes[0].subject.ranks, ElementsAre(1));
}

TEST_P(EqualPids, WhoWasToldToEndInItsOwnPodIsNotToBlame) {
  Job job = pods();
  job.say(log_of_pod(1), {}, ProcessExit{.teller = "torchrun", .pid = kPidInPod, .told_to = true},
          "Sending process 71 closing signal SIGTERM");
  job.say(log_of_pod(1), {}, GetParam().exit, "exitcode");
  EXPECT_THAT(causes(job.diagnosis().root_causes), Not(Contains(GetParam().cause)));
}

// A kernel names a process by a pid that no rank printed, while all other ranks wait for rank 11.
Job crashed_on_a_host(bool in_containers) {
  Job job;
  job.in_containers = in_containers;
  job.join_all(16);
  job.call(ranks(0, 16), all_reduce(), 10);
  job.call(all_but(11, 16), all_reduce());
  job.kernel("node-1",
             "python3[51877]: segfault at 18 ip 00007f6a2c0b1f2d sp 00007f69d55fd7c0 error 4 in "
             "libtorch_cuda.so[7f6a2c000000+3a0000]");
  return job;
}

TEST(Containers, AProcessThatTheKernelNamesIsTheRankThatAllWaitForOnItsHost) {
  const Diagnosis diagnosis = crashed_on_a_host(true).diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.rank_crashed"));
  EXPECT_THAT(diagnosis.root_causes[0].subject.ranks, ElementsAre(11));
  EXPECT_LT(diagnosis.root_causes[0].confidence, 0.8) << "no line ties the process to the rank";
}

TEST(Containers, AProcessThatTheKernelNamesIsNoRankWhereAllCountAlike) {
  const Diagnosis diagnosis = crashed_on_a_host(false).diagnosis();
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("collective.rank_behind"));
}

ProcessExit exit_of_rank_1(std::optional<int> code, std::optional<int> signal,
                           const std::string& host, const std::string& reason = {}) {
  return {.teller = "torchrun",
          .host = host,
          .ranks = {1},
          .local_rank = 0,
          .pid = kPidInPod,
          .exit_code = code,
          .signal = signal,
          .reason = reason};
}

INSTANTIATE_TEST_SUITE_P(
    Ends, EqualPids,
    testing::Values(
        EndInAPod{"a segmentation fault", exit_of_rank_1({}, 11, "pod-1"), "software.rank_crashed"},
        EndInAPod{"killed, and the line names no host", exit_of_rank_1({}, 9, ""),
                  "software.rank_crashed"},
        EndInAPod{"an exit code", exit_of_rank_1(3, {}, "pod-1"), "software.rank_crashed"}));

// --- Other programs on a rank's GPU -------------------------------------------------------------

Job with_fault(std::int64_t pid, const std::string& program, int code = 31) {
  Job job = sixteen_ranks();
  job.say(Job::kernel_of("node-0"), Speaker{},
          GpuXid{.gpu = Job::gpu_of(3), .code = code, .pid = pid},
          fmt::format("NVRM: Xid (PCI:0000:13:00): {}, pid={}, name={}, Ch 00000008", code, pid,
                      program));
  return job;
}

TEST(OtherProgram, ItsFaultIsNotThatOfTheRankOnItsGpu) {
  for (const int code : {13, 31}) {
    const Diagnosis diagnosis = with_fault(520317, "notebook", code).diagnosis();
    EXPECT_THAT(diagnosis.root_causes, IsEmpty()) << code;
    ASSERT_EQ(diagnosis.observations.size(), 1u) << code;
    EXPECT_THAT(diagnosis.observations[0].title, HasSubstr("520317"));
  }
}

TEST(OtherProgram, TheFaultOfARanksOwnProcessIsTheRanks) {
  const Diagnosis diagnosis = with_fault(1003, "python3").diagnosis();
  ASSERT_EQ(causes(diagnosis.root_causes), std::vector<std::string>{"software.gpu_memory_fault"});
  EXPECT_THAT(diagnosis.root_causes[0].title, HasSubstr("rank 3"));
}

// In a container, the pid that a rank prints is not the pid that the kernel prints.
TEST(OtherProgram, MayBeARanksWhereThatRankStoppedWithoutAWord) {
  Job job = with_fault(520317, "python3");
  job.call(all_but(3, 16), all_reduce());
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(causes(diagnosis.root_causes), Contains("software.gpu_memory_fault"));
}

// --- A host that fell silent --------------------------------------------------------------------

TEST(SilentHost, IsTheEndAtFaultWhereAllItsRanksStoppedWithoutAWord) {
  Job job = hosts_of_eight(2);
  job.call(ranks(0, 8), all_reduce());
  for (const int rank : {0, 3}) job.warn(rank, retry_exceeded(1));
  const Diagnosis diagnosis = look(job);
  ASSERT_FALSE(diagnosis.root_causes.empty());
  EXPECT_EQ(diagnosis.root_causes[0].cause, "network.transport_error");
  EXPECT_THAT(diagnosis.root_causes[0].subject.hosts, ElementsAre("node-1"));
  EXPECT_EQ(diagnosis.root_causes[0].subject.ranks, ranks(8, 16));
}

TEST(SilentHost, IsNotAtFaultWhileOneOfItsRanksWaitsLikeTheOthers) {
  Job job = hosts_of_eight(2);
  job.call(ranks(0, 9), all_reduce());
  for (const int rank : {0, 3}) job.warn(rank, retry_exceeded(1));
  const Diagnosis diagnosis = look(job);
  for (const Finding& finding : diagnosis.root_causes)
    EXPECT_THAT(finding.title, Not(HasSubstr("say nothing themselves")));
}

TEST(SilentHost, IsNotAtFaultWhereItsRanksSayThatTheyWaited) {
  Job job = hosts_of_eight(2);
  job.call(ranks(0, 8), all_reduce());
  for (const int rank : {0, 3}) job.warn(rank, retry_exceeded(1));
  WatchdogTimeout timeout{.sequence = 20, .operation = "ALLREDUCE"};
  job.say(Job::source_of(12), {.rank = 12}, timeout, "Watchdog caught");
  const Diagnosis diagnosis = look(job);
  for (const Finding& finding : diagnosis.root_causes)
    if (finding.cause == "network.transport_error") {
      EXPECT_THAT(finding.title, Not(HasSubstr("say nothing themselves")));
    }
}

// --- Hosts and ranks that only a file's name gives ----------------------------------------------

void lose_gpu(Job& job, const std::string& path, int gpu = 3) {
  job.say({"j", path, "", -1}, Speaker{}, GpuXid{.gpu = Job::gpu_of(gpu), .code = 79},
          "NVRM: Xid (PCI:0000:13:00): 79, GPU has fallen off the bus.");
}

TEST(NamedFile, GivesTheHostWhereNoLineOfTheJobNamesOne) {
  for (const char* path : {"dmesg-node-1.log", "node-1/dmesg.txt", "logs/node-1/kern.log"}) {
    Job job;
    lose_gpu(job, path);
    const Diagnosis diagnosis = job.diagnosis();
    ASSERT_EQ(diagnosis.root_causes.size(), 1u) << path;
    const Finding& finding = diagnosis.root_causes[0];
    EXPECT_EQ(finding.cause, "gpu.off_bus") << path;
    EXPECT_THAT(finding.subject.hosts, ElementsAre("node-1")) << path;
    EXPECT_THAT(finding.against, Contains(HasSubstr("only the file name"))) << path;
  }
}

TEST(NamedFile, GivesNoHostByABareNumber) {
  Job job;
  lose_gpu(job, "7/dmesg.txt");
  ASSERT_EQ(job.diagnosis().root_causes.size(), 1u);
  EXPECT_THAT(job.diagnosis().root_causes[0].subject.hosts, IsEmpty());
}

TEST(NamedFile, OfAStrangerAccusesNoRankWithAGpuAtThatAddress) {
  for (const char* path : {"spare07/dmesg.txt", "node-40/dmesg.txt"}) {
    Job job = sixteen_ranks();
    job.say({"j", "node-0/dmesg.txt", "", -1}, Speaker{},
            Remark{.dialect = "kernel", .text = "docker0: port 1 entered blocking state"},
            "docker0");
    lose_gpu(job, path);
    const Diagnosis diagnosis = job.diagnosis();
    EXPECT_THAT(diagnosis.root_causes, IsEmpty()) << path;
    EXPECT_EQ(diagnosis.observations.size(), 1u) << path;
  }
}

// "rank1-0" and "rank1-1" are two ranks, and neither has to be rank 1.
TEST(NamedFile, GivesNoRankWhereItsNumberCountsSomethingElse) {
  const auto ranks_of = [](const std::vector<std::string>& paths) {
    Job job;
    for (int place = 0; place < std::ssize(paths); ++place)
      job.say({"j", paths[static_cast<std::size_t>(place)], "", -1}, Job::speaker_of(place),
              CommunicatorInit{.communicator = 0x1000u + static_cast<unsigned>(place),
                               .rank = place,
                               .nranks = 4,
                               .cuda_device = place,
                               .gpu = Job::gpu_of(place),
                               .communicator_id = "0xfa",
                               .complete = true},
              "Init COMPLETE");
    std::vector<int> ranks;
    for (const RankView& rank : faultline::ranks_of(job.state, job.diagnosis()))
      ranks.push_back(rank.rank);
    return ranks;
  };
  EXPECT_THAT(ranks_of({"rank1-0.log", "rank1-1.log", "rank3-0.log"}), ElementsAre(0, 1, 2));
  EXPECT_THAT(ranks_of({"rank1.log", "rank2.log", "rank3.log"}), ElementsAre(1, 2, 3));
}

TEST(NamedFile, OfAHostOfTheJobNeedsNoExcuse) {
  Job job = sixteen_ranks();
  lose_gpu(job, "dmesg-node-0.log");
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(causes(diagnosis.root_causes), std::vector<std::string>{"gpu.off_bus"});
  EXPECT_THAT(diagnosis.root_causes[0].subject.ranks, ElementsAre(3));
  EXPECT_THAT(diagnosis.root_causes[0].against, IsEmpty());
}

TEST(NamedFile, GivesTheRankOfATracebackWithoutALabel) {
  Job job;
  for (const int rank : {0, 7})
    job.say({"j", fmt::format("nccl-debug-rank{}.log", rank), "", -1}, Speaker{},
            Remark{.dialect = "nccl", .level = "info", .text = "Bootstrap"}, "Bootstrap");
  job.say({"j", "nccl-debug-rank7.log", "", -1}, Speaker{},
          PythonException{.type = "KeyError", .message = "'mask'"}, "KeyError: 'mask'");
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_FALSE(diagnosis.root_causes.empty());
  EXPECT_THAT(diagnosis.root_causes[0].subject.ranks, ElementsAre(7));
}

TEST(NamedFile, GivesNoRankWhereEachHostCountsFromNought) {
  Job job;
  for (const char* host : {"node-0", "node-1"})
    job.say({"j", fmt::format("{}/rank0.log", host), "", -1}, Speaker{},
            Remark{.dialect = "nccl", .level = "info", .text = "Bootstrap"}, "Bootstrap");
  job.say({"j", "node-1/rank0.log", "", -1}, Speaker{},
          PythonException{.type = "KeyError", .message = "'mask'"}, "KeyError: 'mask'");
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_FALSE(diagnosis.root_causes.empty());
  EXPECT_THAT(diagnosis.root_causes[0].subject.ranks, IsEmpty());
}

// --- Files that hold lines of an earlier attempt ------------------------------------------------

// Two attempts with a folder each. NCCL's lines and the programs' exceptions are in separate files.
Job two_attempts() {
  Job job;
  for (int attempt = 0; attempt < 2; ++attempt)
    for (int rank = 0; rank < 2; ++rank)
      job.say({"j", fmt::format("try{}/{}/stdout.log", attempt, rank), "", -1},
              {"node-0", 1000 * (attempt + 1) + rank, rank, -1},
              CommunicatorInit{.communicator = 0x1000,
                               .rank = rank,
                               .nranks = 2,
                               .cuda_device = rank,
                               .nvml_device = rank,
                               .gpu = Job::gpu_of(rank),
                               .communicator_id = fmt::format("world{}", attempt),
                               .complete = true},
              "Init COMPLETE");
  return job;
}

Source errors_of(const char* folder) {
  return {"j", fmt::format("{}/1/stderr.log", folder), "", -1};
}

TEST(EarlierAttempt, HoldsWhatWasRaisedInAFileBesideItsLogs) {
  Job job = two_attempts();
  job.say(errors_of("try0"), {.rank = 1}, PythonException{.type = "ValueError", .message = "NaN"},
          "ValueError: NaN");
  EXPECT_THAT(job.diagnosis().root_causes, IsEmpty());
  EXPECT_THAT(causes(job.diagnosis(1).root_causes), ElementsAre("software.rank_crashed"));
}

TEST(EarlierAttempt, HoldsTheTimeoutsInAFileBesideItsLogs) {
  Job job = two_attempts();
  job.say(errors_of("try0"), {.rank = 1},
          WatchdogTimeout{.sequence = 7, .operation = "ALLREDUCE", .timeout_ms = 600000},
          "Watchdog caught");
  EXPECT_THAT(job.diagnosis().root_causes, IsEmpty());
}

TEST(EarlierAttempt, IsNotTheOneWhoseFolderHoldsTheLatestLogs) {
  Job job = two_attempts();
  job.say(errors_of("try1"), {.rank = 1}, PythonException{.type = "ValueError", .message = "NaN"},
          "ValueError: NaN");
  EXPECT_THAT(causes(job.diagnosis().root_causes), ElementsAre("software.rank_crashed"));
}

TEST(EarlierAttempt, IsToldByTorchrunsFoldersWhereNcclSaysNothing) {
  Job job;
  const auto raise = [&](const char* folder, const char* message) {
    job.say(errors_of(folder), {.rank = 1},
            PythonException{.type = "ValueError", .message = message}, message);
  };
  raise("run/attempt_0", "first");
  raise("run/attempt_1", "second");
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(diagnosis.root_causes.size(), 1u);
  EXPECT_THAT(diagnosis.root_causes[0].title, HasSubstr("second"));
}

}  // namespace
}  // namespace faultline
