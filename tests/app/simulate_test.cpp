// `faultline simulate` as a user runs it; and the examples of docs/simulate.md, which must be true.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <boost/json.hpp>
#include <cstdlib>
#include <string>

#include "program.h"
#include "simulate/scenario.h"
#include "simulate/version.h"
#include "simulate/wrapper.h"

namespace faultline {
namespace {

using testing::HasSubstr;

using SimulateCommand = ProgramTest;

TEST_F(SimulateCommand, WritesLogsAndTheTruthBesideThem) {
  const Outcome outcome =
      run("$F simulate --scenario rank_behind --nodes 1 --gpus-per-node 2 --steps 6 --out job");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const auto truth = boost::json::parse(read_file(workshop.folder() / "job/truth.json"));
  EXPECT_EQ(truth.at("class").as_string(), "collective.rank_behind");
  EXPECT_THAT(read_file(workshop.folder() / "job/logs/gpu-node-1/nccl.rank0.log"),
              HasSubstr("NCCL INFO AllReduce: opCount"));
}

TEST_F(SimulateCommand, WritesATruthThatDiagnoseKnowsToBeNoLog) {
  ASSERT_EQ(
      run("$F simulate --scenario rank_behind --nodes 1 --gpus-per-node 2 --steps 6 --out job")
          .status,
      0);
  const Outcome all = run("$F diagnose job");
  EXPECT_EQ(all.status, 1);
  EXPECT_EQ(all.err,
            "faultline: warning: truth.json: this is not a log, and is not read: here `faultline "
            "simulate` says which fault it put into the logs beside it\n");
  const auto told = boost::json::parse(run("$F diagnose job --format json 2>/dev/null").out);
  EXPECT_EQ(told.at("root_causes").at(0).at("class").as_string(), "collective.rank_behind");
  workshop.write("job/truth.json", "{\"message\": \"a line of somebody's log\"}\n");
  EXPECT_EQ(run("$F diagnose job").err, "") << "its name alone says nothing";
}

TEST_F(SimulateCommand, WritesNothingWhereSomethingIs) {
  workshop.write("job/notes.txt", "mine");
  const Outcome refused = run("$F simulate --nodes 1 --gpus-per-node 2 --steps 6 --out job");
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.err,
            "faultline: job exists and is not an empty folder; --force writes there anyway\n");
  EXPECT_FALSE(std::filesystem::exists(workshop.folder() / "job/truth.json"));
  EXPECT_EQ(run("$F simulate --nodes 1 --gpus-per-node 2 --steps 6 --out job --force").status, 0);
  EXPECT_TRUE(std::filesystem::exists(workshop.folder() / "job/truth.json"));
}

TEST_F(SimulateCommand, RefusesWhatMakesNoJob) {
  EXPECT_EQ(run("$F simulate").err, "faultline: --out DIR is missing: the folder for the logs\n");
  const Outcome outcome = run("$F simulate --scenario gremlins --out job");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, "faultline: no scenario 'gremlins'; --list names them\n");
  EXPECT_EQ(run("$F simulate --layout sideways --out job").status, 2);
}

TEST_F(SimulateCommand, ListsWhatItCanDo) {
  const Outcome text = run("$F simulate --list");
  EXPECT_EQ(text.status, 0);
  const Outcome names = run("$F simulate --list --format names");
  const auto json = boost::json::parse(run("$F simulate --list --format json").out);
  ASSERT_EQ(json.at("scenarios").as_array().size(), simulation::scenarios().size());
  for (const simulation::Scenario& it : simulation::scenarios())
    EXPECT_THAT(text.out, HasSubstr("  " + std::string(it.name) + " "));
  std::string all;
  for (const simulation::Scenario& it : simulation::scenarios()) all += std::string(it.name) + "\n";
  EXPECT_EQ(names.out, all);
}

const std::string kPage = TESTS_DIR "/../docs/simulate.md";

TEST_F(SimulateCommand, DoesWhatItsPageShows) {
  const std::string page = read_file(kPage);
  std::string words;
  std::string printed;
  ASSERT_TRUE(RE2::PartialMatch(page, "\n    faultline (simulate [^\n]*)\n\n```\n([^`]*)```",
                                &words, &printed));
  const Outcome outcome = run("$F " + words);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, printed);
  EXPECT_EQ(run("$F diagnose job/logs").status, 1);
}

TEST_F(SimulateCommand, IsDescribedOnItsPage) {
  const std::string page = read_file(kPage);
  for (const simulation::Scenario& it : simulation::scenarios()) {
    EXPECT_THAT(page, HasSubstr("`" + std::string(it.name) + "`"));
    const std::string cause = it.cause.empty() ? "| none:" : "`" + std::string(it.cause) + "`";
    EXPECT_THAT(page, HasSubstr(cause));
  }
  for (const simulation::NcclVersion& it : simulation::nccl_versions())
    EXPECT_THAT(page, HasSubstr(std::string(it.name)));
  for (const simulation::Wrapper& it : simulation::wrappers())
    EXPECT_THAT(page, HasSubstr("`" + std::string(it.name) + "`"));
}

}  // namespace
}  // namespace faultline
