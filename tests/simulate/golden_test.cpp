// Small jobs written out: two hosts with a GPU each, for each version and each wrapper. Read the
// files in golden/: they show what the simulator writes. UPDATE_GOLDEN=1 rewrites them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ostream>

#include "simulate/version.h"
#include "simulate/wrapper.h"
#include "simulated.h"
#include "workshop.h"

namespace faultline::simulation {
namespace {

struct Case {
  std::string file;
  std::string test;
  Options options;
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.file; }

std::string test_name(std::string text) {
  for (char& c : text)
    if (c == '.' || c == '-') c = '_';
  return text;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const NcclVersion& version : nccl_versions()) {
    Options options = small_job("transport_error", std::string(version.name));
    options.gpus_per_node = 1;
    options.steps = 4;
    options.layout = Layout::merged;
    all.push_back({"nccl-" + options.nccl + ".log", test_name("nccl_" + options.nccl), options});
  }
  for (const Wrapper& wrapper : wrappers()) {
    Options options = small_job("transport_error", "2.27.7");
    options.gpus_per_node = 1;
    options.steps = 4;
    options.layout = Layout::merged;
    options.wrapper = wrapper.name;
    all.push_back(
        {"wrapper-" + options.wrapper + ".log", test_name("wrapper_" + options.wrapper), options});
  }
  return all;
}

class Golden : public testing::TestWithParam<Case> {};

TEST_P(Golden, IsWhatWasWrittenBefore) {
  const std::filesystem::path file =
      std::filesystem::path(TESTS_DIR "/simulate/golden") / GetParam().file;
  const std::string actual = simulated(GetParam().options).files.at("logs/nccl.log");
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(file, std::ios::binary) << actual;
  EXPECT_EQ(actual, read_file(file));
}

INSTANTIATE_TEST_SUITE_P(All, Golden, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.test; });

}  // namespace
}  // namespace faultline::simulation
