// Logs that lost lines at random: the right rank is still named first, with less confidence than
// from whole logs, and no other part is named with high confidence.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "simulate/simulate.h"
#include "simulated_diagnosis.h"
#include "workshop.h"

namespace faultline {
namespace {

struct Row {
  const char* nccl;
  double lost_percent;
};
std::ostream& operator<<(std::ostream& out, const Row& row) {
  return out << row.nccl << " without " << row.lost_percent << " %";
}

constexpr std::uint64_t kSeeds = 10;
constexpr int kRight = 9;
constexpr double kAccused = 0.9;  // from this confidence on a part counts as accused

struct Tally {
  int right = 0;
  int accused = 0;  // wrong parts
  double confidence = 0;
};

Tally tally_of(const Row& row) {
  Tally tally;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    simulation::Options options;
    options.scenario = "rank_behind";
    options.nccl = row.nccl;
    options.seed = seed;
    options.lose_percent = row.lost_percent;
    const Workshop workshop;
    simulation::FolderOutput output(workshop.folder());
    const auto truth = simulation::simulate(simulation::checked(options).value(), output);
    const Diagnosis diagnosis = diagnosis_of(workshop.folder() / "logs");
    for (const Finding& finding : diagnosis.root_causes) {
      const bool right =
          finding.cause == truth.cause && finding.subject.ranks == truth.subject.ranks;
      if (right && &finding == &diagnosis.root_causes.front()) {
        ++tally.right;
        tally.confidence = std::max(tally.confidence, finding.confidence);
      }
      tally.accused += !right && finding.confidence >= kAccused;
    }
  }
  return tally;
}

class SimulatedLosses : public testing::TestWithParam<Row> {};

TEST_P(SimulatedLosses, LeaveTheRightRankFirst) {
  const Tally lossy = tally_of(GetParam());
  EXPECT_GE(lossy.right, kRight);
  EXPECT_EQ(lossy.accused, 0);
  const Tally whole = tally_of({GetParam().nccl, 0});
  EXPECT_EQ(whole.right, static_cast<int>(kSeeds));
  EXPECT_LT(lossy.confidence, whole.confidence);
}

INSTANTIATE_TEST_SUITE_P(All, SimulatedLosses,
                         testing::Values(Row{"2.7.8", 5}, Row{"2.7.8", 30}, Row{"2.12.12", 5},
                                         Row{"2.12.12", 30}, Row{"2.21.5", 5}, Row{"2.21.5", 30},
                                         Row{"2.27.7", 5}, Row{"2.27.7", 30}, Row{"2.30.7", 5},
                                         Row{"2.30.7", 30}));

}  // namespace
}  // namespace faultline
