// Ten times as much of a log costs at most twelve times as many allocations: to read, to fold and
// to diagnose it. Allocations are counted, because a count is the same in each run; a time is not.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "counted_allocations.h"
#include "flood_lines.h"
#include "ingest/reader.h"
#include "rules/answer/diagnosis.h"
#include "rules/answer/diagnosis_forms.h"
#include "rules/knowledge/asked_by_catalog.h"
#include "sampled.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTimes = 10;
constexpr std::size_t kMostGrowth = 12;
constexpr std::size_t kUsual = 16;  // FAULTLINE_EVERY=1: all golden inputs, and more lines

const Catalog& catalog() {
  static const Catalog shipped = load_catalog();
  return shipped;
}

struct Cost {
  std::size_t allocations = 0;
  std::size_t peak = 0;  // bytes
};

Cost cost_of(std::string_view text) {
  constexpr std::size_t kPiece = 64 << 10;
  constexpr Timestamp kNow = Timestamp(std::chrono::hours(24 * 21'000));
  static const auto asked = std::make_shared<AskedByCatalog>(catalog());
  const counted::Allocations made;
  JobState job("j");
  Reader reader(Cursor{}, kNow, asked);
  const Source source{.job = "j", .name = "a.log", .host = "node-1"};
  for (std::size_t at = 0; at < text.size(); at += kPiece) {
    reader.feed(text.substr(at, kPiece));
    job.apply(source, reader.take(), kNow);
  }
  reader.close();
  job.apply(source, reader.take(), kNow);
  const Diagnosis diagnosis = diagnose(job, catalog(), {.now = kNow});
  EXPECT_NE(to_text(diagnosis), "");
  return {.allocations = made.number(), .peak = made.peak()};
}

// A diagnosis compares each of its causes with each of its symptoms, until both lists are full:
// some 250 of each. Up to there its cost may grow with their product; so much of any log is enough.
constexpr std::size_t kFull = 15;

// `text_of(n)`: n times as much of a log.
template <class TextOf>
void expect_costs_in_proportion(const TextOf& text_of) {
  if (COUNTS_ALLOCATIONS == 0) GTEST_SKIP() << "a sanitizer has operator new";
  static const Cost first_use = cost_of("a line\n");  // makes what is made only once
  ASSERT_GT(first_use.allocations, 0u);
  Cost once = cost_of(text_of(1));
  Cost more = cost_of(text_of(kTimes));
  if (more.allocations > kMostGrowth * once.allocations) {
    once = cost_of(text_of(kFull));
    more = cost_of(text_of(kFull * kTimes));
  }
  EXPECT_LE(more.allocations, kMostGrowth * once.allocations);
  EXPECT_LE(more.peak, kMostGrowth * once.peak);
}

class FloodOfLines : public testing::TestWithParam<FloodKind> {};

TEST_P(FloodOfLines, CostsInProportionToItsLength) {
  const std::size_t lines = every(kUsual) == 1 ? 500 : 100;
  expect_costs_in_proportion([&](std::size_t times) {
    std::string text;
    for (std::size_t i = 0; i < times * lines; ++i)
      text += GetParam().line(static_cast<int>(i)) + "\n";
    return text;
  });
}

INSTANTIATE_TEST_SUITE_P(Growth, FloodOfLines, testing::ValuesIn(kFloodKinds),
                         [](const auto& kind) {
                           std::string name(kind.param.name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A log that names other things: the last three digits of long numbers are changed.
std::string renumbered(std::string text, std::size_t by) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t begin = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    if (at - begin < 3) continue;
    const std::size_t last = std::stoul(text.substr(at - 3, 3));
    const std::string other = std::to_string(1000 + (last + by) % 1000);
    text.replace(at - 3, 3, other, 1, 3);
  }
  return text;
}

class Dialect : public testing::TestWithParam<fs::path> {};

TEST_P(Dialect, CostsInProportionToItsLength) {
  constexpr std::size_t kBytes = 20'000;
  std::ostringstream golden;
  golden << std::ifstream(GetParam(), std::ios::binary).rdbuf();
  const std::string text = golden.str();
  ASSERT_NE(text, "");
  const std::size_t copies = kBytes / text.size() + 1;
  expect_costs_in_proportion([&](std::size_t times) {
    std::string all;
    for (std::size_t i = 0; i < times * copies; ++i) all += renumbered(text, i) + "\n";
    return all;
  });
}

std::vector<fs::path> some_inputs() {
  std::vector<fs::path> all;
  for (const char* folder : {"/parsers/golden", "/ingest/golden", "/ingest/golden_documents"})
    for (const auto& entry : fs::recursive_directory_iterator(std::string(TESTS_DIR) + folder))
      if (entry.path().filename().string().starts_with("input")) all.push_back(entry.path());
  std::ranges::sort(all);
  std::vector<fs::path> some;
  const std::size_t step = every(kUsual);
  for (std::size_t i = 0; i < all.size(); i += step) some.push_back(all[i]);
  return some;
}

INSTANTIATE_TEST_SUITE_P(Growth, Dialect, testing::ValuesIn(some_inputs()), [](const auto& file) {
  return file.param.parent_path().filename().string();
});

}  // namespace
}  // namespace faultline
