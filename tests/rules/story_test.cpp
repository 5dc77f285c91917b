// Whole jobs with several findings: what is a cause, what follows, and how the job ended.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job.h"
#include "rules/knowledge/limits.h"
#include "seconds.h"

namespace faultline {
namespace {

using ::testing::ElementsAre;

Finding first_cause(const Diagnosis& diagnosis) {
  return diagnosis.root_causes.empty() ? Finding{} : diagnosis.root_causes.front();
}

// Rank 9 raises an exception of its own; the other ranks wait for it.
Job a_rank_raises(const std::string& type = "IndexError") {
  Job job = sixteen_ranks();
  job.call(all_but(9, 16), all_reduce());
  PythonException exception{.type = type,
                            .message = "list index out of range",
                            .file = "/opt/train/model.py",
                            .file_line = 31,
                            .function = "forward"};
  exception.lines = {{1, 0, "Traceback (most recent call last):"}, {2, 60, type + ": list index"}};
  job.say({"j", "all.log", "", -1}, Speaker{.rank = 9}, exception, type + ": list index");
  return job;
}

void end(Job& job, const std::string& teller) {
  job.say({"j", "launcher.log", "", -1}, Speaker{},
          ProcessExit{.teller = teller, .host = "node-1", .ranks = {9}, .exit_code = 1}, "exit");
}

TEST(Story, AVagueWarningOfTheHostDoesNotSwallowAnExceptionOfTheProgram) {
  for (const char* warning :
       {"TCP: request_sock_TCP: Possible SYN flooding on port 9400. Sending cookies.",
        "nf_conntrack: nf_conntrack: table full, dropping packet"}) {
    Job job = a_rank_raises();
    job.kernel("node-1", warning);
    const Diagnosis diagnosis = job.diagnosis();
    EXPECT_EQ(first_cause(diagnosis).cause, "software.rank_crashed") << warning;
    EXPECT_THAT(first_cause(diagnosis).subject.ranks, ElementsAre(9)) << warning;
  }
}

// A rank that is out of GPU memory says so itself, and nobody waits, so no symptom needs a cause.
TEST(Story, WhatNoClockPlacesIsNoCauseBesideOneThatSaysHowTheJobEnded) {
  const auto sureness = [](const Job& job) {
    const Diagnosis diagnosis = job.diagnosis();
    const auto found =
        std::ranges::find(diagnosis.root_causes, Cause::host_storage_stall, &Finding::cause);
    return found == diagnosis.root_causes.end() ? 0.0 : found->confidence;
  };
  Job hung = sixteen_ranks();
  hung.call(ranks(0, 8), all_reduce());  // all of node-1 stopped
  Job ended = sixteen_ranks();
  ended.say({"j", "all.log", "", -1}, Speaker{.rank = 9},
            PythonException{.type = "torch.OutOfMemoryError",
                            .message = "CUDA out of memory. Tried to allocate 2.00 GiB."},
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.");
  for (Job* job : {&hung, &ended})
    job->kernel("node-1", "nfs: server fs-01.example not responding, still trying");
  EXPECT_GT(sureness(hung), 0.5);
  EXPECT_LT(sureness(ended), limits::least_asked_about);
  EXPECT_EQ(first_cause(ended.diagnosis()).cause, Cause::software_cuda_oom);
}

TEST(Story, WhatKilledAProcessAccountsForItThoughNoClockTellsWhen) {
  constexpr int kPid = 1003;
  Job job = sixteen_ranks();
  job.call(all_but(3, 16), all_reduce());
  job.say(
      {"j", "launcher.log", "", -1}, Speaker{},
      ProcessExit{.teller = "torchrun", .host = "node-0", .ranks = {3}, .pid = kPid, .signal = 9},
      "exitcode: -9");
  EXPECT_EQ(first_cause(job.diagnosis()).cause, Cause::software_rank_crashed);
  job.kernel("node-0",
             fmt::format("Out of memory: Killed process {} (python3) total-vm:1kB", kPid));
  EXPECT_THAT(causes(job.diagnosis().root_causes), ElementsAre("host.oom_killed"));
}

TEST(Story, AJobThatItsLauncherEndedFailedAndDidNotHang) {
  for (const char* teller : {"torchrun", "srun", "mpirun", "kubernetes"}) {
    Job job = a_rank_raises();
    end(job, teller);
    EXPECT_EQ(job.diagnosis().verdict, Verdict::failed) << teller;
  }
}

TEST(Story, AJobWhoseOtherRanksWaitUntilTheyTimeOutHangs) {
  Job job = a_rank_raises();
  end(job, "srun");
  for (const int rank : all_but(9, 16))
    job.say({"j", "all.log", "", -1}, Speaker{.rank = rank},
            WatchdogTimeout{.group = {},
                            .sequence = 11,
                            .operation = "ALLREDUCE",
                            .numel_in = 1024,
                            .numel_out = 1024,
                            .timeout_ms = 600000,
                            .ran_ms = 600050},
            "Watchdog caught collective operation timeout");
  EXPECT_EQ(job.diagnosis().verdict, Verdict::hang);
}

TEST(Story, AJobOfWhichNothingTellsTheEndHangsWhereItStands) {
  EXPECT_EQ(a_rank_raises().diagnosis().verdict, Verdict::hang);
}

TEST(Story, WhatNamesNoHostDoesNotComeBeforeTheFindingThatDoesWhateverTheJobsName) {
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
    Job job(name);
    job.join_all(16);
    job.call(ranks(0, 16), all_reduce(), 10);
    job.call(all_but(9, 16), all_reduce());
    job.kernel("node-1",
               "Memory cgroup out of memory: Killed process 1009 (python3) total-vm:512345678kB, "
               "anon-rss:498765432kB, file-rss:123456kB, shmem-rss:4096kB, UID:0");
    job.say({"j", "slurm-1.out", "", -1}, Speaker{},
            Remark{.dialect = "system",
                   .place = "slurmstepd",
                   .text = "error: Detected 1 oom_kill event in StepId=1.0. Some of the step "
                           "tasks have been OOM Killed."},
            "slurmstepd: error: Detected 1 oom_kill event in StepId=1.0.");
    const Diagnosis diagnosis = job.diagnosis();
    EXPECT_EQ(first_cause(diagnosis).cause, "host.oom_killed") << name;
    EXPECT_THAT(first_cause(diagnosis).subject.hosts, ElementsAre("node-1")) << name;
  }
}

TEST(Story, APortThatCutsOffANicExplainsTheConnectionsThatBrokeThere) {
  Job job;
  job.clock = at(1);
  job.join_all(16);
  for (int rank = 0; rank < 16; ++rank)
    job.setting(rank, "interface", "bootstrap", fmt::format("eth0:10.0.0.{}<0>", 10 + rank / 8));
  job.call(ranks(0, 16), all_reduce(), 10);
  job.kernel("node-1", "pcieport 0000:2a:01.0: DPC: containment event, status:0x1f01 source:0x0000",
             at(10));
  for (const int rank : {0, 3})
    job.warn(rank,
             "misc/socket.cc:29 socketProgressOpt: Call to recv from 10.0.0.11<41388> failed "
             ": Connection timed out");
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(first_cause(diagnosis).cause, "pcie.error");
  EXPECT_THAT(causes(diagnosis.symptoms), testing::Contains("network.peer_lost"));
}

TEST(Story, AConnectionThatBrokeAboveTheTimeOutsBeginsTheRing) {
  Job job;
  job.join_all(16);
  for (int rank = 0; rank < 16; ++rank)
    job.setting(rank, "interface", "bootstrap", fmt::format("eth0:10.0.0.{}<0>", 10 + rank / 8));
  job.call(ranks(0, 16), all_reduce(), 10);
  const Source log{"j", "all.log", "", -1};
  job.say(log, Job::speaker_of(9),
          Remark{.dialect = "nccl",
                 .level = "warn",
                 .text = "misc/socket.cc:484 socketPollConnect: Connection closed by remote peer "
                         "node-0<41388>"},
          "NCCL WARN Connection closed by remote peer node-0<41388>");
  for (int rank = 0; rank < 16; ++rank) {
    job.say(log, Speaker{.rank = rank},
            WatchdogTimeout{.group = {},
                            .sequence = 10,
                            .operation = "ALLREDUCE",
                            .numel_in = 1024,
                            .numel_out = 1024,
                            .timeout_ms = 600000,
                            .ran_ms = 600050},
            "Watchdog caught collective operation timeout");
    const std::string text = "To avoid data inconsistency, we are taking the entire process down.";
    job.say(log, Speaker{.rank = rank}, Remark{.dialect = "torch", .text = text}, text);
  }
  EXPECT_THAT(causes(job.diagnosis().root_causes), ElementsAre("network.peer_lost"));
}

TEST(Story, TheSameFindingsUnderAnotherNameOfTheJobStandInTheSameOrder) {
  std::vector<std::vector<std::string>> orders;
  for (const char* name : {"a", "b", "c", "d"}) {
    Job job(name);
    job.join_all(16);
    job.call(ranks(0, 16), all_reduce(), 10);
    for (const int rank : {1, 4, 9, 12}) job.xid(Job::host_of(rank), Job::gpu_of(rank), 79, at(5));
    std::vector<std::string> order;
    for (const Finding& finding : findings_of(job.diagnosis())) order.push_back(finding.title);
    orders.push_back(std::move(order));
  }
  for (const auto& order : orders) EXPECT_EQ(order, orders.front());
}

}  // namespace
}  // namespace faultline
