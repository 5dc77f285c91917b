// Every form that is read, by its golden input, as it looks after viewers, terminals and people had
// it in their hands: the same answer or a less sure one, nobody new who is accused, and no health
// where there was none.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "pasted.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

constexpr double kBlamed = 0.8;

struct Input {
  std::string name;
  fs::path file;
};

std::vector<Input> golden_inputs() {
  std::vector<Input> all;
  for (const char* folder : {TESTS_DIR "/ingest/golden", TESTS_DIR "/ingest/golden_documents"})
    for (const fs::directory_entry& form : fs::directory_iterator(folder))
      if (const fs::path file = form.path() / "input.log"; fs::exists(file))
        all.push_back({form.path().filename().string(), file});
  std::ranges::sort(all, {}, &Input::name);
  return all;
}

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// Whatever was found, whether it stood as a cause or not.
struct Found {
  std::set<Cause> causes;
  double surest = 0;
};

Found found_in(const Diagnosis& diagnosis) {
  Found found;
  for (const auto* findings :
       {&diagnosis.root_causes, &diagnosis.symptoms, &diagnosis.observations})
    for (const Finding& finding : *findings) {
      found.causes.insert(finding.cause);
      found.surest = std::max(found.surest, finding.confidence);
    }
  return found;
}

class Mutation : public testing::TestWithParam<Input> {
 protected:
  void SetUp() override {
    text_ = text_of(GetParam().file);
    whole_ = pasted(text_);
    found_ = found_in(whole_);
  }

  void expect_nobody_new(const std::string& changed) const {
    const Diagnosis diagnosis = pasted(changed);
    if (whole_.verdict != Verdict::healthy) {
      EXPECT_NE(diagnosis.verdict, Verdict::healthy) << diagnosis.summary;
    }
    for (const Finding& cause : diagnosis.root_causes)
      if (cause.confidence >= kBlamed) {
        EXPECT_TRUE(found_.causes.contains(cause.cause)) << cause.title;
        // One of several findings may be surer without what outweighed it, but none is surer than
        // the surest was.
        EXPECT_LE(cause.confidence, found_.surest + 0.01) << cause.title;
      }
  }

  std::string text_;
  Diagnosis whole_;
  Found found_;
};

TEST_P(Mutation, BehindWhatViewersPutInFrontAccusesNobodyElse) {
  for (const char* before :
       {"2026-03-05T02:47:10.123456Z ", "[pod/train-7/main] ", "4600.0s ", "> ", "    ",
        "[2026-03-05 02:47:10] ", "(Trainer pid=4821) ", "gpu-7 | ", "login-1: "}) {
    SCOPED_TRACE(before);
    expect_nobody_new(with_prefix(text_, before));
  }
}

TEST_P(Mutation, WithOtherEndsOfItsLinesTellsTheSame) {
  std::string changed;
  for (const char c : text_) {
    if (c == '\n') changed += '\r';
    changed += c;
  }
  const Diagnosis diagnosis = pasted(changed);
  EXPECT_EQ(diagnosis.verdict, whole_.verdict);
  EXPECT_EQ(cause_of(diagnosis), cause_of(whole_));
}

TEST_P(Mutation, BrokenIntoRowsAccusesNobodyElse) {
  for (const std::size_t width : {80U, 120U}) {
    SCOPED_TRACE(width);
    expect_nobody_new(broken_at(text_, width));
  }
}

// What stands in its place says why another answer is right.
std::string why_a_part_of_it_means_something_else(const std::string& form) {
  if (form == "ncclras_json_2_28") return "its last report takes back what the one before told";
  if (form == "ncclras_text_2_26")
    return "of its three troubles each is surer where it stands alone";
  if (form == "torch_quoted_errors")
    return "it holds errors of several jobs, the first of which counts";
  return {};
}

TEST_P(Mutation, CutAtEitherEndAccusesNobodyElse) {
  if (const std::string why = why_a_part_of_it_means_something_else(GetParam().name); !why.empty())
    GTEST_SKIP() << why;
  constexpr std::size_t kCuts = 8;
  for (std::size_t cut = 1; cut < kCuts; ++cut) {
    SCOPED_TRACE(fmt::format("{} of {}", cut, kCuts));
    expect_nobody_new(text_.substr(text_.size() * cut / kCuts));
    expect_nobody_new(text_.substr(0, text_.size() * cut / kCuts));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Mutation, testing::ValuesIn(golden_inputs()),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace faultline
