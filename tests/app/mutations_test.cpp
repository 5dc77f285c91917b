// The golden input of every form, changed as viewers, terminals and people change it. The answer
// must stay the same or become less sure, no other part may be accused, and no failure may become
// healthy.
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

// All classes that were found, as cause, symptom or observation.
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
        // One of several findings may become surer when the evidence against it is gone, but none
        // may be surer than the surest one was.
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

// Returns a name of the same length with the same kinds of characters.
std::string other_name(std::string_view name) {
  std::string other;
  for (char c : name) {
    if (c >= '0' && c <= '9')
      c = static_cast<char>('0' + (c - '0' + 3) % 10);
    else if (c >= 'a' && c <= 'f')  // may be a hexadecimal digit
      c = static_cast<char>('a' + (c - 'a' + 1) % 6);
    else if (c >= 'g' && c <= 'z')
      c = static_cast<char>('g' + (c - 'g' + 1) % 20);
    other += c;
  }
  return other;
}

std::string upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

// Replaces the name where it is a word of its own.
std::string renamed(const std::string& text, std::string_view name, std::string_view other) {
  constexpr std::string_view kOfNames =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  const auto is_of_a_name = [&](std::size_t at) {
    return at < text.size() && kOfNames.find(text[at]) != kOfNames.npos;
  };
  std::string changed = text;
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1))
    if ((at == 0 || !is_of_a_name(at - 1)) && !is_of_a_name(at + name.size()))
      changed.replace(at, name.size(), other);
  return changed;
}

// True if the text names the host only in a range such as "gpu-[3-6]".
bool stands_in_a_range(const std::string& text, const std::string& host) {
  const std::size_t last = host.find_last_not_of("0123456789");
  return text.find(host.substr(0, last + 1) + "[") != text.npos;
}

void expect_the_same(const Diagnosis& now, const Diagnosis& before) {
  EXPECT_EQ(now.verdict, before.verdict);
  ASSERT_EQ(now.root_causes.size(), before.root_causes.size());
  for (std::size_t i = 0; i < now.root_causes.size(); ++i) {
    const Finding& cause = now.root_causes[i];
    EXPECT_EQ(cause.cause, before.root_causes[i].cause) << cause.title;
    EXPECT_NEAR(cause.confidence, before.root_causes[i].confidence, 0.005) << cause.title;
  }
}

std::set<std::string> named(const Diagnosis& diagnosis, std::vector<std::string> Subject::* parts) {
  std::set<std::string> names;
  for (const Finding& cause : diagnosis.root_causes) {
    const std::vector<std::string>& its = cause.subject.*parts;
    names.insert(its.begin(), its.end());
  }
  return names;
}

TEST_P(Mutation, WithOtherNamesOfHostsTellsTheSameOfThose) {
  for (const std::string& host : named(whole_, &Subject::hosts)) {
    if (stands_in_a_range(text_, host)) continue;
    SCOPED_TRACE(host);
    const Diagnosis diagnosis = pasted(renamed(text_, host, other_name(host)));
    expect_the_same(diagnosis, whole_);
    const std::set<std::string> told = named(diagnosis, &Subject::hosts);
    EXPECT_TRUE(told.contains(other_name(host))) << diagnosis.summary;
    EXPECT_FALSE(told.contains(host)) << diagnosis.summary;
  }
}

TEST_P(Mutation, WithOtherAddressesOfGpusTellsTheSameOfThose) {
  for (const std::string& gpu : named(whole_, &Subject::gpus)) {
    const std::size_t bus = gpu.rfind(':');  // in host/0000:3b:00.0
    if (bus == gpu.npos || bus < 2) continue;
    SCOPED_TRACE(gpu);
    const std::string address = gpu.substr(bus - 2, 5);  // 3b:00
    std::string changed = text_;
    for (const std::string& written : {address, upper(address)})
      changed = renamed(changed, written, "6e:00");
    const Diagnosis diagnosis = pasted(changed);
    expect_the_same(diagnosis, whole_);
    const std::set<std::string> told = named(diagnosis, &Subject::gpus);
    EXPECT_FALSE(told.contains(gpu)) << diagnosis.summary;
    EXPECT_TRUE(told.contains(gpu.substr(0, bus - 2) + "6e" + gpu.substr(bus)))
        << diagnosis.summary;
  }
}

// Says why a part of this form rightly gets another answer than the whole; empty if it must not.
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
