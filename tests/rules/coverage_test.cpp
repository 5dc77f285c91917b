// What a diagnosis asks for, and that it is less sure where a rank was not heard.
#include "rules/answer/coverage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "job.h"
#include "rules/knowledge/catalog_files.h"
#include "rules/knowledge/limits.h"

namespace faultline {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::vector<std::string> asked(const Diagnosis& diagnosis) {
  std::vector<std::string> all;
  for (const MissingEvidence& missing : diagnosis.missing_evidence) all.push_back(missing.what);
  return all;
}

// A file of a host, written by a tool or the kernel, in which nothing is wrong.
void send(Job& job, const std::string& host, const std::string& dialect) {
  Batch batch;
  batch.to_offset = 100;
  batch.first_line = batch.lines = batch.recognized = 1;
  batch.end = SourceEnd::whole;
  batch.dialects = {{dialect, 1}};
  job.state.apply({"j", host + "/" + dialect + ".txt", host, -1}, batch, {});
}

void send_from_both(Job& job, const std::string& dialect) {
  for (const char* host : {"node-0", "node-1"}) send(job, host, dialect);
}

Job with_rank_11_behind() {
  Job job = sixteen_ranks(100);
  job.call(all_but(11, 16), all_gather());
  return job;
}

TEST(Coverage, OfAHealthyJobItIsToldWhatWasNotLookedAtAndOfAllThatWasNothing) {
  Job job = sixteen_ranks(100);
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy);
  EXPECT_THAT(asked(job.diagnosis()),
              ElementsAre("kernel log of every host", "port counters, read twice, of every host",
                          "report of the GPUs of every host", "bandwidth test of every host",
                          "profile of every rank, or its times to a barrier"));
  send_from_both(job, "kernel");
  send_from_both(job, "nvidia-smi-q");
  send_from_both(job, "nccl-tests");
  job.part("", {.tool = "straggler-report", .kind = "rank", .names = {{"rank", "0"}}});
  send(job, "node-0", "perfquery");
  EXPECT_THAT(asked(job.diagnosis()), ElementsAre("port counters, read twice, of node-1"));
  send(job, "node-1", "ethtool");
  EXPECT_THAT(asked(job.diagnosis()), IsEmpty());
}

TEST(Coverage, AReportOfNobodysHostMayBeThatOfAnyAndIsNotAskedForAgain) {
  Job job = sixteen_ranks(100);
  send(job, "", "ibqueryerrors");
  EXPECT_THAT(asked(job.diagnosis()),
              ElementsAre("kernel log of every host", "report of the GPUs of every host",
                          "bandwidth test of every host",
                          "profile of every rank, or its times to a barrier"));
}

TEST(Coverage, WhyARankStoppedIsAskedOfItsKernelThenOfItsProcess) {
  const Diagnosis diagnosis = with_rank_11_behind().diagnosis();
  EXPECT_THAT(
      asked(diagnosis),
      ElementsAre("kernel log of node-1",
                  StartsWith("stack of rank 11 on node-1, and all that its process printed")));
  EXPECT_THAT(diagnosis.missing_evidence.front().command, StartsWith("dmesg -T"));
}

TEST(Coverage, DumpsThatPyTorchSaysItWritesAreAskedForAndNotTheRecorder) {
  const auto tells_of_recorder = [](const Diagnosis& diagnosis) {
    return std::ranges::any_of(diagnosis.next_time, [](const NextTime& next) {
      return next.set.find("TRACE_BUFFER_SIZE") != std::string::npos;
    });
  };
  const char* const dumps = "the Flight Recorder dump of every rank";
  Job job = with_rank_11_behind();
  EXPECT_THAT(asked(job.diagnosis()), testing::Not(testing::Contains(dumps)));
  EXPECT_TRUE(tells_of_recorder(job.diagnosis()));
  job.setting(3, "torch", "TORCH_NCCL_TRACE_BUFFER_SIZE", "2000");
  job.setting(3, "torch", "TORCH_NCCL_DUMP_ON_TIMEOUT", "1");
  EXPECT_THAT(asked(job.diagnosis()), testing::Contains(dumps));
  EXPECT_FALSE(tells_of_recorder(job.diagnosis()));
}

TEST(Coverage, AKernelLogThatSaysNothingIsAskedForWhole) {
  Job job = with_rank_11_behind();
  send(job, "node-1", "kernel");
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(asked(diagnosis), ElementsAre("whole kernel log of node-1", HasSubstr("stack of")));
  EXPECT_THAT(diagnosis.missing_evidence.front().command, HasSubstr("journalctl -k -b -1"));
}

TEST(Coverage, RanksThatGotNothingDoneAreNotCalledHealthy) {
  Job job;
  job.join_all(16);
  for (const int calls : {0, 1}) {
    job.call(ranks(0, 16), all_reduce(), calls);
    const Diagnosis diagnosis = job.diagnosis();
    EXPECT_EQ(diagnosis.verdict, Verdict::unknown) << calls << " calls";
    EXPECT_EQ(asked(diagnosis).front(), "NCCL log of every rank, with its calls and to its end");
  }
  for (int rank = 0; rank < 16; ++rank) job.end(rank, "world", CommunicatorEnding::destroyed);
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy);
}

TEST(Coverage, WhereARankWasNotHeardWhatIsStatedIsLessSureAndItsLogIsAskedForFirst) {
  Job whole;
  Job without_one;
  for (Job* job : {&whole, &without_one}) {
    for (const int rank : ranks(0, 16))
      if (rank != 2 || job == &whole) job->join(rank, "world", rank, 16);
    for (const int rank : ranks(0, 16))
      if (rank != 2 || job == &whole) job->call({rank}, all_reduce(), 100);
    job->warn(11, "Cuda failure 'out of memory'");
    job->end(11, "world", CommunicatorEnding::aborted);
  }
  const Diagnosis all = whole.diagnosis();
  const Diagnosis some = without_one.diagnosis();
  ASSERT_THAT(causes(all.root_causes), ElementsAre("software.cuda_oom"));
  ASSERT_THAT(causes(some.root_causes), ElementsAre("software.cuda_oom"));
  EXPECT_LT(some.root_causes.front().confidence, all.root_causes.front().confidence);
  EXPECT_EQ(asked(some).front(), "NCCL log of rank 2");
}

// The rank that was not heard may belong to the smaller camp and make both equal.
TEST(Coverage, OfTwoCampsThatDifferByARankThatWasNotHeardNeitherIsTheOddOne) {
  const auto camps = [](int first) {
    Job job;
    for (const int rank : ranks(first, 8)) job.join(rank, "world", rank, 8);
    job.call(ranks(first, 8), all_reduce(), 20);
    job.call(ranks(first, 4), all_reduce(2048));
    job.call(ranks(4, 8), all_reduce(4096));
    return job.diagnosis();
  };
  const Diagnosis whole = camps(0);
  const Diagnosis without_one = camps(1);
  ASSERT_EQ(whole.root_causes.front().cause, "software.collective_mismatch");
  ASSERT_EQ(without_one.root_causes.front().cause, "software.collective_mismatch");
  EXPECT_LT(without_one.root_causes.front().confidence, whole.root_causes.front().confidence);
  EXPECT_EQ(without_one.root_causes.front().subject.ranks, ranks(1, 8));
}

// Two communicators each wait for a rank, which may itself wait for the rank that was not heard.
TEST(Coverage, WhereRanksStoppedInSeveralPlacesEveryHostIsAsked) {
  Job job = sixteen_ranks(100);
  for (const auto& [name, late] : {std::pair("left", 3), std::pair("right", 11)}) {
    const std::vector<int> members = late < 8 ? ranks(0, 8) : ranks(8, 16);
    for (const int rank : members) job.join(rank, name, rank % 8, 9);
    job.call(members, all_reduce(), 20, name);
    std::vector<int> others = members;
    std::erase(others, late);
    job.call(others, all_gather(), 1, name);
  }
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes),
              ElementsAre("collective.rank_behind", "collective.rank_behind"));
  EXPECT_LT(diagnosis.root_causes.front().confidence, limits::least_to_blame);
  EXPECT_THAT(asked(diagnosis), Contains("kernel log of every host"));
  EXPECT_THAT(asked(diagnosis), Contains("MTU of the interfaces of every host"));
}

TEST(Coverage, WhereOnlyAddressesTellThatTwoRanksUseOneGpuTheirLogIsAskedFor) {
  Job job;
  for (const int rank : all_but(5, 8)) job.begin_to_join(rank, "world", rank, 8);
  job.say(Job::source_of(5), Job::speaker_of(5),
          CommunicatorInit{.communicator = 0x1000,
                           .rank = 5,
                           .nranks = 8,
                           .gpu = Job::gpu_of(4),
                           .communicator_id = "world"},
          "rank 5 begins to join world");
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(diagnosis.root_causes.front().cause, "software.invalid_usage");
  EXPECT_THAT(asked(diagnosis), Contains("whole NCCL log of node-0"));
}

// --- evidence.yaml ------------------------------------------------------------------------------

std::string complaint_about(const std::string& text) {
  try {
    read_evidence("evidence.yaml", text);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(EvidenceFile, IsRefusedWithTheLineAndTheMend) {
  const std::string good = "- what: kernel log\n  dialects: [kernel]\n  why: x\n  command: dmesg\n";
  EXPECT_EQ(complaint_about(good), "");
  EXPECT_EQ(complaint_about(good + "  asked: [sometimes]\n"),
            "evidence.yaml:5: asked \"sometimes\" is unknown; use stopped, stalled or healthy");
  EXPECT_THAT(complaint_about(good + "  bears_out: [gpu.slow]\n"),
              testing::StartsWith("evidence.yaml:5: class \"gpu.slow\" is unknown; use "));
  EXPECT_EQ(complaint_about(good + "  network: yes\n"),
            "evidence.yaml:5: network \"yes\" is unknown; use true or false");
  EXPECT_EQ(complaint_about("- what: kernel log\n"),
            "evidence.yaml:1: why is missing; add \"why:\" to this entry");
}

TEST(EvidenceFile, ADialectThatEndsInAStarStandsForAllThatBeginSo) {
  const EvidenceCatalog read = read_evidence(
      "evidence.yaml", "- what: GPUs\n  dialects: [nvidia-smi*, dcgm]\n  why: x\n  command: y\n");
  EXPECT_TRUE(read.front().is_told_by("nvidia-smi-q"));
  EXPECT_TRUE(read.front().is_told_by("dcgm"));
  EXPECT_FALSE(read.front().is_told_by("dcgmi"));
}

}  // namespace
}  // namespace faultline
