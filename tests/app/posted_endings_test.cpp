// How jobs end, as launchers, schedulers and engines print it, pasted alone: the process that ended
// first is named, one that only followed is not accused, and nothing that ended badly is healthy.
// The same texts, changed as viewers, terminals and people change them, get the same answer or a
// less sure one.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/cause.h"
#include "simulated_diagnosis.h"
#include "workshop.h"

namespace faultline {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Diagnosis posted(const std::string& text) {
  Workshop workshop;
  workshop.write("job/posted.txt", text);
  return diagnosis_of(workshop.folder() / "job");
}

// Class and title of the first cause; empty if there is none.
std::string first_cause(const Diagnosis& diagnosis) {
  if (diagnosis.root_causes.empty()) return {};
  const Finding& first = diagnosis.root_causes.front();
  return fmt::format("{} {}", name_of(first.cause), first.title);
}

struct Sample {
  const char* why;
  std::string text;
  const char* cause;  // the beginning of its class and title
  Verdict verdict = Verdict::failed;
};

const std::string kMpiAbort =
    "[gpu-18:83218] *** An error occurred in MPI_Reduce\n"
    "[gpu-18:83218] *** reported by process [1013006671,200]\n"
    "[gpu-18:83218] *** on communicator MPI_COMM_WORLD\n"
    "[gpu-18:83218] *** MPI_ERR_OTHER: known error not in list\n"
    "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.\n"
    "slurmstepd: error: *** STEP 49018.0 ON gpu-10 CANCELLED AT 2026-03-05T02:47:52 ***\n"
    "srun: error: gpu-18: task 200: Exited with exit code 16\n"
    "srun: error: gpu-11: tasks 40-79: Killed\n"
    "srun: error: gpu-10: tasks 0-39: Killed\n";

const std::string kMpirun =
    "--------------------------------------------------------------------------\n"
    "mpirun detected that one or more processes exited with non-zero status, thus causing\n"
    "the job to be terminated. The first process to do so was:\n\n"
    "  Process name: [[56171,1],6]\n"
    "  Exit code:    3\n"
    "--------------------------------------------------------------------------\n";

const std::string kRay =
    "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n"
    "\tclass_name: Trainer\n\tpid: 320330\n\tip: 10.0.4.7\n"
    "The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR Worker "
    "exit detail: Worker unexpectedly exits with a connection error code 2. End of file.\n";

const std::string kGaveUp =
    "application called MPI_Abort(MPI_COMM_WORLD, 1) - process 2\n"
    "application called MPI_Abort(MPI_COMM_WORLD, 1) - process 4\n"
    "ERROR: CUDA driver version is insufficient for CUDA runtime version in solver.cpp at line 12 "
    "(error-code 35)\n"
    "in: settings.h, line 67\n";

const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = {
      {"an error that is printed behind the word that the program ends itself for it", kGaveUp,
       "software.version_mismatch Driver and CUDA library do not match"},
      {"a task of Slurm's that ended before its step was ended", kMpiAbort,
       "process.aborted Rank 200 on gpu-18 ended with exit code 16"},
      {"mpirun's table", kMpirun, "software.rank_crashed Rank 6 ended with exit code 3"},
      {"an actor of Ray's", kRay, "process.aborted The process of a Ray actor died"},
      {"a worker of an engine",
       "ERROR 03-05 02:47:10 [multiproc_executor.py:140] Worker proc VllmWorker-3 died "
       "unexpectedly, shutting down executor.\n"
       "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack "
       "trace "
       "(above) for the root cause.\n",
       "process.aborted Worker 3 of an engine died"},
      {"NCCL's error in the words of nccl-tests",
       "gpu-7: Test NCCL failure alltoall.cu:274 'unhandled system error / '\n"
       " .. gpu-7 pid 338131: Test failure common.cu:484\n",
       "nccl.error A system call failed within NCCL", Verdict::unknown},
      {"NCCL's error in the words of XLA",
       "E0305 02:47:10.490303  583398 pjrt_stream_executor_client.cc:3072] Execution of replica 0 "
       "failed: INTERNAL: NCCL operation ncclGroupEnd() failed: unhandled cuda error (run with "
       "NCCL_DEBUG=INFO for details).\n",
       "nccl.error A CUDA call failed within NCCL", Verdict::unknown},
  };
  return all;
}

std::string torchrun_table(int code, const std::string& others = "") {
  return fmt::format(
      "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
      "============================================================\ntrain.py FAILED\n"
      "------------------------------------------------------------\n{}"
      "Root Cause (first observed failure):\n[0]:\n  time      : 2026-03-05_02:47:10\n"
      "  host      : gpu-7\n  rank      : 2 (local_rank: 2)\n  exitcode  : {} (pid: 1266)\n"
      "  error_file: <N/A>\n"
      "============================================================\n",
      others, code);
}

// An uncaught exception leaves exit code 1, and its message may be in a log that is missing. A
// program chooses other codes itself.
TEST(PostedEndings, ARankThatChoseItsCodeEndedByItselfThoughItsPeersSayMore) {
  std::string peers;
  for (const int rank : {0, 1})
    peers += fmt::format(
        "[rank{0}]: Traceback (most recent call last):\n"
        "[rank{0}]:   File \"train.py\", line 9, in main\n"
        "[rank{0}]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:547] "
        "Connection closed by peer [10.0.0.7]:16822\n",
        rank);
  EXPECT_THAT(first_cause(posted(peers + torchrun_table(3))),
              StartsWith("software.rank_crashed Rank 2 on gpu-7 ended with exit code 3"));
  const std::string as_well =
      "Failures:\n[1]:\n  time      : 2026-03-05_02:47:10\n  host      : gpu-7\n"
      "  rank      : 0 (local_rank: 0)\n  exitcode  : 3 (pid: 1264)\n  error_file: <N/A>\n";
  EXPECT_THAT(first_cause(posted(peers + torchrun_table(3, as_well))),
              Not(StartsWith("software.")));
  EXPECT_THAT(first_cause(posted(peers + torchrun_table(1))), Not(StartsWith("software.")));
  for (const int code : {75, 85, 124, 143})
    EXPECT_THAT(first_cause(posted(peers + torchrun_table(code))), Not(StartsWith("software.")));
  std::string raised = peers;
  raised.replace(raised.find("[rank0]:"), 8, "[rank2]:");
  for (std::size_t at = raised.find("[rank0]:"); at != std::string::npos;
       at = raised.find("[rank0]:"))
    raised.replace(at, 8, "[rank2]:");
  EXPECT_THAT(first_cause(posted(raised + torchrun_table(3))), Not(StartsWith("software.")));
}

// The log of rank 0 is missing, and its exit code says nothing. But its host was the first to close
// connections of the other ranks.
TEST(PostedEndings, WhoseHostClosedTheConnectionsOfTheOthersEndedByItself) {
  const auto lost = [](const std::string& of, const std::string& peer) {
    return of +
           ":98500:98502 [0] misc/socket.cc:50 NCCL WARN socketProgress: Connection closed by "
           "remote peer " +
           peer + ".example.org<45074>\n";
  };
  const std::string raised =
      "[rank1]:[E ProcessGroupNCCL.cpp:1414] [PG 0 Rank 1] Process group watchdog thread "
      "terminated "
      "with exception: NCCL error: remote process exited or there was a network error, NCCL "
      "version "
      "2.20.5\nncclRemoteError: A call failed possibly due to a network error or a remote process "
      "exiting prematurely.\n";
  const std::string ended =
      "srun: error: gpu-1: task 0: Exited with exit code 1\n"
      "srun: error: gpu-2: task 1: Exited with exit code 134\n";
  EXPECT_THAT(first_cause(posted(lost("gpu-2", "gpu-1") + raised + ended)),
              AllOf(StartsWith("software.rank_crashed"), HasSubstr("Rank 0 on gpu-1")));
  EXPECT_THAT(first_cause(posted(raised + ended)), StartsWith("process.aborted"));
  EXPECT_THAT(first_cause(posted(lost("gpu-2", "gpu-3") + raised + ended)),
              Not(StartsWith("software.")));
  EXPECT_THAT(first_cause(posted(lost("gpu-2", "gpu-1") + lost("gpu-1", "gpu-3") + raised + ended)),
              Not(StartsWith("software.")));
}

TEST(PostedEndings, ThatAWatchdogEndedItsProcessIsNoCrash) {
  const std::string stuck =
      "[rank25]:[E ProcessGroupNCCL.cpp:1316] [PG 0 Rank 25] Heartbeat monitor timed out! Process "
      "will be terminated after dumping debug info. workMetaList_.size()=2\n"
      "[rank25]:[F ProcessGroupNCCL.cpp:1169] [PG 0 Rank 25] [PG 0 Rank 25] ProcessGroupNCCL's "
      "watchdog got stuck for 600 seconds without making progress in monitoring enqueued "
      "collectives.\n";
  const std::string died = "gpu-7: rank 25 died from signal 6 and dumped core\n";
  EXPECT_THAT(first_cause(posted(died)), StartsWith("software.rank_crashed"));
  EXPECT_THAT(first_cause(posted(stuck + died)), Not(StartsWith("software.")));
  EXPECT_EQ(posted(stuck + died).verdict, Verdict::hang);
}

TEST(PostedEndings, AKeyThatATerminalShowsHidesNoLine) {
  const std::string told =
      "W1016 06:21:18.872000 140016382740288 torch/distributed/elastic/agent/server/api.py:688] "
      "Received Signals.SIGINT death signal, shutting down workers\n";
  EXPECT_THAT(first_cause(posted("step 3\n^C" + told)), StartsWith("process.aborted"));
  EXPECT_EQ(first_cause(posted("^C" + told)), first_cause(posted(told)));
}

TEST(PostedEndings, WhomMpSpawnSawEndFirstIsNamed) {
  const auto spawned = [](const char* end) {
    return fmt::format(
        "Traceback (most recent call last):\n  File \"train.py\", line 20, in <module>\n"
        "    mp.spawn(worker, args=(3,), nprocs=3)\n"
        "torch.multiprocessing.spawn.ProcessExitedException: process 1 terminated with {}\n",
        end);
  };
  EXPECT_THAT(first_cause(posted(spawned("signal SIGKILL"))), StartsWith("software.rank_crashed"));
  EXPECT_TRUE(posted(spawned("signal SIGKILL")).root_causes.front().subject.ranks.empty())
      << "of several hosts each has a process 1";
  EXPECT_THAT(first_cause(posted(spawned("exit code 3"))), StartsWith("software.rank_crashed"));
  for (const char* follows : {"signal SIGTERM", "signal SIGABRT"})
    EXPECT_THAT(first_cause(posted(spawned(follows))), StartsWith("process.aborted"));
}

TEST(PostedEndings, WhatPeersSayOfOneThatGaveUpIsNotItsReason) {
  const Diagnosis diagnosis = posted(
      "application called MPI_Abort(MPI_COMM_WORLD, 1) - process 2\n"
      "[1772677630.440695] [gpu-7:11838:0] ib_mlx5_log.c:179 UCX ERROR Transport retry count "
      "exceeded on mlx5_0:1/IB (synd 0x15 vend 0x81 hw_synd 0/0)\n");
  EXPECT_THAT(first_cause(diagnosis), StartsWith("software.rank_crashed Rank 2 called MPI_Abort"));
}

TEST(PostedEndings, SayWhoEndedFirstAndAreNeverHealth) {
  for (const Sample& it : samples()) {
    SCOPED_TRACE(it.why);
    const Diagnosis diagnosis = posted(it.text);
    EXPECT_THAT(first_cause(diagnosis), StartsWith(it.cause));
    EXPECT_EQ(diagnosis.verdict, it.verdict);
  }
}

std::string each_line(const std::string& text, const std::string& before, std::size_t wrap = 0) {
  std::string changed;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = before + text.substr(at, end - at);
    while (wrap > 0 && line.size() > wrap) {
      changed += line.substr(0, wrap) + "\n";
      line.erase(0, wrap);
    }
    changed += line + "\n";
    at = end + 1;
  }
  return changed;
}

// Another cause of the same class is allowed. Another class that is surer than before is not.
void expect_no_other_cause(const Diagnosis& whole, const Diagnosis& changed) {
  EXPECT_NE(changed.verdict, Verdict::healthy);
  if (changed.root_causes.empty() || whole.root_causes.empty()) return;
  const Finding& first = changed.root_causes.front();
  const Finding& then = whole.root_causes.front();
  EXPECT_LE(first.confidence, then.confidence + 0.005) << first.title;
  if (first.confidence >= 0.8) {
    EXPECT_EQ(first.cause, then.cause) << first.title;
  }
}

// The store is on another host, and this log does not say why it ended.
TEST(PostedEndings, WhatIsRaisedWhereARankWaitsForOthersToStartMayBeAPeers) {
  const auto raised_in = [](const std::string& frame) {
    return pasted(
        "Traceback (most recent call last):\n"
        "  File \"/srv/run/train.py\", line 12, in main\n"
        "    begin()\n"
        "  File \"" +
        frame +
        "\n"
        "    data = store.get(key)\n"
        "RuntimeError: an answer of another kind was expected\n");
  };
  EXPECT_LT(confidence_of(raised_in("/usr/lib/python3/site-packages/torch/distributed/elastic/"
                                    "utils/store.py\", line 34, in get_all")),
            0.8);
  EXPECT_GT(confidence_of(raised_in("/srv/run/store.py\", line 34, in get_all")), 0.9);
}

TEST(PostedEndings, ASettingThatOnlyMaySlowAJobDownDoesNotMakeItSlow) {
  const Diagnosis diagnosis = pasted(
      "n1:10:20 [1] NCCL INFO comm 0x7f10 rank 1 nranks 2 cudaDev 1 busId 3b000 - Init START\n"
      "n1:10:20 [1] NCCL INFO Could not enable P2P between dev 1(=3b000) and dev 0(=18000)\n"
      "n1:10:20 [1] NCCL INFO comm 0x7f10 rank 1 nranks 2 cudaDev 1 busId 3b000 - Init COMPLETE\n");
  EXPECT_LT(confidence_of(diagnosis), 0.5);
  EXPECT_NE(diagnosis.verdict, Verdict::slow);
}

// The exit code follows from the exception, however little the message itself blames.
TEST(PostedEndings, AnExceptionStandsBeforeTheCodeThatItLeavesBehind) {
  for (const std::string raised : {
           "OSError: [Errno 122] Disk quota exceeded: '/scratch/run/step_400.pt'",
           "OSError: [Errno 28] No space left on device",
           "OSError: [Errno 5] Input/output error: '/scratch/run/step_400.pt'",
           "KeyError: 'labels'",
       }) {
    const Diagnosis diagnosis = pasted(
        "[rank2]: Traceback (most recent call last):\n"
        "[rank2]:   File \"/srv/run/train.py\", line 88, in save\n"
        "[rank2]:     torch.save(state, path)\n"
        "[rank2]: " +
        raised +
        "\n"
        "srun: error: n3: task 2: Exited with exit code 1\n"
        "slurmstepd: error: *** STEP 991.0 ON n1 CANCELLED AT 2026-11-02T03:11:20 ***\n");
    ASSERT_EQ(diagnosis.root_causes.size(), 1U) << raised;
    EXPECT_THAT(title_of(diagnosis), Not(HasSubstr("exit code"))) << raised;
    EXPECT_EQ(diagnosis.verdict, Verdict::failed) << raised;
  }
}

TEST(PostedEndings, MeanTheSameBehindWhatViewersPutBeforeThem) {
  for (const Sample& it : samples()) {
    const Diagnosis whole = posted(it.text);
    for (const char* before :
         {"2026-03-05T02:47:10.123456Z ", "[pod/train-7/main] ", "4600.0s ", "> ", "    ",
          "[2026-03-05 02:47:10] ", "(Trainer pid=4821) ", "gpu-7 | "}) {
      SCOPED_TRACE(std::string(it.why) + " behind " + before);
      expect_no_other_cause(whole, posted(each_line(it.text, before)));
    }
  }
}

TEST(PostedEndings, AccuseNobodyElseWhenTheyAreWrappedOrCut) {
  for (const Sample& it : samples()) {
    const Diagnosis whole = posted(it.text);
    for (const std::size_t column : {80U, 120U}) {
      SCOPED_TRACE(fmt::format("{}, wrapped at {}", it.why, column));
      expect_no_other_cause(whole, posted(each_line(it.text, "", column)));
    }
    for (std::size_t cut = 1; cut < 6; ++cut) {
      SCOPED_TRACE(fmt::format("{}, cut {}", it.why, cut));
      expect_no_other_cause(whole, posted(it.text.substr(it.text.size() * cut / 6)));
      expect_no_other_cause(whole, posted(it.text.substr(0, it.text.size() * cut / 6)));
    }
  }
}

TEST(PostedEndings, AStepThatSomebodyEndedIsNoHealthAndNoFault) {
  const Diagnosis diagnosis = posted(
      "slurmstepd: error: *** STEP 49018.0 ON gpu-10 CANCELLED AT 2026-03-05T02:47:52 ***\n"
      "srun: error: gpu-11: tasks 40-79: Killed\nsrun: error: gpu-10: tasks 0-39: Killed\n");
  EXPECT_THAT(first_cause(diagnosis), StartsWith("process.aborted Slurm ended "));
  EXPECT_NE(diagnosis.verdict, Verdict::healthy);
}

TEST(PostedEndings, WhomHorovodTookDownFollowsTheRankThatIsMissing) {
  const Diagnosis diagnosis = posted(
      "[2026-03-05 02:47:07: W horovod/common/stall_inspector.cc:105] One or more tensors were "
      "submitted to be reduced, gathered or broadcasted by subset of ranks and are waiting for "
      "remainder of ranks for more than 60 seconds.\n"
      "Missing ranks:\n0: [grads_3/HorovodAllreduce]\n\n"
      "Traceback (most recent call last):\n  File \"fit.py\", line 45, in <module>\n"
      "    model.fit(x)\n"
      "tensorflow.python.framework.errors_impl.UnknownError: Horovod has been shut down. This was "
      "caused by an exception on one of the ranks or an attempt to allreduce a tensor after one of "
      "the ranks finished execution.\n");
  EXPECT_THAT(first_cause(diagnosis), HasSubstr("Rank 0 did not submit"));
}

// --- How a job says that it ended well
// ---------------------------------------------------------------------

TEST(PostedEndings, AProgramThatSaysItEndedWellIsHealthy) {
  for (const char* word :
       {"I0305 02:47:10.581000 4242 torch/distributed/elastic/agent/server/api.py:932] Local "
        "worker "
        "group finished (WorkerState.SUCCEEDED). Waiting 300 seconds for other agents to finish",
        "INFO:     Application shutdown complete.", "Training time 5:12:44",
        "Epoch 3/3\n - 83s - loss: 1.0786\n2026-03-05 02:47:10,254 INFO All done!"}) {
    const Diagnosis diagnosis = posted(std::string(word) + "\n");
    EXPECT_EQ(diagnosis.verdict, Verdict::healthy) << word;
    EXPECT_THAT(diagnosis.summary, HasSubstr("At its end the log says")) << word;
  }
}

TEST(PostedEndings, TheWordsOfAnyScriptAreNoHealthWhereNobodyIsSeenAtWork) {
  EXPECT_EQ(posted("All done!\n").verdict, Verdict::unknown);
  EXPECT_EQ(posted("Training finished\n").verdict, Verdict::unknown);
}

TEST(PostedEndings, AWordOfAnEndIsNoneWhereTheJobWentOn) {
  const std::string ended = "Epoch 1/2\nEpoch 2/2\n2026-03-05 02:47:10,254 INFO All done!\n";
  EXPECT_EQ(posted(ended).verdict, Verdict::healthy);
  EXPECT_EQ(posted(ended + "Epoch 1/2\n").verdict, Verdict::unknown);
  EXPECT_EQ(
      posted(ended + "Epoch 1/2\nEpoch 2/2\n2026-03-05 02:57:10,254 INFO All done!\n").verdict,
      Verdict::healthy);
  std::string lines;
  for (int i = 0; i < 300; ++i) lines += "copying part " + std::to_string(i) + " of the results\n";
  EXPECT_EQ(posted(ended + lines).verdict, Verdict::unknown);
}

TEST(PostedEndings, ALineOfOneRankThatTellsNothingIsNoHealth) {
  EXPECT_EQ(
      posted("[1,564]<stderr>:[gpu-7:194169:0:194169] ib_mlx5_log.c:113  WRONG: a queue (synd "
             "0x15 vend 0x81)\n")
          .verdict,
      Verdict::unknown);
}

TEST(PostedEndings, AWordOfAnEndHidesNoFault) {
  const std::string word = "INFO:     Application shutdown complete.\n";
  EXPECT_EQ(posted("Traceback (most recent call last):\n"
                   "  File \"/opt/serve.py\", line 7, in main\n"
                   "    step()\n"
                   "ValueError: sample 3 is truncated\n" +
                   word)
                .verdict,
            Verdict::failed);
  EXPECT_NE(posted("gpu-7:101:201 [0] NCCL WARN NET/IB : Got completion from peer 10.0.0.2<4791> "
                   "with status=12 opcode=0 len=0 vendor err 129 (Recv)\n" +
                   word)
                .verdict,
            Verdict::healthy);
}

TEST(PostedEndings, WhatIsEndedAfterItDidAllItWasToDoHasNotFailed) {
  const std::string cancelled =
      "slurmstepd: error: *** JOB 761567 ON gn1206 CANCELLED AT 2026-03-05T02:47:13 ***\n";
  EXPECT_EQ(posted("[Step 99/100] Loss: 4.92\n[Step 100/100] Loss: 5.22\n" + cancelled).verdict,
            Verdict::failed);
  EXPECT_EQ(posted("[Step 99/100] Loss: 4.92\n[Step 100/100] Loss: 5.22\n"
                   "Training done in 42.00 seconds.\n" +
                   cancelled)
                .verdict,
            Verdict::healthy);
}

// The scheduler says why the process was killed; the pool does not know.
TEST(PostedEndings, AProcessOfAPoolThatDiedIsWhatTheSchedulerSaysOfIt) {
  const std::string raised =
      "[rank1]: Traceback (most recent call last):\n"
      "[rank1]:   File \"/opt/train.py\", line 7, in main\n"
      "[rank1]:     data.map(tokenize, num_proc=8)\n"
      "[rank1]: RuntimeError: One of the subprocesses has abruptly died during map operation.To "
      "debug "
      "the error, disable multiprocessing.\n";
  EXPECT_THAT(first_cause(posted(raised)), StartsWith("process.aborted"));
  EXPECT_THAT(
      first_cause(posted(raised +
                         "slurmstepd-gpu016: error: Detected 4 oom_kill events in "
                         "StepId=25022146.batch. Some of the step tasks have been OOM Killed.\n")),
      StartsWith("host.oom_killed"));
}

TEST(PostedEndings, ARankThatSaidNothingIsMissedAmongThreeThatTimedOut) {
  std::string text;
  for (const char* rank : {"1", "2", "3"})
    text += fmt::format(
        "[rank{0}]:[E922 03:32:06.116004605 ProcessGroupNCCL.cpp:607] [Rank {0}] Watchdog caught "
        "collective operation timeout: WorkNCCL(SeqNum=875, OpType=ALLREDUCE, NumelIn=1, "
        "NumelOut=1, "
        "Timeout(ms)=1800000) ran for 1800047 milliseconds before timing out.\n",
        rank);
  const Diagnosis diagnosis = posted(text);
  EXPECT_THAT(first_cause(diagnosis), HasSubstr("ank 0"));
  EXPECT_LT(diagnosis.root_causes.front().confidence, 0.8);
}

// A rank that stops inside a call lets some peers finish the call; these wait in the next one.
TEST(PostedEndings, ARankThatSaidNothingIsMissedThoughTheOthersStandAtTwoCallsInARow) {
  const auto timed_out_at = [](int rank, int sequence) {
    return fmt::format(
        "[rank{0}]:[E922 03:32:06.116004605 ProcessGroupNCCL.cpp:607] [Rank {0}] Watchdog caught "
        "collective operation timeout: WorkNCCL(SeqNum={1}, OpType=ALLREDUCE, NumelIn=1, "
        "NumelOut=1, Timeout(ms)=1800000) ran for 1800047 milliseconds before timing out.\n",
        rank, sequence);
  };
  const Diagnosis next_to_it =
      posted(timed_out_at(0, 152) + timed_out_at(1, 153) + timed_out_at(2, 153) +
             "node-1:103:103 [3] NCCL INFO ncclCommInitRank comm 0x10 rank 3 nranks 4 cudaDev 3 "
             "nvmlDev 3 busId 3b000 commId 0xfa - Init COMPLETE\n");
  EXPECT_THAT(first_cause(next_to_it), StartsWith("collective.rank_behind Rank 3"));
  EXPECT_LT(next_to_it.root_causes.front().confidence, 0.8);
  const Diagnosis far_behind = posted(timed_out_at(0, 152) + timed_out_at(1, 190) +
                                      timed_out_at(2, 190) + timed_out_at(3, 190));
  EXPECT_THAT(first_cause(far_behind), StartsWith("collective.rank_behind Rank 0"));
}

TEST(PostedEndings, WhatPythonCouldNotRaiseAnywhereFailsNobody) {
  const Diagnosis diagnosis = posted(
      "[rank0]:[titan] 2026-03-05 02:45:09,159 - root - INFO - step: 50  loss:  4.1888  memory: "
      "14.65GiB(46.71%)  tps: 1,486\n"
      "[rank0]:[titan] 2026-03-05 02:45:11,159 - root - INFO - Training completed\n"
      "[rank0]:Exception ignored while calling deallocator <function Writer.__del__ at 0x7fe1>:\n"
      "[rank0]:Traceback (most recent call last):\n"
      "[rank0]:  File \"/opt/train/writer.py\", line 405, in __del__\n"
      "[rank0]:    self.thread.join()\n"
      "[rank0]:PythonFinalizationError: cannot join thread at interpreter shutdown\n");
  EXPECT_THAT(first_cause(diagnosis), "");
  EXPECT_EQ(diagnosis.verdict, Verdict::healthy);
}

TEST(PostedEndings, ATracebackThatALoggerCallsAWarningFailsNobody) {
  const std::string_view kLines[] = {
      "Could not reload a kernel",
      "Traceback (most recent call last):", "  File \"/opt/torch/bundler.py\", line 219, in load",
      "    raise RuntimeError(\"no such file\")", "RuntimeError: no such file"};
  for (const auto& [severity, causes] : {std::pair{'W', 0U}, std::pair{'E', 1U}}) {
    std::string text;
    for (const std::string_view line : kLines)
      text +=
          fmt::format("[rank5]:{}0305 02:47:12.781000 24038 torch/_inductor/bundler.py:228] {}\n",
                      severity, line);
    text +=
        "[rank5]:[W305 02:47:13.560671002 ProcessGroupNCCL.cpp:1569] Warning: WARNING: "
        "destroy_process_group() was not called before program exit\n";
    EXPECT_EQ(posted(text).root_causes.size(), causes);
  }
}

TEST(PostedEndings, WhatThreadsOfARankRaiseAfterItWasInterruptedIsNoCause) {
  const std::string thread =
      "Exception in thread Thread-3 (_pin_memory_loop):\n"
      "Traceback (most recent call last):\n"
      "  File \"/usr/lib/python3.12/multiprocessing/connection.py\", line 412, in _recv\n"
      "    chunk = read(handle, to_read)\n"
      "ConnectionResetError: [Errno 104] Connection reset by peer\n";
  const std::string interrupt =
      "[rank0]: Traceback (most recent call last):\n"
      "[rank0]:   File \"/opt/train/train.py\", line 162, in forward\n"
      "[rank0]:     positions = torch.arange(length)\n"
      "[rank0]: KeyboardInterrupt\n";
  EXPECT_THAT(first_cause(posted(interrupt + thread)), Not(HasSubstr("ConnectionResetError")));
  EXPECT_THAT(first_cause(posted(thread + interrupt)), HasSubstr("ConnectionResetError"));
}

TEST(PostedEndings, TheTracebackInTorchrunsTableIsOfTheRankOfItsRow) {
  const Diagnosis diagnosis = posted(
      "============================================================\n"
      "train.py FAILED\n"
      "------------------------------------------------------------\n"
      "Failures:\n"
      "  <NO_OTHER_FAILURES>\n"
      "------------------------------------------------------------\n"
      "Root Cause (first observed failure):\n"
      "[0]:\n"
      "  time      : 2026-03-05_03:12:40\n"
      "  host      : gpu-9\n"
      "  rank      : 11 (local_rank: 3)\n"
      "  exitcode  : 1 (pid: 31737)\n"
      "  error_file: /tmp/torchelastic_k2/none_x/attempt_0/3/error.json\n"
      "  traceback : Traceback (most recent call last):\n"
      "    File \"/opt/train/shards.py\", line 97, in read\n"
      "      raise ShardError(\"too short\")\n"
      "  shards.ShardError: too short\n"
      "  \n"
      "============================================================\n");
  EXPECT_THAT(first_cause(diagnosis),
              "software.rank_crashed Rank 11 on gpu-9 raised shards.ShardError: too short "
              "(shards.py:97 in read)");
}

// NCCL's last warnings when processes leave one after another while the benchmark's script goes on.
TEST(PostedEndings, WarningsBeforeABenchmarkPrintedItsResultAreOnlyMentioned) {
  const std::string warning =
      "r7:220751:220904 [0] proxy.cc:1458 NCCL WARN [Service thread] Accept failed Resource "
      "temporarily unavailable\n"
      "r7:220751:220904 [0] proxy.cc:1497 NCCL WARN [Service thread] Could not receive type from "
      "localRank 0, res=3, closed=0\n";
  const std::string result = "RESULT,LLM_FINETUNING,,1480,ACME,2026-03-05 02:47:10 AM\n";
  EXPECT_EQ(posted(warning + result).verdict, Verdict::healthy);
  EXPECT_NE(posted(result + warning).verdict, Verdict::healthy);
  EXPECT_NE(posted(warning).verdict, Verdict::healthy);
}

TEST(PostedEndings, ALinearSolverIsHealthyIfItsOwnCheckPassed) {
  const auto hpl = [](int passed, int failed) {
    return posted(
        fmt::format("Finished      1 tests with the following results:\n"
                    "              {} tests completed and passed residual checks,\n"
                    "              {} tests completed and failed residual checks,\n"
                    "              0 tests skipped because of illegal input values.\n"
                    "--------------------------------------------------------------------\n\n"
                    "End of Tests.\n",
                    passed, failed));
  };
  EXPECT_EQ(hpl(1, 0).verdict, Verdict::healthy);
  EXPECT_EQ(hpl(0, 0).verdict, Verdict::unknown);
  for (const Diagnosis& wrong : {hpl(0, 1), hpl(1, 1)}) {
    EXPECT_EQ(wrong.verdict, Verdict::corrupt);
    EXPECT_THAT(first_cause(wrong), StartsWith("corruption.wrong_results"));
  }
}

// torchrun waits half a minute between SIGTERM and SIGKILL.
TEST(PostedEndings, WhereAllWereKilledWithinSecondsNobodyBeganIt) {
  const auto table = [](const char* second_of_others) {
    std::string text =
        "W0305 02:47:01.408000 2118 torch/distributed/elastic/multiprocessing/api.py:1010] Sending "
        "process 2131 closing signal SIGTERM\n"
        "W0305 02:47:01.408000 2118 torch/distributed/elastic/multiprocessing/api.py:1010] Sending "
        "process 2132 closing signal SIGTERM\n";
    const auto row = [&](int rank, const char* second) {
      text += fmt::format(
          "[{0}]:\n  time      : 2026-03-05_02:47:{1}\n  host      : gpu-9\n"
          "  rank      : {0} (local_rank: {0})\n  exitcode  : -9 (pid: {2})\n"
          "  error_file: <N/A>\n  traceback : Signal 9 (SIGKILL) received by PID {2}\n",
          rank, second, 2130 + rank);
    };
    text += "Failures:\n";
    row(1, second_of_others);
    row(2, second_of_others);
    text += "--------\nRoot Cause (first observed failure):\n";
    row(0, "01");
    return text + "============\n";
  };
  const auto killed = [&](const char* second_of_others) {
    std::string titles;
    const Diagnosis diagnosis = posted(table(second_of_others));
    for (const auto* findings : {&diagnosis.root_causes, &diagnosis.symptoms})
      for (const Finding& finding : *findings)
        titles += fmt::format("{} {}\n", name_of(finding.cause), finding.title);
    return titles;
  };
  EXPECT_THAT(killed("03"),
              HasSubstr("process.aborted Ranks 0, 1, 2 were killed by SIGKILL, and no line"));
  EXPECT_THAT(killed("31"),
              HasSubstr("software.rank_crashed Rank 0 on gpu-9 was killed by SIGKILL"));
}

}  // namespace
}  // namespace faultline
