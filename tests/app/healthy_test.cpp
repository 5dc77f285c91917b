// What tools print on healthy machines, one file for each form, with all that is usual there: a
// port that nobody uses, an error that was corrected long ago, an idle clock, a warning that means
// nothing. The authors of these texts had not seen the program.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "pasted.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> forms() {
  std::vector<std::string> all;
  for (const fs::directory_entry& file : fs::directory_iterator(TESTS_DIR "/app/healthy"))
    all.push_back(file.path().stem().string());
  std::ranges::sort(all);
  return all;
}

class Healthy : public testing::TestWithParam<std::string> {};

TEST_P(Healthy, AccusesNobody) {
  std::ostringstream text;
  text << std::ifstream(TESTS_DIR "/app/healthy/" + GetParam() + ".txt").rdbuf();
  const Diagnosis diagnosis = pasted(text.str());
  EXPECT_TRUE(diagnosis.verdict == Verdict::healthy || diagnosis.verdict == Verdict::unknown)
      << diagnosis.summary;
  for (const Finding& cause : diagnosis.root_causes)
    EXPECT_LT(cause.confidence, 0.5) << cause.title;
}

INSTANTIATE_TEST_SUITE_P(All, Healthy, testing::ValuesIn(forms()),
                         [](const auto& form) { return form.param; });

}  // namespace
}  // namespace faultline
