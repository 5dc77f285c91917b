// Every folder of tests/parsers/golden/ is a test: what all parsers together read from input.log,
// line by line, is in expected.jsonl. UPDATE_GOLDEN=1 rewrites the expectations; read the diff.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "model/json.h"
#include "parsers/parser.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> golden_folders() {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(fs::path(TESTS_DIR) / "parsers" / "golden"))
    if (entry.is_directory()) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// {"line":3,"dialect":"kernel","kind":"gpu_xid","fact":{…}}, and who wrote the line, if it says so.
std::string to_json_line(std::size_t line, const Parser& parser, const Reading& reading) {
  boost::json::object object;
  object["line"] = line;
  object["dialect"] = parser.dialect;
  object["kind"] = kind_of(reading.fact);
  object["fact"] = boost::json::parse(fact_to_json(reading.fact));
  if (!reading.host.empty()) object["host"] = reading.host;
  if (reading.pid != 0) object["pid"] = reading.pid;
  if (reading.device >= 0) object["device"] = reading.device;
  if (reading.time) object["time"] = to_rfc3339(*reading.time);
  return boost::json::serialize(object) + "\n";
}

std::string facts_in(std::string_view text) {
  std::string lines;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    for (const Parser& parser : all_parsers()) {
      if (line.find(parser.hint) == std::string_view::npos) continue;
      std::vector<Reading> readings;
      if (!parser.parse(line, readings)) continue;
      for (const Reading& reading : readings) lines += to_json_line(number, parser, reading);
      break;
    }
  }
  return lines;
}

class Golden : public testing::TestWithParam<fs::path> {};

TEST_P(Golden, ReadsTheExpectedFacts) {
  const fs::path expected = GetParam() / "expected.jsonl";
  const std::string facts = facts_in(contents(GetParam() / "input.log"));
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(expected, std::ios::binary) << facts;
  ASSERT_FALSE(facts.empty()) << "a golden folder without a fact tests nothing";
  EXPECT_EQ(facts, contents(expected));
}

INSTANTIATE_TEST_SUITE_P(Parsers, Golden, testing::ValuesIn(golden_folders()),
                         [](const auto& test) { return test.param.filename().string(); });

}  // namespace
}  // namespace faultline
