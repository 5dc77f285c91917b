#include "rules/story/verdict.h"

#include <gtest/gtest.h>

namespace faultline {
namespace {

Candidate candidate(const std::string& cause, Verdict verdict, bool symptom = false) {
  Candidate made;
  made.suspicion.finding.cause = cause;
  made.suspicion.finding.severity = Severity::critical;
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

}  // namespace
}  // namespace faultline
