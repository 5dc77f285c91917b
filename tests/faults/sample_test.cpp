// Some rounds of each kind of fault, and the proof that they would see a loss.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program.h"

namespace faultline {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

using Faults = ProgramTest;

TEST_F(Faults, LeaveEverythingThatWasAcknowledgedOnceAndIntact) {
  const Outcome outcome = run("${F}_faults --sample --folder .");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
}

TEST_F(Faults, AreSeenToLoseWhatADiskOnlyClaimedToHaveSynced) {
  const Outcome outcome = run("${F}_faults power --rounds 4 --syncs-lie --folder .");
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  // The moment of the cut decides whether single lines are lost or the whole database.
  EXPECT_THAT(outcome.out, AnyOf(HasSubstr("LOST: "), HasSubstr("it does not start: ")));
}

}  // namespace
}  // namespace faultline
