// Every folder of tests/ingest/golden_documents/ is the output of a tool: the facts that the reader
// finds in input.log are in expected.txt. UPDATE_GOLDEN=1 rewrites it; read the diff.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "facts_of_source.h"
#include "ingest/reader.h"
#include "model/json.h"
#include "sampled.h"
#include "workshop.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> golden_folders() {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(TESTS_DIR "/ingest/golden_documents"))
    if (entry.is_directory()) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::string told(const Event& event, const Batch& batch) {
  const Speaker& speaker = batch.speakers[event.speaker];
  return fmt::format("{}@{}{}{} {} {}\n", event.line, event.offset,
                     event.time.wall() ? " " + to_rfc3339(*event.time.wall()) : std::string(),
                     speaker.host.empty() ? "" : fmt::format(" {}:{}", speaker.host, speaker.pid),
                     kind_of(event.fact), fact_to_json(event.fact));
}

std::string told(const Batch& batch) {
  std::string text;
  for (const Event& event : batch.events) text += told(event, batch);
  return text;
}

std::string counts(const Batch& batch) {
  std::string text = fmt::format("lines {} recognized {} skipped {}", batch.lines, batch.recognized,
                                 batch.skipped);
  for (const auto& [dialect, lines] : batch.dialects) text += fmt::format(" {} {}", dialect, lines);
  return text + "\n";
}

const Timestamp kNow = *parse_rfc3339("2026-03-10T12:00:00Z");

// Takes a batch after each line, because a batch holds a repeated fact only once.
std::string every_fact(Reader& reader, std::string_view text) {
  std::string facts;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n') + 1);
    const std::string_view fed = line.empty() ? text : line;
    reader.feed(fed);
    facts += told(reader.take());
    text.remove_prefix(fed.size());
  }
  return facts;
}

std::string every_fact(std::string_view text) {
  Reader reader(Cursor{}, kNow);
  std::string facts = every_fact(reader, text);
  reader.close();
  return facts + told(reader.take());
}

FactsOfSource in_batches_of(std::size_t bytes, std::string_view text) {
  FactsOfSource facts;
  Reader reader(Cursor{}, kNow);
  for (; !text.empty(); text.remove_prefix(std::min(bytes, text.size()))) {
    reader.feed(text.substr(0, bytes));
    facts.add(reader.take());
  }
  reader.close();
  facts.add(reader.take());
  return facts;
}

class DocumentGolden : public testing::TestWithParam<fs::path> {
 protected:
  std::string input() const { return read_file(GetParam() / "input.log"); }
};

TEST_P(DocumentGolden, ReadsTheExpectedFacts) {
  Reader reader(Cursor{}, kNow);
  const std::string text = input();
  reader.feed(text);
  reader.close();
  const Batch batch = reader.take();
  const std::string actual = counts(batch) + told(batch);
  const fs::path expected = GetParam() / "expected.txt";
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(expected) << actual;
  EXPECT_EQ(actual, read_file(expected));
}

TEST_P(DocumentGolden, EvidenceStandsWhereItSays) {
  const std::string text = input();
  Reader reader(Cursor{}, kNow);
  reader.feed(text);
  reader.close();
  for (const Event& event : reader.take().events) {
    ASSERT_LE(event.offset, text.size());
    EXPECT_EQ(
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(event.offset), '\n') +
            1,
        static_cast<std::ptrdiff_t>(event.line));
    EXPECT_TRUE(std::string_view(text).substr(event.offset).starts_with(event.text.substr(0, 1024)))
        << event.text;
  }
}

constexpr std::size_t kCuts = 150;

TEST_P(DocumentGolden, ARestartAnywhereLosesAndDoublesNothing) {
  const std::string text = input();
  const std::string expected = every_fact(text);
  const std::size_t step = every(1 + text.size() / kCuts);
  for (std::size_t cut = 0; cut <= text.size(); cut += step) {
    Reader first(Cursor{}, kNow);
    std::string all = every_fact(first, text.substr(0, cut));
    if (cut % 3 == 0) first.finish();
    all += told(first.take());
    const Cursor cursor = first.cursor();
    Reader second(cursor, kNow);
    all += every_fact(second, text.substr(cursor.offset));
    second.close();
    all += told(second.take());
    ASSERT_EQ(all, expected) << "cut at " << cut;
  }
}

TEST_P(DocumentGolden, TornAnywhereItSaysNothingThatTheWholeDoesNot) {
  const std::string text = input();
  const std::string expected = every_fact(text);
  const std::size_t step = every(1 + text.size() / kCuts);
  for (std::size_t cut = 0; cut < text.size(); cut += step) {
    Reader reader(Cursor{}, kNow);
    std::string facts = every_fact(reader, text.substr(0, cut));
    reader.finish();
    facts += told(reader.take());
    ASSERT_TRUE(std::string_view(expected).starts_with(facts)) << "cut at " << cut << "\n" << facts;
  }
}

// However many batches a source comes in, the latest report on each operation of a rank is the
// same.
TEST_P(DocumentGolden, TellsTheSameInBatchesOfAnySize) {
  const std::string text = input();
  const FactsOfSource expected = in_batches_of(text.size(), text);
  ASSERT_FALSE(expected == FactsOfSource{});
  for (const std::size_t bytes : {std::size_t{1}, text.size() / 3 + 1, text.size() / 2 + 1})
    EXPECT_TRUE(in_batches_of(bytes, text) == expected) << bytes << " bytes a batch";
}

INSTANTIATE_TEST_SUITE_P(All, DocumentGolden, testing::ValuesIn(golden_folders()),
                         [](const auto& row) { return row.param.filename().string(); });

}  // namespace
}  // namespace faultline
