// For every fault that `simulate` can write: the diagnosis of its logs names that fault and nothing
// else, and finds nothing in the logs of the same job without the fault.
//
// kPending lists the rows that the rules cannot pass yet. While such a row fails it is reported as
// skipped. If it passes, take it off the list.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "sampled.h"
#include "simulate/scenario.h"
#include "simulate/simulate.h"
#include "simulated_diagnosis.h"
#include "simulated_pending.h"
#include "workshop.h"

namespace faultline {
namespace {

using simulation::Layout;
using simulation::Truth;

// How the logs of a job are written.
struct Form {
  const char* name;
  const char* nccl;
  const char* wrapper;
  Layout layout;
};
constexpr Form kForms[] = {
    {"2_12_plain", "2.12.12", "none", Layout::per_rank},
    {"2_12_slurm", "2.12.12", "slurm", Layout::merged},
    {"2_12_cri", "2.12.12", "cri", Layout::per_host},
    {"2_21_plain", "2.21.5", "none", Layout::per_rank},
    {"2_21_slurm", "2.21.5", "slurm", Layout::merged},
    {"2_21_cri", "2.21.5", "cri", Layout::per_host},
    {"2_30_plain", "2.30.7", "none", Layout::per_rank},
    {"2_30_slurm", "2.30.7", "slurm", Layout::merged},
    {"2_30_cri", "2.30.7", "cri", Layout::per_host},
};
constexpr std::size_t kFormCount = std::size(kForms);

constexpr Form kDatedForms[] = {kForms[2], kForms[5], kForms[8]};

constexpr Form kLargeForms[] = {
    {"2_27_mpirun", "2.27.7", "mpirun", Layout::merged},
    {"2_21_plain", "2.21.5", "none", Layout::per_host},
    {"2_18_torchrun", "2.18.3", "torchrun", Layout::per_rank},
};

struct Row {
  std::string name;  // the name of the test
  simulation::Options options;

  std::string scenario() const { return options.scenario; }
};

std::ostream& operator<<(std::ostream& out, const Row& row) { return out << row.name; }

Row row(const simulation::Scenario& scenario, const Form& form, bool large, bool twin,
        simulation::Twin kind = simulation::Twin::usual) {
  Row made;
  made.name = fmt::format("{}_{}_{}{}", scenario.name, large ? "16x8" : "2x8", form.name,
                          twin ? "_twin" : "");
  simulation::Options options;
  options.scenario = scenario.name;
  options.nodes = large ? 16 : 2;
  options.pipeline_parallel = large ? 2 : 1;
  options.steps = large ? 6 : 12;
  options.nccl = form.nccl;
  options.wrapper = form.wrapper;
  options.layout = form.layout;
  options.healthy = twin;
  options.twin = kind;
  if (kind != simulation::Twin::usual) made.name += fmt::format("_{}", simulation::name_of(kind));
  options.seed = large ? 3 : 1;
  made.options = simulation::checked(options).value();
  return made;
}

// An eighth of the forms of each scenario, another eighth for the next one; FAULTLINE_EVERY=1: all.
std::vector<Row> rows() {
  const std::size_t step = every(12);
  std::vector<Row> all;
  std::size_t number = 0;
  for (const simulation::Scenario& scenario : simulation::scenarios()) {
    const bool healthy = scenario.cause.empty();
    for (std::size_t i = number % step; i < kFormCount; i += step)
      all.push_back(row(scenario, kForms[i], false, false));
    for (std::size_t i = number % step; i < std::size(kLargeForms); i += step)
      all.push_back(row(scenario, kLargeForms[i], true, false));
    if (!healthy) {
      all.push_back(row(scenario, kForms[(number * 4) % kFormCount], false, true));
      // 16 nodes take ten times as long as two.
      if (number % ((step + 1) / 2) == 0)
        all.push_back(row(scenario, kLargeForms[number % std::size(kLargeForms)], true, true));
    }
    using simulation::Twin;
    for (const Twin kind : {Twin::old, Twin::bystander, Twin::benign}) {
      // Without a time of its own, a slow part may have been slow before the job.
      const Form& form = kind == Twin::old ? kDatedForms[number % std::size(kDatedForms)]
                                           : kForms[(number * 2 + 1) % kFormCount];
      if (scenario.has(kind)) all.push_back(row(scenario, form, false, true, kind));
    }
    ++number;
  }
  return all;
}

template <class Value>
std::vector<Value> missing_from(const std::vector<Value>& all, const std::vector<Value>& wanted) {
  std::vector<Value> missing;
  for (const Value& value : wanted)
    if (std::find(all.begin(), all.end(), value) == all.end()) missing.push_back(value);
  return missing;
}

template <class Value>
void compare(std::string& wrong, const char* what, const std::vector<Value>& named,
             const std::vector<Value>& must, std::vector<Value> may) {
  for (const Value& value : missing_from(named, must))
    wrong += fmt::format("does not name {} {}; ", what, value);
  may.insert(may.end(), must.begin(), must.end());
  for (const Value& value : missing_from(may, named))
    wrong += fmt::format("names {} {}; ", what, value);
}

// Describes what is wrong in the diagnosis; empty if it is right.
std::string judge(const Diagnosis& diagnosis, const Truth& truth) {
  if (truth.cause.empty()) {
    std::string wrong;
    for (const Finding& finding : diagnosis.root_causes)
      wrong += fmt::format("accuses: {}; ", finding.title);
    if (diagnosis.verdict != Verdict::healthy && diagnosis.verdict != Verdict::unknown)
      wrong += "is not taken for healthy";
    return wrong;
  }
  if (diagnosis.root_causes.empty()) return fmt::format("{} is not found", truth.cause);
  const Finding& first = diagnosis.root_causes.front();
  std::string wrong;
  if (first.cause != truth.cause)
    wrong += fmt::format("is {}, taken for {}: {}; ", truth.cause, first.cause, first.title);
  const Subject& must = truth.subject;
  const Subject& may = truth.may_name;
  compare(wrong, "rank", first.subject.ranks, must.ranks, may.ranks);
  compare(wrong, "host", first.subject.hosts, must.hosts, may.hosts);
  compare(wrong, "GPU", first.subject.gpus, must.gpus, may.gpus);
  compare(wrong, "NIC", first.subject.nics, must.nics, may.nics);
  return wrong;
}

class SimulatedScenario : public testing::TestWithParam<Row> {};

TEST_P(SimulatedScenario, IsDiagnosedAsWhatItIs) {
  const Row& it = GetParam();
  const Workshop workshop;
  simulation::FolderOutput output(workshop.folder());
  const Truth truth = simulation::simulate(it.options, output);
  const std::string wrong = judge(diagnosis_of(workshop.folder() / "logs"), truth);
  if (is_pending(it.name)) {
    if (wrong.empty()) GTEST_SKIP() << "passes: take it off the list of simulated_pending.h";
    GTEST_SKIP() << wrong;
  }
  EXPECT_EQ(wrong, "");
}

INSTANTIATE_TEST_SUITE_P(All, SimulatedScenario, testing::ValuesIn(rows()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace faultline
