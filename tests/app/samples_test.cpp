// docs/samples.md shows what `diagnose` prints for ten simulated jobs. UPDATE_GOLDEN=1 rewrites it;
// read the diff as the person on call would.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "workshop.h"

namespace faultline {
namespace {

struct Sample {
  std::string_view scenario;
  std::string_view flags;
};

constexpr Sample kSamples[] = {
    {"gpu_off_bus", "--nodes 8 --seed 3"},
    {"collective_skipped_odd", "--nodes 8 --seed 3"},
    {"collective_mismatch_count", "--nodes 8 --seed 3"},
    {"data_loader_error", "--nodes 8 --seed 3"},
    {"rank_behind", "--nodes 8 --seed 3"},
    {"link_errors", "--nodes 8 --seed 3"},
    {"transport_error", "--nodes 8 --seed 3"},
    {"oom_killed", "--nodes 8 --seed 3"},
    {"rank_missing", "--nodes 8 --seed 3"},
    {"network_fallback", "--nodes 8 --seed 3"},
};

constexpr std::size_t kMostLines = 25;

// The output fits a screen, and the indented lines are commands that can be pasted.
void expect_fit_for_the_night(const std::string& text, Workshop& workshop) {
  std::istringstream lines(text);
  std::size_t count = 0;
  std::string script;
  for (std::string line; std::getline(lines, line); ++count) {
    if (!line.starts_with("    ")) continue;
    EXPECT_THAT(line, testing::Not(testing::ContainsRegex("<[a-z]+>|FAULTLINE|…")));
    script += line.substr(4) + "\n";
  }
  EXPECT_LE(count, kMostLines) << text;
  EXPECT_NE(script, "") << text;
  workshop.write("script", script);
  EXPECT_EQ(workshop.make("bash -n script >out 2>&1"), "") << script;
}

std::string fresh_samples() {
  std::string page =
      "# What it prints\n\nTen simulated jobs of 64 ranks on eight hosts, each with one fault, as "
      "`faultline diagnose` tells of them. A test keeps\nthis page true, and runs every command "
      "through `bash -n`.\n";
  for (const Sample& sample : kSamples) {
    SCOPED_TRACE(sample.scenario);
    Workshop workshop;
    const std::string logs = (workshop.folder() / "job").string();
    const std::string simulate =
        fmt::format("'{}' simulate --scenario {} {} --out '{}' >/dev/null 2>&1", FAULTLINE_BINARY,
                    sample.scenario, sample.flags, logs);
    EXPECT_EQ(std::system(simulate.c_str()), 0) << simulate;
    const std::string out = (workshop.folder() / "text").string();
    const std::string diagnose =
        fmt::format("cd '{}' && '{}' diagnose --job llama logs >'{}'", logs, FAULTLINE_BINARY, out);
    const int status = std::system(diagnose.c_str());
    EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 1) << "a fault was found";
    expect_fit_for_the_night(read_file(out), workshop);
    page += fmt::format(
        "\n## {}\n\n    faultline simulate --scenario {} {} --out job && cd job\n    faultline "
        "diagnose --job llama logs\n\n```\n{}```\n",
        sample.scenario, sample.scenario, sample.flags, read_file(out));
  }
  return page;
}

TEST(Samples, AreWhatIsPrinted) {
  const std::string path = TESTS_DIR "/../docs/samples.md";
  const std::string page = fresh_samples();
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(path) << page;
  EXPECT_EQ(page, read_file(path));
}

}  // namespace
}  // namespace faultline
