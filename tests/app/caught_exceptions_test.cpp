// A traceback does not prove that a process ended: programs catch exceptions, log them and go on.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "pasted.h"

namespace faultline {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string traceback(const std::string& in_front = "", const std::string& key = "token_type") {
  return in_front +
         "Traceback (most recent call last):\n"
         "  File \"/srv/run/data/encode.py\", line 61, in encode\n"
         "    return self.fields[name]\n"
         "           ~~~~~~~~~~~^^^^^^\n"
         "KeyError: '" +
         key + "'\n";
}

std::string lines(int count, int from = 0) {
  std::string text;
  for (int i = from; i < from + count; ++i) text += fmt::format("sample {} was read\n", i);
  return text;
}

std::string step(int number, int minute) {
  return fmt::format(
      " [2026-03-05 02:{:02}:10] iteration {:8}/     900 | consumed samples: {:12} | elapsed time "
      "per iteration (ms): 1204.1 | learning rate: 4.6E-05 | lm loss: 5.9E+00 |\n",
      minute, number, number * 64);
}

std::string steps(int from, int to) {
  std::string text;
  for (int i = from; i <= to; ++i) text += step(i, i % 60);
  return text;
}

constexpr const char* kKilled =
    "  exitcode  : 1 (pid: 4211)\n"
    "E0305 02:59:12.301000 4200 "
    "site-packages/torch/distributed/elastic/multiprocessing/api.py:869] "
    "failed (exitcode: 1) local_rank: 2 (pid: 4211) of binary: /usr/bin/python3\n";

TEST(CaughtExceptions, TheLastThingThatALogSaysEndedIt) {
  const Diagnosis diagnosis = pasted(steps(1, 9) + traceback());
  EXPECT_EQ(diagnosis.verdict, Verdict::failed);
  EXPECT_EQ(cause_of(diagnosis), "software.rank_crashed");
}

TEST(CaughtExceptions, OneBelowWhichManyStepsAreTrainedAccusesNobody) {
  const Diagnosis diagnosis = pasted(steps(1, 9) + traceback() + steps(10, 120));
  EXPECT_NE(diagnosis.verdict, Verdict::failed);
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
}

// The process may write buffered lines after its traceback, and its peers may do a step or two
// more.
TEST(CaughtExceptions, OneBelowWhichFewStepsStandIsBelieved) {
  for (const int more : {1, 2, 40})
    EXPECT_EQ(pasted(steps(1, 9) + traceback() + steps(10, 9 + more)).verdict, Verdict::failed)
        << more;
  EXPECT_EQ(pasted(steps(1, 9) + traceback("[rank3]: ") + steps(10, 11)).verdict, Verdict::failed);
}

TEST(CaughtExceptions, OneBelowWhichStepsStandIsBelievedWhereAProcessFailed) {
  const Diagnosis few = pasted(traceback() + steps(1, 120) + kKilled);
  EXPECT_EQ(few.verdict, Verdict::failed);
  EXPECT_EQ(cause_of(few), "software.rank_crashed");
  // No buffer holds so many lines, so the process went on.
  const Diagnosis many = pasted(traceback() + steps(1, 400) + kKilled);
  EXPECT_EQ(many.verdict, Verdict::failed);
  EXPECT_THAT(many.summary, Not(HasSubstr("KeyError")));
}

TEST(CaughtExceptions, OneThatIsLoggedAsNoErrorAccusesNobodyByItself) {
  for (const char* level : {"[INFO:encoder] ", "2026-03-05 02:10:11,402 WARNING encode.py:61 "}) {
    const Diagnosis diagnosis = pasted(lines(3) + traceback(level) + lines(40));
    EXPECT_NE(diagnosis.verdict, Verdict::failed) << level;
    EXPECT_THAT(diagnosis.root_causes, IsEmpty()) << level;
    EXPECT_EQ(pasted(lines(3) + traceback(level) + lines(4)).verdict, Verdict::failed)
        << "it is the last thing that the log says: " << level;
  }
  EXPECT_EQ(pasted(lines(3) + traceback("ERROR 03-05 02:10:11 [core.py:402] ") + lines(40)).verdict,
            Verdict::failed);
  // The level must be a word of its own.
  EXPECT_EQ(pasted(lines(3) + traceback("[rank3]: INFORMED: ") + lines(40)).verdict,
            Verdict::failed);
}

// If a program logs an exception as a warning and trains on, the exception did not cause a later
// segmentation fault.
TEST(CaughtExceptions, OneThatIsLoggedAsNoErrorIsNotWhyTheJobEndedOtherwise) {
  const std::string caught = steps(1, 5) + traceback("WARNING data: passed over: ") + steps(6, 40);
  const auto named = [](const std::string& text) {
    const Diagnosis diagnosis = pasted(text);
    EXPECT_EQ(diagnosis.root_causes.empty(), false);
    for (const Finding& cause : diagnosis.root_causes)
      EXPECT_THAT(cause.title, Not(HasSubstr("KeyError")));
    return cause_of(diagnosis);
  };
  EXPECT_EQ(named(caught + "srun: error: gpu-4: task 2: Segmentation fault (core dumped)\n"),
            "software.rank_crashed");
  EXPECT_EQ(named(caught + "srun: error: gpu-4: task 2: Killed\n"), "host.oom_killed");
  EXPECT_EQ(named(caught + "slurmstepd: error: *** JOB 7 ON gpu-4 CANCELLED AT 2026-03-05T03:00:00 "
                           "DUE TO PREEMPTION ***\n"),
            "process.aborted");
  EXPECT_EQ(named(caught + "[rank2]:[E305 02:59:10.581234567 ProcessGroupNCCL.cpp:629] [Rank 2] "
                           "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=77, "
                           "OpType=ALLREDUCE, NumelIn=64, NumelOut=64, Timeout(ms)=600000) ran for "
                           "600004 milliseconds before timing out.\n"),
            "collective.timeout");
  // Exit code 1 fits the exception, so it may be the cause.
  EXPECT_EQ(cause_of(pasted(caught + "srun: error: gpu-4: task 2: Exited with exit code 1\n")),
            "software.rank_crashed");
  const Diagnosis last = pasted(steps(1, 5) + traceback("WARNING data: passed over: ") +
                                "srun: error: gpu-4: task 2: Segmentation fault (core dumped)\n");
  EXPECT_THAT(last.summary, HasSubstr("KeyError")) << "no step follows";
}

TEST(CaughtExceptions, WhatPeersPrintBelowItSaysNothing) {
  EXPECT_EQ(pasted(traceback() + lines(400)).verdict, Verdict::failed);
}

TEST(CaughtExceptions, TheOneThatEndedItIsNamedAndNotOneThatWasCaughtBefore) {
  const Diagnosis diagnosis =
      pasted(traceback("", "caught") + steps(1, 120) + traceback("", "deadly") + kKilled);
  ASSERT_EQ(cause_of(diagnosis), "software.rank_crashed");
  EXPECT_THAT(title_of(diagnosis), HasSubstr("KeyError: 'deadly'"));
  const Diagnosis follows =
      pasted(traceback("", "first") + lines(400) + traceback("", "follows") + kKilled);
  EXPECT_THAT(title_of(follows), HasSubstr("KeyError: 'first'"));
}

TEST(CaughtExceptions, AJobThatWorkedUntilItsTimeLimitEndedAtIt) {
  const auto limit_at = [](const char* time) {
    return fmt::format(
        "slurmstepd: error: *** STEP 2216748.0 ON gpu-7 CANCELLED AT 2026-03-05T02:{} DUE TO TIME "
        "LIMIT ***\n",
        time);
  };
  const Diagnosis worked = pasted(traceback() + lines(30) + steps(1, 40) + limit_at("40:12"));
  EXPECT_EQ(cause_of(worked), "process.aborted");
  EXPECT_THAT(worked.summary, Not(HasSubstr("KeyError")));
  // A process that ignores the limit is killed.
  const Diagnosis killed = pasted(traceback() + lines(30) + steps(1, 40) + limit_at("40:12") +
                                  "srun: error: gpu-7: task 0: Terminated\n"
                                  "srun: error: gpu-8: task 8: Killed\n");
  EXPECT_EQ(cause_of(killed), "process.aborted");
  EXPECT_THAT(killed.summary, Not(HasSubstr("KeyError")));
  const Diagnosis failed = pasted(traceback() + lines(30) + steps(1, 40) + limit_at("40:12") +
                                  "srun: error: gpu-7: task 0: Exited with exit code 1\n");
  EXPECT_EQ(cause_of(failed), "software.rank_crashed");
  // The job had stood still for a quarter of an hour before the limit.
  const Diagnosis stood = pasted(steps(1, 40) + traceback() + limit_at("55:12"));
  EXPECT_EQ(cause_of(stood), "software.rank_crashed");
  const Diagnosis shortly_before = pasted(steps(1, 40) + traceback() + limit_at("40:30"));
  EXPECT_EQ(cause_of(shortly_before), "software.rank_crashed");
}

// A launcher's line about an exit at 02:10:12.
constexpr const char* kExit =
    "E0305 02:10:12.000000 4200 "
    "site-packages/torch/distributed/elastic/multiprocessing/api.py:869] "
    "failed (exitcode: 3) local_rank: 2 (pid: 4211) of binary: /usr/bin/python3\n";

TEST(WorkAfterAnEnd, ShowsThatItWasOfAnEarlierAttempt) {
  EXPECT_EQ(pasted(steps(1, 10) + kExit).verdict, Verdict::failed);
  EXPECT_EQ(pasted(steps(1, 10) + kExit + step(11, 11)).verdict, Verdict::failed)
      << "a step that came within a minute may have been on its way";
  const Diagnosis diagnosis = pasted(steps(1, 10) + kExit + steps(11, 40));
  EXPECT_NE(diagnosis.verdict, Verdict::failed);
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
}

// If only the other log goes on, one of the two clocks may be wrong.
TEST(WorkAfterAnEnd, OfAnotherLogSaysNothingWhereThatOfTheEndDoesNotGoOn) {
  const auto verdict = [](const std::string& launcher) {
    Workshop workshop;
    workshop.write("job/launcher.log", launcher);
    workshop.write("job/train.log", steps(1, 40));
    return diagnosis_of(workshop.folder() / "job").verdict;
  };
  EXPECT_EQ(verdict(kExit), Verdict::failed);
  const std::string later(kExit);
  EXPECT_NE(verdict(later +
                    "I0305 02:30:12.000000 4200 torch/distributed/elastic/agent/server/api.py:864] "
                    "[default] worker group successfully finished.\n"),
            Verdict::failed);
}

std::string killed(int rank, const char* time) {
  return fmt::format(
      "  time      : {}\n  host      : gpu-7\n  rank      : {} (local_rank: {})\n"
      "  exitcode  : -9 (pid: {})\n  error_file: <N/A>\n"
      "  traceback : Signal 9 (SIGKILL) received by PID {}\n",
      time, rank, rank, 4200 + rank, 4200 + rank);
}

std::string raised_in_syslog(const std::string& first, const std::string& last) {
  const std::string head = "Mar  5 02:47:10 gpu-7 fleet-agent[311]: ";
  return head + "Traceback (most recent call last):\n" + head + "  File \"" + first +
         "\", line 162, in _retry\n" + head + "    return f(*args, **kwargs)\n" + head +
         "  File \"" + last + "\", line 234, in _timeout\n" + head + "    raise exc[0]\n" + head +
         "ReadTimeout: the queue did not answer\n" +
         "Mar  5 02:47:12 gpu-7 ntpd[99]: synchronized\n";
}

TEST(ExceptionsOfTheSystem, AccuseNoRank) {
  const std::string package = "/usr/lib/python3/dist-packages/fleet/util.py";
  for (const std::string& first : {package, std::string("/usr/sbin/fleet-agent")})
    EXPECT_TRUE(pasted(raised_in_syslog(first, package)).root_causes.empty()) << first;
  // Programs of the job may use packages of the system, and PyTorch may be one.
  for (const std::string& first :
       {std::string("/work/train.py"), std::string("/usr/lib/python3.10/runpy.py"),
        std::string("/usr/lib/python3/dist-packages/torch/distributed/run.py")})
    EXPECT_EQ(cause_of(pasted(raised_in_syslog(first, package))), "software.rank_crashed") << first;
}

std::string report_of_kills(int ranks) {
  std::string text =
      "train.py FAILED\n------------------------------------------------------------\nFailures:\n";
  for (int rank = 1; rank < ranks; ++rank)
    text += fmt::format("[{}]:\n", rank) + killed(rank, "2026-03-05_02:47:12");
  return text +
         "------------------------------------------------------------\n"
         "Root Cause (first observed failure):\n[0]:\n" +
         killed(0, "2026-03-05_02:47:11") +
         "============================================================\n";
}

TEST(KilledRanks, OneThatIsKilledMayLackMemoryAndAllAtOnceWereKilledBySomebody) {
  const Diagnosis one = pasted(report_of_kills(1));
  EXPECT_EQ(cause_of(one), "host.oom_killed");
  const Diagnosis all = pasted(report_of_kills(8));
  EXPECT_EQ(cause_of(all), "process.aborted");
  EXPECT_THAT(all.summary, Not(HasSubstr("for memory")));
}

}  // namespace
}  // namespace faultline
