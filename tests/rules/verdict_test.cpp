#include "rules/story/verdict.h"

#include <gtest/gtest.h>

#include "job.h"
#include "model/facts/torch.h"

namespace faultline {
namespace {

constexpr Timestamp kBegin{std::chrono::seconds{1'771'400'000}};

EventTime second(int seconds) {
  return EventTime::at(kBegin + std::chrono::seconds(seconds), std::chrono::seconds(1));
}

Candidate candidate(const std::string& cause, Verdict verdict, bool symptom = false) {
  Candidate made;
  made.suspicion.finding.cause = cause_named(cause);
  made.suspicion.finding.severity = Severity::critical;
  made.suspicion.finding.confidence = 0.9;
  made.suspicion.verdict = verdict;
  made.symptom = symptom;
  return made;
}

// A rank crashed, and its peers wait for it.
std::vector<Candidate> crash_and_its_wait() {
  std::vector<Candidate> all{candidate("software.rank_crashed", Verdict::failed),
                             candidate("collective.rank_behind", Verdict::hang, true)};
  all[1].explained_by = {0};
  return all;
}
const std::vector<Place> kCrashAndItsWait{Place::root_cause, Place::symptom};

TEST(VerdictOfAJob, IsFailedWhereAProcessEndedItBeforeAnybodyGaveUp) {
  const auto all = crash_and_its_wait();
  EXPECT_EQ(verdict_of(all, kCrashAndItsWait, Ending::exit, Verdict::unknown), Verdict::failed);
}

TEST(VerdictOfAJob, IsThatOfTheSurestCauseWhereAProcessEndedIt) {
  auto all = crash_and_its_wait();
  all[0].suspicion.finding.confidence = 0.93;
  all.push_back(candidate("collective.rank_behind", Verdict::hang, true));
  all.back().suspicion.finding.confidence = 0.5;
  EXPECT_EQ(verdict_of(all, {Place::root_cause, Place::symptom, Place::root_cause}, Ending::exit,
                       Verdict::unknown),
            Verdict::failed);
}

TEST(VerdictOfAJob, IsFailedWhereTheDeathCameFirstThoughNoClockPlacesTheExit) {
  auto all = crash_and_its_wait();
  all.push_back(candidate("collective.timeout", Verdict::hang, true));
  all[0].effects = {1, 2};
  all[2].explained_by = {0};
  const auto verdict = [&] {
    return verdict_of(all, {Place::root_cause, Place::symptom, Place::symptom},
                      Ending::exit_or_time_out, Verdict::unknown);
  };
  EXPECT_EQ(verdict(), Verdict::hang) << "nothing is dated";
  all[2].suspicion.since = second(700);
  all[0].suspicion.since = second(100);
  EXPECT_EQ(verdict(), Verdict::failed);
  all[0].suspicion.since = second(710);
  EXPECT_EQ(verdict(), Verdict::hang);
}

TEST(VerdictOfAJob, IsHangWhereSomebodyWaitedToTheEndOrStillWaits) {
  const auto all = crash_and_its_wait();
  for (const Ending ending : {Ending::time_out, Ending::none})
    EXPECT_EQ(verdict_of(all, kCrashAndItsWait, ending, Verdict::unknown), Verdict::hang);
}

TEST(VerdictOfAJob, StaysHangWhereACauseOfAHangWasEndedByALauncher) {
  std::vector<Candidate> all{candidate("software.collective_mismatch", Verdict::hang),
                             candidate("process.aborted", Verdict::failed, true)};
  EXPECT_EQ(verdict_of(all, {Place::root_cause, Place::symptom}, Ending::exit, Verdict::unknown),
            Verdict::hang);
}

TEST(VerdictOfAJob, IsNotToldByACauseThatIsTooUnsureToBeShown) {
  std::vector<Candidate> all{candidate("host.limits", Verdict::failed)};
  const auto verdict = [&] {
    return verdict_of(all, {Place::root_cause}, Ending::none, Verdict::unknown);
  };
  EXPECT_EQ(verdict(), Verdict::failed);
  all[0].suspicion.finding.confidence = 0.19;
  EXPECT_EQ(verdict(), Verdict::unknown);
  all[0].symptom = true;
  EXPECT_EQ(verdict(), Verdict::failed) << "it was seen to be so";
}

TEST(VerdictOfAJob, IsCorruptWhateverEndedIt) {
  auto all = crash_and_its_wait();
  all.push_back(candidate("corruption.wrong_results", Verdict::corrupt));
  EXPECT_EQ(verdict_of(all, {Place::root_cause, Place::symptom, Place::root_cause}, Ending::exit,
                       Verdict::unknown),
            Verdict::corrupt);
}

TEST(VerdictOfAJob, IsThatOfAJobWithoutFindingsWhereAllAreObservations) {
  const std::vector<Candidate> all{candidate("gpu.hang", Verdict::failed)};
  for (const Verdict otherwise : {Verdict::healthy, Verdict::unknown})
    EXPECT_EQ(verdict_of(all, {Place::observation}, Ending::none, otherwise), otherwise);
}

// Rank 3 of sixteen stops after its tenth call, and the launcher says how it ended.
Job ended_at(int seconds, ProcessExit exit) {
  Job job = sixteen_ranks(10, second(0));
  job.clock = second(100);
  job.call(all_but(3, 16), all_reduce());
  exit.teller = "torchrun";
  exit.ranks = {3};
  exit.first = true;
  job.say({"j", "launcher.log", "", -1}, Speaker{}, exit, "exitcode", second(seconds));
  return job;
}

void time_out(Job& job, int seconds) {
  for (const int rank : all_but(3, 16)) {
    Speaker speaker = Job::speaker_of(rank);
    speaker.rank = rank;
    job.say(Job::source_of(rank), speaker,
            WatchdogTimeout{.group = {.id = 0, .name = "0", .description = "default_pg"},
                            .sequence = 11,
                            .operation = "ALLREDUCE",
                            .timeout_ms = 600'000,
                            .ran_ms = 600'050},
            "Watchdog caught collective operation timeout", second(seconds));
  }
}

TEST(EndOfAJob, IsADeathThatCameBeforeItsPeersGaveUpWaiting) {
  constexpr int kKilled = 9;
  constexpr int kAborted = 6;
  for (const int signal : {kKilled, kAborted}) {
    Job job = ended_at(101, {.signal = signal});
    job.kernel("node-0", "python3[1003]: segfault at 18 ip 00007f6a sp 00007f69 error 4 in libc.so",
               second(100));
    time_out(job, 700);
    EXPECT_EQ(job.diagnosis().verdict, Verdict::failed) << signal;
  }
}

TEST(EndOfAJob, IsTheTimeOutWhereProcessesEndedAfterIt) {
  for (const ProcessExit& exit : {ProcessExit{.exit_code = 1}, ProcessExit{.signal = 6}}) {
    Job job = ended_at(710, exit);
    time_out(job, 700);
    EXPECT_EQ(job.diagnosis().verdict, Verdict::hang);
  }
}

}  // namespace
}  // namespace faultline
