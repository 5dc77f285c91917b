#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "parsed_lines.h"
#include "parsers/launcher/launcher_lines.h"
#include "parsers/launcher/mpi_exits.h"
#include "parsers/torch/fr_report.h"
#include "parsers/torch/torch_reports.h"
#include "parsers/torch/torch_watchdog.h"

namespace faultline {
namespace {

using Case = ParsedLine<Fact>;

TEST(TorchLines, TimeoutsOfEveryVersion) {
  expect_all<Fact>(
      parse_torch_timeout,
      {
          {"1.13: no element counts",
           "[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=41, "
           "OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1800917 milliseconds before timing out.",
           {WatchdogTimeout{.group = {.rank = 3},
                            .sequence = 41,
                            .operation = "ALLREDUCE",
                            .timeout_ms = 1800000,
                            .ran_ms = 1800917}}},
          {"2.2 on",
           "[Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=15074, "
           "OpType=_ALLGATHER_BASE, NumelIn=8388608, NumelOut=67108864, Timeout(ms)=600000) ran "
           "for "
           "600218 milliseconds before timing out.",
           {WatchdogTimeout{.group = {.rank = 2},
                            .sequence = 15074,
                            .operation = "_ALLGATHER_BASE",
                            .numel_in = 8388608,
                            .numel_out = 67108864,
                            .timeout_ms = 600000,
                            .ran_ms = 600218}}},
          {"counts that are not set",
           "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9, OpType=COALESCED, "
           "NumelIn=18446744073709551615, NumelOut=18446744073709551615, Timeout(ms)=600000) ran "
           "for "
           "600001 milliseconds before timing out.",
           {WatchdogTimeout{
               .sequence = 9, .operation = "COALESCED", .timeout_ms = 600000, .ran_ms = 600001}}},
          {"blocking wait",
           "[Rank 0] Work WorkNCCL(SeqNum=3, OpType=BROADCAST, NumelIn=4, NumelOut=4, "
           "Timeout(ms)=60000) timed out in blocking wait.",
           {WatchdogTimeout{.group = {.rank = 0},
                            .sequence = 3,
                            .operation = "BROADCAST",
                            .numel_in = 4,
                            .numel_out = 4,
                            .timeout_ms = 60000,
                            .blocking = true}}},
          {"wrapped by hand",
           "    WorkNCCL(SeqNum=22337, OpType=ALLREDUCE, NumelIn=1, ...)",
           {WatchdogTimeout{.sequence = 22337, .operation = "ALLREDUCE", .numel_in = 1}}},
          {"an asynchronous error",
           "Collective WorkNCCL(SeqNum=7, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, "
           "Timeout(ms)=600000) raised the following async exception: NCCL error: remote process",
           {}},
          {"prose", "the SeqNum=7 of the work", {}},
      });
}

TEST(TorchLines, HowFarRanksCame) {
  const TorchGroup tp{.id = 2, .name = "3", .description = "tp", .rank = 1};
  expect_all<Fact>(
      parse_torch_status,
      {
          {"2.6 on",
           "[PG ID 2 PG GUID 3(tp) Rank 1]  failure detected by watchdog at work sequence id: 808 "
           "PG "
           "status: last enqueued work: 810, last completed work: 807",
           {WatchdogStatus{.group = tp,
                           .teller = "failure",
                           .failed = 808,
                           .enqueued = 810,
                           .completed = 807}}},
          {"with what was started",
           "[PG ID 2 PG GUID 3(tp) Rank 1]  failure detected by watchdog at work sequence id: 808 "
           "PG "
           "status: last enqueued work: 810, last started work: 808, last completed work: 807",
           {WatchdogStatus{.group = tp,
                           .teller = "failure",
                           .failed = 808,
                           .enqueued = 810,
                           .started = 808,
                           .completed = 807}}},
          {"2.4",
           "[PG 0 (default_pg) Rank 1] Exception (either an error or timeout) detected by watchdog "
           "at "
           "work: 6463, last enqueued NCCL work: 6463, last completed NCCL work: 6462.",
           {WatchdogStatus{.group = {.id = 0, .name = "0", .description = "default_pg", .rank = 1},
                           .teller = "failure",
                           .failed = 6463,
                           .enqueued = 6463,
                           .completed = 6462}}},
          {"2.2, and nothing completed yet",
           "[Rank 1] Timeout at NCCL work: 1, last enqueued NCCL work: 1, last completed NCCL "
           "work: -1.",
           {WatchdogStatus{.group = {.rank = 1},
                           .teller = "failure",
                           .failed = 1,
                           .enqueued = 1,
                           .completed = -1}}},
      });
}

TEST(TorchLines, WhoToldWhom) {
  const TorchGroup all{.id = 0, .name = "0", .description = "default_pg", .rank = 4};
  const std::string prefix = "[PG ID 0 PG GUID 0(default_pg) Rank 4] ";
  expect_all<Fact>(
      parse_torch_dump_signal,
      {
          {"it only saw the signal",
           prefix + "Observed flight recorder dump signal from another rank via TCPStore.",
           {DumpSignal{.group = all, .from = "other"}}},
          {"another rank, two blanks",
           prefix +
               "Received a dump signal due to a collective timeout from  rank 7 and we will try "
               "our best to dump the debug info. Last enqueued NCCL work: 56118, last completed "
               "NCCL work: 56117.This is most likely caused by",
           {DumpSignal{.group = all, .from = "other", .from_rank = 7},
            WatchdogStatus{
                .group = all, .teller = "signal", .enqueued = 56118, .completed = 56117}}},
          {"itself",
           prefix +
               "Received a dump signal due to a collective timeout from this local rank and we "
               "will try our best to dump the debug info.",
           {DumpSignal{.group = all, .from = "self"}}},
          {"itself, first of the process",
           prefix + "First PG on this rank to signal dumping.",
           {DumpSignal{.group = all, .from = "self"}}},
          {"2.3",
           prefix + "Received a global timeout from another rank and will start to dump",
           {DumpSignal{.group = all, .from = "other"}}},
      });
}

TEST(TorchLines, DesyncReports) {
  expect_all<Fact>(
      parse_torch_desync,
      {
          {"who timed out",
           "\t - [1] Timeout at collective: ALLREDUCE, #5",
           {DesyncEntry{
               .ranks = {1}, .what = "timed_out", .sequence = 5, .operation = "ALLREDUCE"}}},
          {"who never came",
           "\t - To our best knowledge, ranks [2] are the lagging ranks that caused this "
           "timeout. They never joined any collectives",
           {DesyncEntry{.ranks = {2}, .what = "never_joined"}}},
          {"who did not finish",
           "\t   - [0, 3] joined but didn't finish collective #4 (count from 1)",
           {DesyncEntry{.ranks = {0, 3}, .what = "not_finished", .sequence = 4}}},
          {"who did not join",
           "     [2] finished collective #4, but didn't join collective #5 (count from 1)",
           {DesyncEntry{.ranks = {2}, .what = "not_joined", .sequence = 5}}},
      });
}

TEST(TorchLines, FingerprintsOfBothRanks) {
  expect_all<Fact>(
      parse_torch_called,
      {
          {"shapes differ",
           "RuntimeError: Detected mismatch between collectives on ranks. Rank 0 is running "
           "collective: CollectiveFingerPrint(SequenceNumber=28, OpType=ALLREDUCE, "
           "TensorShape=[10, "
           "20], TensorDtypes=Float, TensorDeviceTypes=cuda), but Rank 1 is running collective: "
           "CollectiveFingerPrint(SequenceNumber=28OpType=BARRIER).Collectives differ in the "
           "following aspects: ",
           {CalledCollective{.rank = 0,
                             .own = true,
                             .sequence = 28,
                             .operation = "ALLREDUCE",
                             .shape = "10, 20",
                             .types = "Float",
                             .devices = "cuda"},
            CalledCollective{.rank = 1, .sequence = 28, .operation = "BARRIER"}}},
          {"a line each",
           "Rank 3 is running collective: SequenceNumber=18",
           {CalledCollective{.rank = 3, .sequence = 18}}},
      });
}

TEST(TorchLines, ACallIsReadOnlyAsFarAsTheNextOne) {
  std::vector<Reading> readings;
  ASSERT_TRUE(
      parse_torch_called("Rank 0 is running collective: SequenceNumber=7 Rank 1 is running "
                         "collective: SequenceNumber=7, OpType=BARRIER",
                         readings));
  ASSERT_EQ(readings.size(), 2U);
  EXPECT_EQ(std::get<CalledCollective>(readings[0].fact).operation, "");
  EXPECT_EQ(std::get<CalledCollective>(readings[1].fact).operation, "BARRIER");
  std::string many;
  for (int i = 0; i < 10'000; ++i)
    many += "Rank 1 is running collective: TensorShape=[ TensorDtypes=";
  readings.clear();
  EXPECT_TRUE(parse_torch_called(many, readings));
  EXPECT_EQ(readings.size(), 64U);
}

TEST(FlightRecorderReport, OfManyRanksThoseThatAreNotMissingEntered) {
  std::string missing;
  for (int rank = 49'999; rank > 0; --rank) missing += std::to_string(rank) + ", ";
  const std::vector<std::string> lines = {
      "Not all ranks joining collective, sequence number: 5", "collective: all_reduce",
      "missing ranks: {" + missing + "}", "expected ranks: 50000"};
  const auto report = make_fr_report();
  std::vector<DocumentReading> readings;
  for (const std::string& line : lines) report->feed({.text = line, .whole = line}, readings);
  report->finish(readings);
  ASSERT_EQ(readings.size(), 2U);
  EXPECT_EQ(std::get<DesyncEntry>(readings[0].reading.fact).ranks.size(), 49'999U);
  EXPECT_EQ(std::get<DesyncEntry>(readings[1].reading.fact).ranks, std::vector<int>{0});
}

TEST(TorchLines, BarriersAndParameters) {
  expect_all<Fact>(parse_torch_barrier,
                   {{"the first only",
                     "[Rank 0]: Rank 3 failed to pass monitoredBarrier in 600000 ms",
                     {BarrierMissed{.ranks = {3}, .timeout_ms = 600000}}},
                    {"all of them",
                     "[Rank 0]: Ranks 1, 2 failed to pass monitoredBarrier in 2000 ms",
                     {BarrierMissed{.ranks = {1, 2}, .timeout_ms = 2000, .all_named = true}}}});
  expect_all<Fact>(
      parse_torch_unused,
      {{"numbers",
        "Parameter indices which did not receive grad for rank 0: 0 3 7",
        {UnusedParameters{.rank = 0, .names = {"0", "3", "7"}}}},
       {"names",
        "Parameters which did not receive grad for rank 1: aux_head.weight, aux_head.bias",
        {UnusedParameters{.rank = 1, .names = {"aux_head.weight", "aux_head.bias"}}}}});
}

TEST(ProcessExit, OfPaddlesLauncherNamesTheRankAndTheSignal) {
  std::vector<Reading> readings;
  const char* line =
      "Container rank 3 status failed cmd ['/usr/bin/python3', '-u', 'train.py'] code -9 log "
      "log/workerlog.3 ";
  ASSERT_TRUE(parse_paddle_exit(line, readings));
  ASSERT_EQ(readings.size(), 1U);
  EXPECT_EQ(std::get<ProcessExit>(readings[0].fact),
            (ProcessExit{.teller = "paddle", .ranks = {3}, .exit_code = -9, .signal = 9}));
  readings.clear();
  EXPECT_FALSE(parse_paddle_exit(
      "Container rank 3 status failed cmd ['python3'] code 0 log log/workerlog.3 ", readings));
  EXPECT_FALSE(parse_paddle_exit("Container rank 3 status running cmd ['python3']", readings));
}

TEST(LauncherLines, ANumberThatNoJobHasIsNoRank) {
  const auto of_host = [](const std::string& teller) {
    return std::vector<Fact>{
        ProcessExit{.teller = teller, .host = "gpu-8", .signal = 15, .reason = "Terminated"}};
  };
  expect_all<Fact>(
      parse_srun_exit,
      {{"the greatest number", "srun: error: gpu-8: tasks 2147483647: Terminated", of_host("srun")},
       {"a range up to it", "srun: error: gpu-8: tasks 0-2147483647: Terminated", of_host("srun")},
       {"one of two",
        "srun: error: gpu-8: tasks 1048575,1048576: Terminated",
        {ProcessExit{.teller = "srun",
                     .host = "gpu-8",
                     .ranks = {1048575},
                     .signal = 15,
                     .reason = "Terminated"}}}});
  expect_all<Fact>(parse_pals_exit,
                   {{"another launcher",
                     "gpu-8: rank 2147483647 died from signal 15",
                     {ProcessExit{.teller = "pals", .host = "gpu-8", .signal = 15}}}});
}

TEST(LauncherLines, WhoEndedAndHow) {
  expect_all<Fact>(
      parse_torchrun_agent,
      {{"a worker that failed",
        "failed (exitcode: -9) local_rank: 3 (pid: 21737) of binary: /usr/bin/python3",
        {ProcessExit{
            .teller = "torchrun", .local_rank = 3, .pid = 21737, .exit_code = -9, .signal = 9}}},
       {"one that is ended",
        "Sending process 21734 closing signal SIGTERM",
        {ProcessExit{.teller = "torchrun", .pid = 21734, .signal = 15, .told_to = true}}},
       {"prose", "the process failed", {}}});
  expect_all<Fact>(parse_srun_exit, {{"ranges",
                                      "srun: error: gpu-7: tasks 0-2,4: Killed",
                                      {ProcessExit{.teller = "srun",
                                                   .host = "gpu-7",
                                                   .ranks = {0, 1, 2, 4},
                                                   .signal = 9,
                                                   .reason = "Killed"}}},
                                     {"a code that stands for a signal",
                                      "srun: error: gpu-7: task 3: Exited with exit code 139",
                                      {ProcessExit{.teller = "srun",
                                                   .host = "gpu-7",
                                                   .ranks = {3},
                                                   .exit_code = 139,
                                                   .signal = 11,
                                                   .reason = "Exited with exit code 139"}}}});
  expect_all<Fact>(
      parse_mpirun_exit,
      {{"a signal",
        "mpirun noticed that process rank 1 with PID 0 on node vm exited on signal 9 (Killed).",
        {ProcessExit{.teller = "mpirun",
                     .host = "vm",
                     .ranks = {1},
                     .signal = 9,
                     .reason = "Killed",
                     .first = true}}}});
  expect_all<Fact>(
      parse_pals_exit,
      {{"a signal",
        "gpu-7.cluster: rank 25 died from signal 6 and dumped core",
        {ProcessExit{.teller = "pals", .host = "gpu-7.cluster", .ranks = {25}, .signal = 6}}},
       {"a code",
        "gpu-8: rank 31 exited with code 17",
        {ProcessExit{.teller = "pals", .host = "gpu-8", .ranks = {31}, .exit_code = 17}}},
       {"a good end", "gpu-8: rank 31 exited with code 0", {}},
       {"another program's words", "gpu-8: rank 31 waits", {}}});
  expect_all<Fact>(
      parse_pod_exit,
      {{"an operator's event",
        "1.70e+09 DEBUG events Pod: kubeflow.llama-worker-3 exited with code 137 {}",
        {ProcessExit{
            .teller = "kubernetes", .host = "llama-worker-3", .exit_code = 137, .signal = 9}}},
       {"a good end", "Pod: kubeflow.llama-worker-3 exited with code 0", {}},
       {"another program's words", "docker exited with code 1", {}}});
  const auto ended = [](const std::string& teller, std::vector<int> ranks, int signal,
                        const std::string& reason, const std::string& host = {}) {
    return std::vector<Fact>{ProcessExit{.teller = teller,
                                         .host = host,
                                         .ranks = std::move(ranks),
                                         .signal = signal,
                                         .reason = reason,
                                         .first = teller == "jsrun"}};
  };
  expect_all<Fact>(
      parse_mpi_exit,
      {{"MVAPICH2",
        "[gpu-7:mpispawn_0][child_handler] MPI process (rank: 2, pid: 4242) terminated with signal "
        "11 -> abort job",
        ended("mpirun_rsh", {2}, 11, "11", "gpu-7")},
       {"jsrun",
        "ERROR:  One or more process (first noticed rank 4) terminated with signal 11 (core "
        "dumped)",
        ended("jsrun", {4}, 11, "11")},
       {"Platform MPI", "MPI Application rank 3 killed before MPI_Finalize() with signal 9",
        ended("mpirun", {3}, 9, "9")},
       {"Platform MPI, a code",
        "MPI Application rank 3 exited before MPI_Finalize() with status 1",
        {ProcessExit{.teller = "mpirun", .ranks = {3}, .exit_code = 1}}},
       {"MPT", "MPT ERROR: Rank 3(g:3) received signal SIGSEGV(11).",
        ended("mpt", {3}, 11, "SIGSEGV")},
       {"ALPS",
        "[NID 00193] [c0-0c1s0n1] [Thu Mar  5 02:47:10 2026] PE RANK 3 exit signal Bus error",
        ended("aprun", {3}, 7, "Bus error", "nid00193")},
       {"MPD", "  exit status of rank 3: killed by signal 9", ended("mpd", {3}, 9, "9")},
       {"MPD, a good end", "  exit status of rank 3: return code 0", {}},
       {"GASNet", "*** Caught a fatal signal (proc 3): SIGSEGV(11)",
        ended("gasnet", {3}, 11, "SIGSEGV")},
       {"Fluent", "Node 3: Process 4242: Received signal SIGFPE.",
        ended("fluent", {3}, 8, "SIGFPE")},
       {"Flux",
        "flux-shell[0]: FATAL: task-exit: lmp: task rank 3 on host gpu-7 exited (Segmentation "
        "fault) and exit-timeout=30s has expired",
        ended("flux", {3}, 11, "Segmentation fault")},
       {"Grid Engine", "failed assumedly after job because: job 7.1 died through signal KILL (9)",
        ended("sge", {}, 9, "KILL")},
       {"another program's words", "PE RANK 3 waits", {}}});
  expect_all<Fact>(
      parse_deepspeed_exit,
      {{"a process of the host, whatever the command shown",
        "[2026-03-05 11:45:59,955] [ERROR] [launch.py:434:sigkill_handler] ['/usr/bin/python3', "
        "'-u', 'train.py', '--local_rank=3'] exits with return code = -9",
        {ProcessExit{.teller = "deepspeed", .exit_code = -9, .signal = 9, .first = true}}},
       {"a good end", "[INFO] [launch.py:347:main] ['python3'] exits with return code = 0", {}},
       {"another program's words", "worker exits with return code = 1", {}}});
  expect_all<Fact>(
      parse_shell_exit,
      {{"a shell's word",
        "/var/spool/job7/slurm_script: line 15: 259449 Killed      ./train",
        {ProcessExit{.teller = "shell", .pid = 259449, .signal = 9, .reason = "Killed"}}}});
  expect_all<Fact>(
      parse_shell_word,
      {{"of what was started by hand",
        "Segmentation fault (core dumped)",
        {ProcessExit{.teller = "shell", .signal = 11, .reason = "Segmentation fault"}}},
       {"a kill", "Killed", {ProcessExit{.teller = "shell", .signal = 9, .reason = "Killed"}}},
       {"zsh's way",
        "zsh: floating point exception (core dumped)  ./train --steps 7",
        {ProcessExit{.teller = "shell", .signal = 8, .reason = "floating point exception"}}},
       {"zsh's way with the number of the process",
        "[1]  + 48213 killed     python3 train.py",
        {ProcessExit{.teller = "shell", .pid = 48213, .signal = 9, .reason = "killed"}}},
       {"a sentence", "the script was Killed (core dumped)", {}},
       {"another's word", "Killed by the user", {}}});
}

}  // namespace
}  // namespace faultline
