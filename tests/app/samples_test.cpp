// docs/samples.md shows what `diagnose` prints of ten simulated jobs. UPDATE_GOLDEN=1 writes it
// anew; read the diff as the person on call would.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "workshop.h"

namespace faultline {
namespace {

struct Sample {
  std::string_view scenario;
  std::string_view flags;
};

constexpr Sample kSamples[] = {
    {"gpu_off_bus", "--nodes 4 --seed 3"},
    {"collective_skipped_odd", "--nodes 4 --seed 3"},
    {"collective_mismatch_count", "--nodes 4 --seed 3"},
    {"data_loader_error", "--nodes 4 --seed 3"},
    {"rank_behind", "--nodes 4 --seed 3"},
    {"link_errors", "--nodes 4 --seed 3"},
    {"transport_error", "--nodes 4 --seed 3"},
    {"oom_killed", "--nodes 4 --seed 3"},
    {"rank_missing", "--nodes 4 --seed 3"},
    {"network_fallback", "--nodes 4 --seed 3"},
};

std::string fresh_samples() {
  std::string page =
      "# What it prints\n\nTen simulated jobs of four hosts, each with one fault, as `faultline "
      "diagnose` tells of them. A test keeps\nthis page true.\n";
  for (const Sample& sample : kSamples) {
    const Workshop workshop;
    const std::string logs = (workshop.folder() / "job").string();
    const std::string simulate =
        fmt::format("'{}' simulate --scenario {} {} --out '{}' >/dev/null 2>&1", FAULTLINE_BINARY,
                    sample.scenario, sample.flags, logs);
    EXPECT_EQ(std::system(simulate.c_str()), 0) << simulate;
    const std::string out = (workshop.folder() / "text").string();
    const std::string diagnose =
        fmt::format("cd '{}' && '{}' diagnose --job llama logs >'{}'", logs, FAULTLINE_BINARY, out);
    EXPECT_NE(std::system(diagnose.c_str()), -1);
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
