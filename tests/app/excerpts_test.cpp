// What programs of seven fields print when they fail, or print harmlessly; each excerpt is
// diagnosed alone. Six of the files were written before anybody knew what the answer would be; the
// file of transfers was written together with the signatures that it tests.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "pasted.h"

namespace faultline {
namespace {

// Whether the title or the subject of the finding names the part.
bool names(const Finding& finding, const std::string& part) {
  const auto has = [&](const std::string& text) { return text.find(part) != std::string::npos; };
  return has(finding.title) || std::ranges::any_of(finding.subject.hosts, has) ||
         std::ranges::any_of(finding.subject.nics, has);
}

struct Excerpts : testing::TestWithParam<std::string> {};

TEST_P(Excerpts, AreToldForWhatTheyAre) {
  const YAML::Node all =
      YAML::LoadFile(std::string(TESTS_DIR "/app/excerpts/") + GetParam() + ".yaml");
  ASSERT_GE(all.size(), 20U);
  for (const YAML::Node& it : all) {
    SCOPED_TRACE(it["what"].as<std::string>());
    const Diagnosis diagnosis = pasted(it["text"].as<std::string>());
    if (it["class"]) {
      EXPECT_EQ(cause_of(diagnosis), it["class"].as<std::string>());
      for (const YAML::Node& part : it["names"])
        EXPECT_TRUE(!diagnosis.root_causes.empty() &&
                    names(diagnosis.root_causes.front(), part.as<std::string>()))
            << part;
    } else {
      EXPECT_LT(confidence_of(diagnosis), it["at_most"].as<double>()) << cause_of(diagnosis);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Excerpts,
                         testing::Values("fabrics", "frameworks", "mpi_and_batch", "node_health",
                                         "schedulers", "storage", "transfers"),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace faultline
