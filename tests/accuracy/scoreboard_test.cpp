// The scoreboard on a few families, so that it cannot rot; ./dev accuracy runs all of them.
#include "accuracy/scoreboard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <set>

#include "accuracy/baselines.h"
#include "accuracy/decisive.h"
#include "accuracy/reading.h"
#include "simulate/scenario.h"

namespace faultline::accuracy {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const Family& family_named(std::string_view name) {
  static const std::vector<Family> all = families();
  return *std::ranges::find(all, name, &Family::name);
}

const Doctor& doctor() {
  static const Doctor one;
  return one;
}

Score score_of(std::string_view name, std::uint64_t seed) {
  const Family& family = family_named(name);
  const Case made = case_of(family, seed);
  return judge(doctor().diagnose(made.files),
               wanted_of(family, options_of(family, seed).nccl, made.truth));
}

TEST(Families, AreAtLeastSixtyAndEachHasANameOfItsOwn) {
  std::set<std::string> names;
  for (const Family& family : families()) names.insert(family.name);
  EXPECT_EQ(names.size(), families().size());
  EXPECT_GE(names.size(), 60U);
}

TEST(Families, AreThereForEveryCauseAloneAndBesideWhatMisleads) {
  std::set<std::string_view> alone;
  std::set<std::string_view> misled;
  for (const Family& family : families()) {
    const std::string_view cause = simulation::scenario_named(family.options.scenario)->cause;
    if (family.group == Group::fault) alone.insert(cause);
    if (family.group == Group::twin || family.group == Group::bystander ||
        family.group == Group::old || family.group == Group::noise)
      misled.insert(cause);
  }
  EXPECT_THAT(alone, Not(IsEmpty()));
  for (const std::string_view cause : alone) EXPECT_THAT(misled, Contains(cause));
}

TEST(Families, MakeTheSameJobOfTheSameSeed) {
  const Family& family = family_named("gpu_off_bus, half of the hosts");
  EXPECT_EQ(case_of(family, 3).files, case_of(family, 3).files);
  EXPECT_NE(case_of(family, 3).files, case_of(family, 4).files);
}

TEST(Families, LoseWhatTheyAreSaidToLose) {
  for (const auto& [name, text] : case_of(family_named("gpu_ecc, hosts say nothing"), 1).files)
    EXPECT_THAT(name, HasSubstr("nccl"));
  for (const auto& [name, text] : case_of(family_named("gpu_off_bus, no calls"), 1).files)
    if (name.find("nccl") != std::string::npos) {
      EXPECT_THAT(text, Not(HasSubstr(": opCount ")));
    }
}

class Scored : public testing::TestWithParam<const char*> {};

TEST_P(Scored, IsDiagnosedAsItIs) { EXPECT_EQ(score_of(GetParam(), 1).trouble, ""); }

INSTANTIATE_TEST_SUITE_P(Families, Scored,
                         testing::Values("rank_behind", "collective_stalled", "gpu_ecc",
                                         "collective_mismatch_op", "segfault", "healthy_torn_down",
                                         "gpu_gsp, old", "rank_behind, bystander gpu_off_bus",
                                         "oom_killed, old gpu_hang",
                                         "rank_behind, noise healthy_torn_down",
                                         "gpu_off_bus, hosts say nothing"));

// Ranks that queued a few calls less than others are not taken for a rank that stopped.
TEST(Scored, AStallOfWholeJobsAccusesNoRank) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Case made = case_of(family_named("collective_stalled"), seed);
    const Diagnosis diagnosis = doctor().diagnose(made.files);
    ASSERT_FALSE(diagnosis.root_causes.empty());
    EXPECT_EQ(diagnosis.root_causes.front().cause, "collective.stalled");
    EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, IsEmpty());
  }
}

TEST(TwoCauses, AreBothListedAndNeitherExplainsTheOther) {
  for (const char* name : {"gpu_off_bus, beside port_down", "gpu_ecc, beside oom_killed",
                           "gpu_nvlink, beside host_panic"}) {
    const Case made = case_of(family_named(name), 2);
    const Diagnosis diagnosis = doctor().diagnose(made.files);
    const auto finding = [&](const std::string& cause) {
      return std::ranges::find(diagnosis.root_causes, cause_named(cause), &Finding::cause);
    };
    const auto one = finding(made.truth.cause);
    const auto other = finding(made.truth.also.at(0).cause);
    ASSERT_NE(one, diagnosis.root_causes.end()) << name;
    ASSERT_NE(other, diagnosis.root_causes.end()) << name;
    EXPECT_THAT(one->explains, Not(Contains(other->id)));
    EXPECT_THAT(other->explains, Not(Contains(one->id)));
  }
}

TEST(NoEvidence, AJobThatStandsForNoKnownReasonAsksWhatToCollectAndNamesNoCause) {
  for (const char* name : {"gpu_ecc, hosts say nothing", "oom_killed, hosts say nothing"}) {
    const Diagnosis diagnosis = doctor().diagnose(case_of(family_named(name), 1).files);
    EXPECT_TRUE(diagnosis.verdict == Verdict::hang || diagnosis.verdict == Verdict::unknown);
    for (const Finding& finding : diagnosis.root_causes)
      EXPECT_TRUE(is_of(finding.cause, faultline::Family::collective)) << name_of(finding.cause);
    EXPECT_THAT(diagnosis.missing_evidence, Not(IsEmpty()));
  }
}

struct Taking {
  const char* family;
  Taken taken;
};
std::ostream& operator<<(std::ostream& out, const Taking& it) {
  return out << it.family << (it.taken == Taken::source ? " without the source" : " without lines");
}

class Decisive : public testing::TestWithParam<Taking> {};

TEST_P(Decisive, WithoutItTheCauseIsLessSureAndItIsAskedFor) {
  for (const std::uint64_t seed : {1, 2}) {
    const Case made = case_of(family_named(GetParam().family), seed);
    const Diagnosis diagnosis = doctor().diagnose(made.files);
    const WithoutDecisive without =
        without_decisive(doctor(), made.files, diagnosis, GetParam().taken);
    EXPECT_NE(without.source, "");
    EXPECT_TRUE(without.less_sure) << without.left;
    EXPECT_TRUE(without.asked_for) << without.left;
  }
}

// The evidence that is taken away: lines of a kernel, a report of a tool, a warning of NCCL, a
// traceback, calls, settings.
INSTANTIATE_TEST_SUITE_P(
    Families, Decisive,
    testing::Values(
        Taking{"gpu_off_bus", Taken::source}, Taking{"gpu_off_bus", Taken::lines},
        Taking{"oom_killed", Taken::source}, Taking{"oom_killed", Taken::lines},
        Taking{"port_down", Taken::source}, Taking{"nic_health", Taken::lines},
        Taking{"pcie_degraded", Taken::source}, Taking{"gpu_thermal", Taken::source},
        Taking{"link_errors", Taken::source}, Taking{"mtu_mismatch", Taken::source},
        Taking{"shm_full", Taken::source}, Taking{"cuda_oom", Taken::source},
        Taking{"cuda_oom", Taken::lines}, Taking{"data_loader_error", Taken::lines},
        Taking{"straggler_reported", Taken::source}, Taking{"straggler_profiled", Taken::source},
        Taking{"communication_bound", Taken::source}, Taking{"bandwidth_low_host", Taken::source},
        Taking{"bandwidth_low_network", Taken::source}, Taking{"wrong_results", Taken::source},
        Taking{"rank_behind", Taken::source}, Taking{"mismatch_two_camps", Taken::source},
        Taking{"network_fallback_all", Taken::source},
        Taking{"environment_mismatch", Taken::source}));

TEST(Baselines, GuessFromOneLine) {
  const Files files = {
      {"gpu-node-1/dmesg.txt", "[ 9.0] NVRM: Xid (PCI:0000:3b:00): 79, pid=1, name=python3, x\n"}};
  for (const Baseline& baseline : baselines()) {
    const auto guess = baseline.guess(files, doctor().catalog());
    EXPECT_EQ(guess.has_value(), baseline.name != "minority");
    if (guess) {
      EXPECT_EQ(guess->host, "gpu-node-1");
    }
    if (baseline.name == "last Xid") {
      EXPECT_EQ(guess->cause, "gpu.off_bus");
    }
  }
}

TEST(Calibration, ErrorIsTheDistanceOfStatedFromObserved) {
  EXPECT_DOUBLE_EQ(calibration_error({}), 0);
  EXPECT_DOUBLE_EQ(calibration_error({{"", 0.75, true}, {"", 0.75, true}}), 0.25);
  EXPECT_DOUBLE_EQ(calibration_error({{"", 0.5, true}, {"", 0.5, false}}), 0);
}

TEST(Judgement, AWrongPartAtNineTenthsIsForbidden) {
  Wanted wanted;
  wanted.causes = {
      {.name = "gpu.off_bus", .subject = {.gpus = {"a/0"}}, .may_name = {.hosts = {"a"}}}};
  wanted.verdicts = {Verdict::hang};
  Diagnosis diagnosis;
  diagnosis.verdict = Verdict::hang;
  Finding finding;
  finding.cause = Cause::gpu_off_bus;
  finding.confidence = 0.95;
  finding.subject = {.hosts = {"b"}, .gpus = {"b/0"}};
  diagnosis.root_causes = {finding};
  const Score wrong = judge(diagnosis, wanted);
  EXPECT_TRUE(wrong.first);
  EXPECT_FALSE(wrong.culprit);
  EXPECT_TRUE(wrong.forbidden);
  diagnosis.root_causes.front().subject = {.hosts = {"a"}, .gpus = {"a/0"}};
  const Score right = judge(diagnosis, wanted);
  EXPECT_TRUE(right.culprit);
  EXPECT_FALSE(right.forbidden);
}

}  // namespace
}  // namespace faultline::accuracy
