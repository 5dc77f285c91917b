// Every folder in tests/scenarios is a job: its logs must give expected.json, and the exit status
// says whether anything is wrong. UPDATE_GOLDEN=1 rewrites the expectations; read the diff.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "curl.h"
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

class Scenario : public testing::TestWithParam<fs::path> {};

TEST_P(Scenario, HasTheExpectedDiagnosis) {
  const Workshop workshop;
  const fs::path out = workshop.folder() / "diagnosis.json";
  const std::string command = std::string(FAULTLINE_BINARY) + " diagnose --format json '" +
                              (GetParam() / "logs").string() + "' >'" + out.string() + "'";
  const int status = std::system(command.c_str());
  const std::string actual = pretty(boost::json::parse(read_file(out)));
  const fs::path expected = GetParam() / "expected.json";
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(expected) << actual;
  EXPECT_EQ(actual, read_file(expected));
  const bool healthy = actual.find(R"("verdict": "healthy")") != std::string::npos;
  EXPECT_EQ(WEXITSTATUS(status), healthy ? 0 : 1);
}

std::vector<std::string> files_of(const fs::path& logs) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(logs))
    if (entry.is_regular_file()) files.push_back(fs::relative(entry.path(), logs).string());
  std::sort(files.begin(), files.end());
  return files;
}

std::string answer_of(const fs::path& logs, const std::vector<std::string>& files) {
  std::string command = "cd '" + logs.string() + "' && " FAULTLINE_BINARY " diagnose --format json";
  for (const std::string& file : files) command += " '" + file + "'";
  return output_of(command + " 2>/dev/null");
}

// FAULTLINE_SHUFFLES=100 tries more orders.
TEST_P(Scenario, TheOrderOfItsFilesChangesNoByte) {
  const fs::path logs = GetParam() / "logs";
  std::vector<std::string> files = files_of(logs);
  if (files.size() < 2) GTEST_SKIP() << "one file has one order";
  const std::string sorted = answer_of(logs, files);
  ASSERT_NE(sorted, "");
  const char* more = std::getenv("FAULTLINE_SHUFFLES");
  const int shuffles = more != nullptr ? std::atoi(more) : 1;
  std::mt19937 random(std::hash<std::string>{}(logs.string()));
  for (int i = 0; i < shuffles; ++i) {
    std::shuffle(files.begin(), files.end(), random);
    ASSERT_EQ(answer_of(logs, files), sorted) << "shuffle " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Scenario, testing::ValuesIn(scenarios()),
                         [](const auto& row) { return row.param.filename().string(); });

}  // namespace
}  // namespace faultline
