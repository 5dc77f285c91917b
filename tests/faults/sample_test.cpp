// Some rounds of each kind of fault, and the proof that they would see a loss.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "program.h"

namespace faultline {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

using Faults = ProgramTest;

// The line that a run prints of what a seed chose.
std::string choice_of(const std::string& out, const std::string& kind_and_seed) {
  const std::size_t at = out.find(kind_and_seed + ": ");
  return at == std::string::npos ? "" : out.substr(at, out.find('\n', at) - at);
}

TEST_F(Faults, LeaveEverythingThatWasAcknowledgedIntactAndAreRepeatedByTheirSeed) {
  const Outcome outcome = run("${F}_faults --sample --choices --folder . " FAULTS_FLAGS);
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  const Outcome alone =
      run("${F}_faults flip --rounds 1 --seed 5 --choices --folder . " FAULTS_FLAGS);
  EXPECT_EQ(alone.status, 0) << alone.out << alone.err;
  const std::string choice = choice_of(alone.out, "flip with seed 5");
  EXPECT_THAT(choice, HasSubstr("bit ")) << alone.out;
  EXPECT_EQ(choice, choice_of(outcome.out, "flip with seed 5"));
}

TEST_F(Faults, AreSeenToLoseWhatADiskOnlyClaimedToHaveSynced) {
  const Outcome outcome = run("${F}_faults power --rounds 4 --syncs-lie --folder . " FAULTS_FLAGS);
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  // The moment of the cut decides whether single lines are lost or the whole database.
  EXPECT_THAT(outcome.out, AnyOf(HasSubstr("LOST: "), HasSubstr("it does not start: ")));
}

}  // namespace
}  // namespace faultline
