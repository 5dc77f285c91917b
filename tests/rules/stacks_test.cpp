// Stacks as witnesses: the rank whose main thread is not where the main threads of its peers are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job.h"
#include "rules/knowledge/limits.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Frames = std::vector<std::string>;

const Frames kInAllReduce = {"wait (torch/distributed/distributed_c10d.py:2806)",
                             "all_reduce (torch/distributed/distributed_c10d.py:2812)",
                             "train_step (train.py:210)"};
const Frames kInBarrier = {
    "File \"/usr/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py\", line 4159 "
    "in "
    "barrier",
    "File \"/opt/train/train.py\", line 210 in train_step"};
const Frames kInLoader = {"select (selectors.py:416)", "wait (multiprocessing/connection.py:931)",
                          "_try_get_data (torch/utils/data/dataloader.py:1133)",
                          "train_step (train.py:198)"};

void dump(Job& job, const std::string& file, StackTop stack, int sent_by = -1) {
  const std::string text = "Thread of " + stack.tool;
  job.say({"j", file, "", sent_by}, Speaker{}, std::move(stack), text);
}

StackTop py_spy(std::int64_t pid, const Frames& frames) {
  return {.tool = "py-spy", .pid = pid, .thread = "MainThread", .frames = frames};
}

const Finding* behind(const Diagnosis& diagnosis) {
  const auto found =
      std::ranges::find(diagnosis.root_causes, Cause::collective_rank_behind, &Finding::cause);
  return found == diagnosis.root_causes.end() ? nullptr : &*found;
}

// What the odd rank does, and the words that the title has for it.
struct Row {
  Frames frames;
  std::string words;
};
const std::vector<Row> kRows = {
    {kInLoader, "waits for its data loader, in _try_get_data"},
    {{"_save (torch/serialization.py:862)", "save_checkpoint (train.py:90)"},
     "writes or reads a checkpoint"},
    {{"__libc_read (fd=17) at read.c:26", "_io_FileIO_read () from libpython3.so"},
     "reads or writes files"},
    {{"take_gil (tstate=0x1) at ceval_gil.h:244"}, "waits for Python's lock"},
    {{"tokenize (train.py:77)", "main (train.py:300)"}, "runs code of its own, in tokenize"},
};

TEST(Stacks, TheRankWhoseStackIsNotInTheCollectiveIsNamedWithWhatItDoes) {
  for (const Row& row : kRows) {
    Job job;  // its ranks are known by the pids of their processes
    job.join_all(8);
    for (int rank = 0; rank < 8; ++rank)
      dump(job, "stacks.txt", py_spy(1000 + rank, rank == 5 ? row.frames : kInAllReduce));
    const Diagnosis diagnosis = job.diagnosis();
    const Finding* finding = behind(diagnosis);
    ASSERT_NE(finding, nullptr) << row.words << diagnosis.summary;
    EXPECT_THAT(finding->subject.ranks, ElementsAre(5));
    EXPECT_THAT(finding->title, HasSubstr(row.words));
    EXPECT_EQ(diagnosis.verdict, Verdict::hang);
  }
}

// Who waits in another call may wait for another rank.
TEST(Stacks, PeersThatWaitInSeveralCallsAreNoProofAgainstTheOneThatIsElsewhere) {
  const Frames in_broadcast = {"broadcast (torch/distributed/distributed_c10d.py:1191)",
                               "train_step (train.py:88)"};
  const Frames in_all_reduce = {"all_reduce (torch/distributed/distributed_c10d.py:1316)",
                                "train_step (train.py:210)"};
  const auto job_with = [&](const Frames& of_others) {
    Job job;
    job.join_all(8);
    for (int rank = 0; rank < 8; ++rank)
      dump(job, "stacks.txt",
           py_spy(1000 + rank, rank == 5  ? kInLoader
                               : rank < 3 ? in_broadcast
                                          : of_others));
    return job.diagnosis();
  };
  const Diagnosis alike = job_with(in_broadcast);
  const Diagnosis apart = job_with(in_all_reduce);
  ASSERT_NE(behind(alike), nullptr);
  ASSERT_NE(behind(apart), nullptr);
  EXPECT_THAT(behind(alike)->title, HasSubstr("wait in broadcast"));
  EXPECT_THAT(behind(apart)->title, HasSubstr("wait in several calls (all_reduce, broadcast)"));
  EXPECT_LT(behind(apart)->confidence, limits::least_to_blame);
  EXPECT_LT(behind(apart)->confidence, behind(alike)->confidence);
}

// A rank that goes on was only sampled while it ran.
TEST(Stacks, BelowWhichARankPrintsStepsTellNothing) {
  const auto job_with_steps_of = [](const std::vector<int>& going_on) {
    Job job;
    for (int rank = 0; rank < 4; ++rank) {
      const std::string file = "rank" + std::to_string(rank) + ".log";
      dump(job, file, py_spy(0, rank == 2 ? kRows.back().frames : kInAllReduce), rank);
      if (std::ranges::find(going_on, rank) == going_on.end()) continue;
      PartReport steps{.tool = "script",
                       .kind = "training",
                       .names = {{"rank", std::to_string(rank)}},
                       .values = {{"step", "60"}}};
      job.say({"j", file, "", rank}, Speaker{}, steps, "step 60");
    }
    return job.diagnosis();
  };
  EXPECT_NE(behind(job_with_steps_of({})), nullptr);
  EXPECT_EQ(behind(job_with_steps_of({2})), nullptr);
  EXPECT_EQ(behind(job_with_steps_of({0})), nullptr) << "one rank alone may print steps";
  EXPECT_EQ(behind(job_with_steps_of({0, 1, 2, 3})), nullptr);
}

TEST(Stacks, ARankIsKnownByItsFilesName) {
  Job job;
  for (int rank = 0; rank < 4; ++rank)
    dump(job, fmt::format("dumps/stack_rank{}.txt", rank),
         {.tool = "faulthandler",
          .thread = "0x00007f199c58e6c0",
          .frames = rank == 1 ? kInLoader : kInBarrier});
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_NE(behind(diagnosis), nullptr) << diagnosis.summary;
  EXPECT_THAT(behind(diagnosis)->subject.ranks, ElementsAre(1));
}

TEST(Stacks, ARankIsKnownByTheDebugServersHeaderAlsoIfItGivesNoAnswer) {
  for (const Frames& frames : {kInLoader, Frames{"Error: 408"}}) {
    Job job;
    for (int rank = 0; rank < 4; ++rank)
      dump(job, "stacks_20260305_024711.txt",
           {.tool = "faulthandler", .frames = rank == 3 ? frames : kInBarrier, .rank = rank});
    const Diagnosis diagnosis = job.diagnosis();
    ASSERT_NE(behind(diagnosis), nullptr) << frames.front();
    EXPECT_THAT(behind(diagnosis)->subject.ranks, ElementsAre(3));
  }
}

// One machine sent the lines of all hosts, and the stacks.
TEST(Stacks, AProcessIsFoundAlsoIfTheSenderIsAnotherHostThanItsOwn) {
  Job job;
  const Source sent{"j", "all.log", "gpu-1", -1};
  for (int rank = 0; rank < 4; ++rank)
    job.say(sent, Speaker{.host = fmt::format("gpu-{}", rank / 2 + 1), .pid = 1000 + rank},
            CommunicatorInit{.communicator = 0x1000 + static_cast<std::uint64_t>(rank) * 16,
                             .rank = rank,
                             .nranks = 4,
                             .communicator_id = "0xabc",
                             .complete = true},
            "Init COMPLETE");
  for (int rank = 0; rank < 4; ++rank)
    job.say(sent, Speaker{}, py_spy(1000 + rank, rank == 3 ? kInLoader : kInAllReduce), "stack");
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_NE(behind(diagnosis), nullptr) << diagnosis.summary;
  EXPECT_THAT(behind(diagnosis)->subject.ranks, ElementsAre(3));
  EXPECT_THAT(behind(diagnosis)->subject.hosts, ElementsAre("gpu-2"));
}

TEST(Stacks, WhereNoRankIsToldTheProcessIsNamed) {
  Job job;
  for (int i = 0; i < 4; ++i)
    dump(job, "stacks.txt", py_spy(500 + i, i == 2 ? kInLoader : kInAllReduce));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_NE(behind(diagnosis), nullptr);
  EXPECT_THAT(behind(diagnosis)->title, HasSubstr("Process 502"));
}

TEST(Stacks, AreToldAlsoWhereTheyShowNobodyBehind) {
  struct Told {
    const char* where;
    std::vector<Frames> stacks;
    std::vector<std::string> words;
  };
  const std::vector<Told> rows = {
      {"all wait alike",
       {kInAllReduce, kInAllReduce, kInAllReduce, kInAllReduce},
       {"Ranks 0, 1, 2, 3: each waits in a collective", "no stack shows which rank they wait for"}},
      {"all load data",
       {kInLoader, kInLoader, kInLoader, kInLoader},
       {"Ranks 0, 1, 2, 3: each waits for its data loader", "no stack waits in a collective"}},
      {"half of them load data",
       {kInLoader, kInLoader, kInAllReduce, kInAllReduce},
       {"Ranks 0, 1: each waits for its data loader", "Ranks 2, 3: each waits in a collective",
        "do not show who waits for whom"}},
      {"each runs code of its own",
       {{"a (a.py:1)"}, {"b (b.py:2)"}, {"c (c.py:3)"}, kInAllReduce},
       {"in a (a.py:1)", "in b (b.py:2)", "2 more do something else"}},
      {"there is one stack",
       {kInLoader},
       {"waits for its data loader", "does not show whether others wait for it"}},
      {"there are two",
       {kInLoader, kInAllReduce},
       {"Rank 0 on node-0 waits for its data loader", "Rank 1 on node-0 waits in a collective"}},
      {"some wait for their GPU, some in a call",
       {kInAllReduce, kInAllReduce, {"cudaStreamSynchronize () from libcudart.so.12"}, kInBarrier},
       {"Ranks 0, 1, 3: each waits in a collective", "Rank 2"}},
  };
  for (const auto& [where, stacks, words] : rows) {
    SCOPED_TRACE(where);
    Job job;
    job.join_all(static_cast<int>(stacks.size()));
    for (std::size_t rank = 0; rank < stacks.size(); ++rank)
      dump(job, "stacks.txt", py_spy(1000 + static_cast<int>(rank), stacks[rank]));
    const Diagnosis diagnosis = job.diagnosis();
    EXPECT_THAT(diagnosis.root_causes, IsEmpty());
    ASSERT_THAT(diagnosis.observations, SizeIs(1));
    for (const std::string& part : words)
      EXPECT_THAT(diagnosis.observations.front().title, HasSubstr(part));
  }
}

TEST(Stacks, OfAJobThatGoesOnChangeNoVerdict) {
  const auto verdict_of = [](const std::vector<Frames>& stacks) {
    Job job;
    job.join_all(4);
    job.call(ranks(0, 4), all_reduce(), 20);
    for (int rank = 0; rank < 4; ++rank) job.end(rank, "world", CommunicatorEnding::destroyed);
    for (std::size_t rank = 0; rank < stacks.size(); ++rank)
      dump(job, "stacks.txt", py_spy(1000 + static_cast<int>(rank), stacks[rank]));
    return job.diagnosis().verdict;
  };
  EXPECT_EQ(verdict_of({}), Verdict::healthy);
  EXPECT_EQ(verdict_of({kInLoader, kInLoader, kInLoader, kInLoader}), Verdict::healthy);
  EXPECT_EQ(verdict_of({kInLoader, kInAllReduce}), Verdict::healthy);
  EXPECT_EQ(verdict_of({kInLoader}), Verdict::healthy);
}

// item() waits in C, so a stack ends at the line that calls it.
TEST(Stacks, ThoseWhoStandAtOneLineOfTheUsersCodeWaitThere) {
  Job job;
  job.join_all(8);
  for (int rank = 0; rank < 8; ++rank)
    dump(job, "stacks.txt",
         py_spy(1000 + rank, rank == 6 ? kInLoader : Frames{"train_step (train.py:214)"}));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_NE(behind(diagnosis), nullptr);
  EXPECT_THAT(behind(diagnosis)->subject.ranks, ElementsAre(6));
  EXPECT_LT(behind(diagnosis)->confidence, limits::least_to_blame);
}

TEST(Stacks, ThreadsBesideTheMainOneTellNothing) {
  Job job;
  job.join_all(4);
  for (int rank = 0; rank < 4; ++rank) {
    dump(job, "stacks.txt", py_spy(1000 + rank, kInAllReduce));
    StackTop helper =
        py_spy(1000 + rank, rank == 1 ? kInLoader : Frames{"wait (threading.py:320)"});
    helper.thread = "Thread-1";
    dump(job, "stacks.txt", helper);
  }
  EXPECT_THAT(job.diagnosis().root_causes, IsEmpty());
}

TEST(Stacks, AgreeWithNcclsLinesInOneFinding) {
  Job job;
  job.join_all(8);
  job.call(ranks(0, 8), all_reduce(), 20);
  job.call(all_but(5, 8), all_gather());
  for (int rank = 0; rank < 8; ++rank)
    dump(job, "stacks.txt", py_spy(1000 + rank, rank == 5 ? kInLoader : kInAllReduce));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("collective.rank_behind"));
  EXPECT_THAT(diagnosis.root_causes[0].subject.ranks, ElementsAre(5));
}

}  // namespace
}  // namespace faultline
