// Every folder in tests/scenarios is a job: its logs go in, expected.json must come out, and the
// exit status says whether anything is wrong. UPDATE_GOLDEN=1 rewrites the expectations; read the
// diff.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <boost/json.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "model/json.h"
#include "workshop.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> scenarios() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(TESTS_DIR "/scenarios"))
    if (entry.is_directory()) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

// The diagnosis, but for the moment it was made at: that is when the files were last changed.
std::string timeless(const std::string& diagnosis) {
  boost::json::value value = boost::json::parse(diagnosis);
  value.as_object().stable_erase("as_of");
  return pretty(value);
}

class Scenario : public testing::TestWithParam<fs::path> {};

TEST_P(Scenario, HasTheExpectedDiagnosis) {
  const Workshop workshop;
  const fs::path out = workshop.folder() / "diagnosis.json";
  const std::string command = std::string(FAULTLINE_BINARY) + " diagnose --format json '" +
                              (GetParam() / "logs").string() + "' >'" + out.string() + "'";
  const int status = std::system(command.c_str());
  const std::string actual = timeless(read_file(out));
  const fs::path expected = GetParam() / "expected.json";
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(expected) << actual;
  EXPECT_EQ(actual, read_file(expected));
  const bool healthy = actual.find(R"("verdict": "healthy")") != std::string::npos;
  EXPECT_EQ(WEXITSTATUS(status), healthy ? 0 : 1);
}

INSTANTIATE_TEST_SUITE_P(All, Scenario, testing::ValuesIn(scenarios()),
                         [](const auto& row) { return row.param.filename().string(); });

}  // namespace
}  // namespace faultline
