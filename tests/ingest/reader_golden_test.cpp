// Every folder of tests/ingest/golden/ is a log as people send it: the output of the reader for
// input.log is in expected.txt. UPDATE_GOLDEN=1 rewrites the expectations; read the diff.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "ingest/reader.h"
#include "told.h"
#include "workshop.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> golden_folders() {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(TESTS_DIR "/ingest/golden"))
    if (entry.is_directory()) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  return folders;
}

class ReaderGolden : public testing::TestWithParam<fs::path> {};

TEST_P(ReaderGolden, ReadsWhatIsExpected) {
  Reader reader(Cursor{}, *parse_rfc3339("2026-03-10T12:00:00Z"));
  reader.feed(read_file(GetParam() / "input.log"));
  reader.close();
  const Batch batch = reader.take();
  const std::string actual = fmt::format("lines {} recognized {} skipped {}\n{}", batch.lines,
                                         batch.recognized, batch.skipped, told(batch));
  const fs::path expected = GetParam() / "expected.txt";
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(expected) << actual;
  EXPECT_EQ(actual, read_file(expected));
}

INSTANTIATE_TEST_SUITE_P(All, ReaderGolden, testing::ValuesIn(golden_folders()),
                         [](const auto& row) { return row.param.filename().string(); });

}  // namespace
}  // namespace faultline
