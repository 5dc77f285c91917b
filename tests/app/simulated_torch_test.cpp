// PyTorch's evidence of a fault, alone and together: the diagnosis names the right class and the
// right ranks. If the evidence cannot show the culprit, it says what the evidence shows and names
// no rank.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "sampled.h"
#include "simulate/simulate.h"
#include "simulated_diagnosis.h"
#include "workshop.h"

namespace faultline {
namespace {

using simulation::Truth;

// What a diagnosis from one kind of evidence must answer.
struct Answer {
  std::string_view cause;
  bool names = true;  // names the ranks of the truth; false: names no rank
};

struct Fault {
  std::string_view scenario;
  Answer dumps;
  Answer lines;  // lines of watchdogs
  bool timing = false;
};

constexpr bool kNobody = false;

constexpr Fault kFaults[] = {
    {"rank_behind", {"collective.rank_behind"}, {"collective.rank_behind"}},
    // Lines say how far a rank came in each group, but not the order of its calls.
    {"collective_skipped_odd", {"software.collective_skipped"}, {"collective.rank_behind"}},
    // Lines show the call that hangs, but not the calls after it: they cannot show whether it is a
    // different call or the next one.
    {"collective_skipped_same", {"software.collective_skipped"}, {"software.collective_mismatch"}},
    {"collective_extra", {"software.collective_skipped"}, {"software.collective_mismatch"}},
    {"collective_mismatch_function",
     {"software.collective_mismatch"},
     {"software.collective_mismatch"}},
    {"collective_mismatch_count",
     {"software.collective_mismatch"},
     {"software.collective_mismatch"}},
    // Lines show no data types.
    {"collective_mismatch_datatype",
     {"software.collective_mismatch"},
     {"collective.timeout", kNobody}},
    // Lines do not show what a GPU has started.
    {"kernel_hangs", {"collective.rank_behind"}, {"collective.timeout", kNobody}, true},
    {"group_stalled", {"collective.stalled", kNobody}, {"collective.timeout", kNobody}, true},
    // Lines do not show the peer of an exchange.
    {"p2p_deadlock", {"software.p2p_mismatch"}, {"collective.timeout", kNobody}},
    {"p2p_mismatch_size", {"software.p2p_mismatch"}, {"collective.timeout", kNobody}},
};

struct Scale {
  const char* name;
  int nodes, gpus, tensor, pipeline;
};
constexpr Scale kScales[] = {{"4", 1, 4, 4, 1}, {"64", 8, 8, 4, 2}, {"512", 64, 8, 8, 2}};
constexpr Scale kFourInStages{"4", 1, 4, 2, 2};

struct Row {
  std::string name;
  simulation::Options options;
  Answer answer;
};
std::ostream& operator<<(std::ostream& out, const Row& row) { return out << row.name; }

// Of the large jobs, a twelfth; FAULTLINE_EVERY=1: all.
std::vector<Row> rows() {
  const std::size_t step = every(18);
  std::size_t number = 0;
  constexpr std::string_view kVersions[] = {"2.7", "2.5", "2.9"};
  std::vector<Row> all;
  for (const Fault& fault : kFaults)
    for (const Scale& any_scale : kScales) {
      const Scale& scale =
          any_scale.nodes == 1 && fault.scenario.starts_with("p2p") ? kFourInStages : any_scale;
      for (const std::string_view evidence : {"dumps", "watchdog", "watchdog,dumps"}) {
        ++number;
        if (scale.nodes == 64 && (number + number / 9) % step != 0) continue;
        Row row;
        row.answer = evidence == "watchdog" ? fault.lines : fault.dumps;
        simulation::Options& options = row.options;
        options.scenario = fault.scenario;
        options.evidence = evidence;
        options.nodes = scale.nodes;
        options.gpus_per_node = scale.gpus;
        options.tensor_parallel = scale.tensor;
        options.pipeline_parallel = scale.pipeline;
        options.steps = 4;
        options.torch = kVersions[all.size() % std::size(kVersions)];
        options.json_dumps = all.size() % 4 == 3;
        options.timing = fault.timing;
        options.seed = 1 + all.size() % 3;
        row.name = fmt::format("{}_{}_{}", fault.scenario, scale.name,
                               evidence == "watchdog,dumps" ? "both" : evidence);
        options = simulation::checked(options).value();
        all.push_back(std::move(row));
      }
    }
  return all;
}

class SimulatedTorch : public testing::TestWithParam<Row> {};

TEST_P(SimulatedTorch, IsDiagnosedAsFarAsTheEvidenceTells) {
  const Row& row = GetParam();
  const Workshop workshop;
  simulation::FolderOutput output(workshop.folder());
  const Truth truth = simulation::simulate(row.options, output);
  const Diagnosis diagnosis = diagnosis_of(workshop.folder() / "logs");

  ASSERT_FALSE(diagnosis.root_causes.empty());
  const Finding& first = diagnosis.root_causes.front();
  std::vector<int> wanted = row.answer.names ? truth.subject.ranks : std::vector<int>{};
  std::ranges::sort(wanted);
  EXPECT_EQ(first.cause, row.answer.cause) << first.title;
  EXPECT_EQ(first.subject.ranks, wanted) << first.title;
  for (const Finding& other : diagnosis.root_causes)
    for (const int rank : other.subject.ranks)
      EXPECT_THAT(truth.subject.ranks, testing::Contains(rank)) << other.title;
}

INSTANTIATE_TEST_SUITE_P(All, SimulatedTorch, testing::ValuesIn(rows()),
                         [](const auto& each) { return each.param.name; });

Diagnosis diagnosis_of_job(simulation::Options options, Truth& truth) {
  const Workshop workshop;
  simulation::FolderOutput output(workshop.folder());
  truth = simulation::simulate(simulation::checked(std::move(options)).value(), output);
  return diagnosis_of(workshop.folder() / "logs");
}

simulation::Options large_job(std::string scenario, std::string evidence) {
  simulation::Options options;
  options.scenario = std::move(scenario);
  options.evidence = std::move(evidence);
  options.nodes = 8;
  options.tensor_parallel = 4;
  options.pipeline_parallel = 2;
  options.steps = 4;
  return options;
}

TEST(SimulatedTorchJob, TellsWhoTimedOutFromWhoWasToldAndNamesTheOneThatCannotReport) {
  for (const std::string torch : {"2.3", "2.5", "2.7", "2.9"}) {
    SCOPED_TRACE(torch);
    simulation::Options options = large_job("rank_behind", "watchdog,launcher");
    options.torch = torch;
    Truth truth;
    const Diagnosis diagnosis = diagnosis_of_job(options, truth);
    ASSERT_FALSE(diagnosis.root_causes.empty());
    const Finding& first = diagnosis.root_causes.front();
    EXPECT_EQ(first.cause, "collective.rank_behind") << first.title;
    EXPECT_EQ(first.subject.ranks, truth.subject.ranks) << first.title;
    EXPECT_THAT(diagnosis.summary, testing::HasSubstr("63 ranks timed out"));
  }
}

TEST(SimulatedTorchJob, NamesTheExceptionThatCameBeforeTheErrorsOfAllOthers) {
  for (const std::string torch : {"1.13", "2.1", "2.3", "2.7", "2.9"}) {
    SCOPED_TRACE(torch);
    simulation::Options options = large_job("data_loader_error", "watchdog,launcher");
    options.torch = torch;
    Truth truth;
    const Diagnosis diagnosis = diagnosis_of_job(options, truth);
    ASSERT_FALSE(diagnosis.root_causes.empty());
    const Finding& first = diagnosis.root_causes.front();
    EXPECT_EQ(first.cause, "software.rank_crashed") << first.title;
    EXPECT_EQ(first.subject.ranks, truth.subject.ranks) << first.title;
    std::string evidence;
    for (const Evidence& line : first.evidence) evidence += line.text + "\n";
    EXPECT_THAT(evidence, testing::HasSubstr("Traceback (most recent call last):"));
    EXPECT_THAT(evidence, testing::HasSubstr("gpt_dataset.py"));
    EXPECT_THAT(evidence, testing::HasSubstr("document 811427 is empty"));
  }
}

TEST(SimulatedTorchJob, IsNotAccusedWhereDumpsShowThatAllIsDone) {
  for (const std::string torch : {"2.2", "2.3", "2.4", "2.5", "2.6", "2.7", "2.8", "2.9"}) {
    SCOPED_TRACE(torch);
    simulation::Options options = large_job("healthy", "watchdog,dumps,launcher");
    options.torch = torch;
    options.nodes = 2;
    Truth truth;
    EXPECT_TRUE(diagnosis_of_job(options, truth).root_causes.empty());
  }
}

TEST(SimulatedTorchJob, SaysHowManyCameWhereOneNeverStarted) {
  Truth truth;
  const Diagnosis diagnosis = diagnosis_of_job(large_job("rank_missing", "watchdog"), truth);
  ASSERT_FALSE(diagnosis.root_causes.empty());
  EXPECT_EQ(diagnosis.root_causes.front().cause, "launch.rank_missing");
  EXPECT_THAT(diagnosis.root_causes.front().title, testing::HasSubstr("63 of 64"));
  EXPECT_EQ(diagnosis.ranks.expected, 64);
  EXPECT_EQ(diagnosis.ranks.seen, 63);
  // The diagnosis asks for the missing log. That the log is missing is not a fault of the rank.
  ASSERT_EQ(truth.subject.ranks.size(), 1U);
  EXPECT_THAT(
      diagnosis.missing_evidence,
      testing::Contains(testing::Field(
          &MissingEvidence::what, fmt::format("the log of rank {}", truth.subject.ranks.front()))));
}

}  // namespace
}  // namespace faultline
