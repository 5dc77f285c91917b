#include "simulate/simulate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "model/cause.h"
#include "simulate/scenario.h"
#include "simulated.h"

namespace faultline::simulation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Simulate, WritesTheSameBytesForTheSameSeed) {
  for (const Scenario& scenario : scenarios()) {
    SCOPED_TRACE(scenario.name);
    Options options = small_job(std::string(scenario.name));
    options.layout = Layout::merged;
    EXPECT_EQ(simulated(options).files, simulated(options).files);
    Options other = options;
    other.seed = 2;
    EXPECT_NE(simulated(options).files, simulated(other).files);
  }
}

TEST(Simulate, HasAScenarioForEveryClassOfCauses) {
  // Symptoms that come with another cause and never stand alone in a log.
  constexpr std::string_view kBesideOthers[] = {
      "collective.timeout",  // from every watchdog that waits
      "process.aborted",     // processes that another end takes down
      "process.silent",      // a log that was cut off
      "nccl.error",          // ranks that notice the end of another one
      "gpu.teardown",        // channels of a process that was ended
      "host.error",          // an error that no rule knows
  };
  for (const CauseClass& known : cause_classes()) {
    if (known.traits.has(Trait::keeps_from_starting)) continue;  // the job does not start
    const bool simulated = std::ranges::find(scenarios(), known.name, &Scenario::cause) !=
                           std::ranges::end(scenarios());
    const bool beside = std::ranges::find(kBesideOthers, known.name) != std::end(kBesideOthers);
    EXPECT_NE(simulated, beside) << known.name;
    EXPECT_TRUE(known.traits.has(Trait::symptom) || !beside) << known.name;
  }
}

TEST(Simulate, GivesEachRankEachHostOrAllAFile) {
  Options options = small_job();
  const auto names = [&](Layout layout) {
    options.layout = layout;
    std::vector<std::string> all;
    for (const auto& [name, text] : simulated(options).files) all.push_back(name);
    return all;
  };
  EXPECT_THAT(names(Layout::per_rank),
              ElementsAre("logs/gpu-node-1/nccl.rank0.log", "logs/gpu-node-1/nccl.rank1.log",
                          "logs/gpu-node-2/nccl.rank2.log", "logs/gpu-node-2/nccl.rank3.log",
                          "truth.json"));
  EXPECT_THAT(names(Layout::per_host),
              ElementsAre("logs/gpu-node-1/nccl.log", "logs/gpu-node-2/nccl.log", "truth.json"));
  EXPECT_THAT(names(Layout::merged), ElementsAre("logs/nccl.log", "truth.json"));
}

TEST(Simulate, SaysTheSameHoweverItIsLaidOut) {
  Options options = small_job("rank_behind");
  const auto sorted = [&](Layout layout) {
    options.layout = layout;
    std::vector<std::string> lines = lines_of(all_logs(simulated(options)));
    std::sort(lines.begin(), lines.end());
    return lines;
  };
  EXPECT_EQ(sorted(Layout::per_rank), sorted(Layout::merged));
  EXPECT_EQ(sorted(Layout::per_rank), sorted(Layout::per_host));
}

TEST(Simulate, TellsTheTruth) {
  for (const Scenario& scenario : scenarios()) {
    SCOPED_TRACE(scenario.name);
    const Simulated job = simulated(small_job(std::string(scenario.name)));
    const auto truth = boost::json::parse(job.files.at("truth.json"));
    EXPECT_EQ(truth.at("scenario").as_string(), scenario.name);
    EXPECT_EQ(truth.at("class").as_string(), scenario.cause);
    EXPECT_EQ(truth.at("nccl_version").as_string(), "2.21.5");
    const Subject& must = job.truth.subject;
    const Subject& may = job.truth.may_name;
    const bool somebody = !must.ranks.empty() || !must.hosts.empty() || !must.gpus.empty() ||
                          !must.nics.empty() || !may.ranks.empty() || !must.communicators.empty();
    EXPECT_EQ(somebody, !scenario.cause.empty());
  }
}

TEST(Simulate, WritesTheTwinOfAScenarioWithNothingWrong) {
  for (const Scenario& scenario : scenarios()) {
    SCOPED_TRACE(scenario.name);
    Options options = small_job(std::string(scenario.name));
    options.healthy = true;
    const Simulated twin = simulated(options);
    EXPECT_EQ(twin.truth.cause, "");
    EXPECT_EQ(twin.truth.subject, Subject{});
    const auto lines = lines_of(twin.files.at(
        "logs/gpu-node-2/nccl.rank3" +
        std::string(options.scenario == "healthy_restart" ? ".attempt2.log" : ".log")));
    EXPECT_THAT(lines.back(), HasSubstr("Destroy COMPLETE"));
  }
}

TEST(Simulate, LeavesNoLogOfARankThatNeverStarts) {
  const Simulated job = simulated(small_job("rank_missing"));
  ASSERT_EQ(job.truth.subject.ranks.size(), 1U);
  const int rank = job.truth.subject.ranks.front();
  for (const auto& [name, text] : job.files)
    EXPECT_THAT(name, Not(HasSubstr("rank" + std::to_string(rank) + ".log")));
  EXPECT_EQ(job.files.size(), 4U);
  EXPECT_THAT(all_logs(job), HasSubstr("Init START"));
  EXPECT_THAT(all_logs(job), Not(HasSubstr("Init COMPLETE")));
}

TEST(Simulate, StartsEveryAttemptWithNewProcessesAndCommunicators) {
  Options options = small_job("healthy");
  options.attempts = 2;
  options.layout = Layout::merged;
  std::set<std::string> pids, ids;
  for (const std::string& line : lines_of(simulated(options).files.at("logs/nccl.log"))) {
    if (line.find("ncclCommInitRank comm") == std::string::npos) continue;
    pids.insert(line.substr(0, line.find(' ')));
    const auto id = line.find("commId");
    ids.insert(line.substr(id, line.find(' ', id + 7) - id));
  }
  EXPECT_EQ(pids.size(), 2U * 4 * 2);  // threads: one for each communicator
  EXPECT_EQ(ids.size(), 2U * 3);       // the world and two tensor-parallel groups
}

TEST(Simulate, LosesAboutAsManyLinesAsAskedFor) {
  Options options = small_job();
  const auto whole = lines_of(all_logs(simulated(options))).size();
  options.lose_percent = 10;
  const auto left = lines_of(all_logs(simulated(options))).size();
  EXPECT_GT(left, whole * 85 / 100);
  EXPECT_LT(left, whole * 95 / 100);
}

TEST(Simulate, CutsLinesOnlyWhenAskedTo) {
  Options options = small_job();
  options.layout = Layout::merged;
  options.steps = 20;
  const auto whole = [](const std::string& line) { return line.starts_with("gpu-node-"); };
  const auto strange = [&](const Options& of) {
    const auto lines = lines_of(simulated(of).files.at("logs/nccl.log"));
    return std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
      return !whole(line) && !line.starts_with("NCCL version");
    });
  };
  EXPECT_EQ(strange(options), 0);
  options.torn = true;
  EXPECT_GT(strange(options), 3);
}

TEST(Simulate, LosesWhatAKilledProcessHadNotWritten) {
  const Simulated job = simulated(small_job("peer_lost"));
  int cut = 0;
  for (const auto& [name, text] : job.files)
    if (name.ends_with(".log") && !text.ends_with('\n')) {
      ++cut;
      EXPECT_EQ(text.size() % 4096, 0U);
    }
  EXPECT_EQ(cut, 1);
}

TEST(Simulate, WritesTheKernelsLogOfALostGpu) {
  const Simulated job = simulated(small_job("gpu_off_bus"));
  ASSERT_EQ(job.truth.subject.gpus.size(), 1U);
  const std::string gpu = job.truth.subject.gpus.front();  // gpu-node-1/0000:3b:00.0
  const std::string host = gpu.substr(0, gpu.find('/'));
  const std::string address = gpu.substr(gpu.find('/') + 1);
  std::string kernels;
  for (const auto& [name, text] : job.files)
    if (name.starts_with("logs/" + host) && name.find("nccl") == std::string::npos) kernels += text;
  EXPECT_THAT(kernels, HasSubstr("NVRM: Xid (PCI:" + address.substr(0, 10) + "): 79, pid="));
}

TEST(Options, SayWhatIsWrongWithThem) {
  struct Case {
    const char* why;
    void (*spoil)(Options&);
    const char* message;
  };
  const Case cases[] = {
      {"unknown scenario", [](Options& o) { o.scenario = "x"; },
       "no scenario 'x'; --list names them"},
      {"older than all", [](Options& o) { o.nccl = "2.3.7"; },
       "--nccl '2.3.7' is not a version from 2.7.8 on"},
      {"no version", [](Options& o) { o.nccl = "2.21.5rc"; },
       "--nccl '2.21.5rc' is not a version from 2.7.8 on"},
      {"unknown wrapper", [](Options& o) { o.wrapper = "x"; }, "no wrapper 'x'; --list names them"},
      {"no node", [](Options& o) { o.nodes = 0; },
       "a job has 1 to 65536 ranks, a node 1 to 16 GPUs"},
      {"groups that do not fit a node", [](Options& o) { o.tensor_parallel = 3; },
       "--tp 3 does not divide the 2 GPUs of a node"},
      {"stages that do not fit the job", [](Options& o) { o.pipeline_parallel = 4; },
       "--pp 4 does not divide the job's 2 tensor-parallel groups"},
      {"too short", [](Options& o) { o.steps = 1; }, "a run has at least 4 steps"},
      {"more than all", [](Options& o) { o.lose_percent = 101; }, "--lose takes a percentage"},
      {"nobody to be torn by", [](Options& o) { o.torn = true; },
       "--torn needs ranks that write to one file directly (--layout per-host or merged, no "
       "--wrapper) and NCCL 2.13.4 or later"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    Options options = small_job();
    c.spoil(options);
    const auto result = checked(options);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().message, c.message);
  }
}

TEST(Options, TakeTheClosestKnownVersionBelow) {
  EXPECT_EQ(closest_version("2.21.5")->name, "2.21.5");
  EXPECT_EQ(closest_version("2.22.3")->name, "2.21.5");
  EXPECT_EQ(closest_version("2.18.1")->name, "2.12.12");
  EXPECT_EQ(closest_version("2.99")->name, "2.30.7");
  EXPECT_EQ(closest_version("2.7.6"), nullptr);
  EXPECT_EQ(closest_version("3.0"), nullptr);
}

}  // namespace
}  // namespace faultline::simulation
