// What programs of six fields print when they fail, or only frighten, each diagnosed alone. The
// files were written before anybody knew what the answer would be.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <string>

#include "pasted.h"

namespace faultline {
namespace {

struct Excerpts : testing::TestWithParam<std::string> {};

TEST_P(Excerpts, AreToldForWhatTheyAre) {
  const YAML::Node all =
      YAML::LoadFile(std::string(TESTS_DIR "/app/excerpts/") + GetParam() + ".yaml");
  ASSERT_GE(all.size(), 30U);
  for (const YAML::Node& it : all) {
    SCOPED_TRACE(it["what"].as<std::string>());
    const Diagnosis diagnosis = pasted(it["text"].as<std::string>());
    if (it["class"]) {
      EXPECT_EQ(cause_of(diagnosis), it["class"].as<std::string>());
    } else {
      EXPECT_LT(confidence_of(diagnosis), it["at_most"].as<double>()) << cause_of(diagnosis);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Excerpts,
                         testing::Values("fabrics", "frameworks", "mpi_and_batch", "node_health",
                                         "schedulers", "storage"),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace faultline
