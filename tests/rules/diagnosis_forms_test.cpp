#include "rules/answer/diagnosis_forms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job.h"
#include "rules/answer/shown_text.h"

namespace faultline {
namespace {

using testing::HasSubstr;
using testing::Not;

Job hung_job() {
  Job job;
  job.join_all(16);
  job.call(ranks(0, 16), all_reduce(), 100);
  job.call(all_but(11, 16), all_reduce());
  job.xid("node-1", Job::gpu_of(11), 79);
  return job;
}

TEST(DiagnosisForms, TextSaysVerdictCauseHowSureTheLinesAndWhatToDo) {
  const std::string text = to_text(hung_job().diagnosis());
  EXPECT_LE(text.size(), 2048U);
  for (const char* part : {"j: HANG", "fell off the bus", "% sure", "node-1/dmesg.txt:1",
                           "do: ", "restart without: node-1   --exclude=node-1", "waited for: 11"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(DiagnosisForms, NoActionStandsUnderAnotherCause) {
  Diagnosis diagnosis = hung_job().diagnosis();
  const Finding first = diagnosis.root_causes.front();
  for (int number = 2; number < 6; ++number) {
    Finding other = first;
    other.title = std::string(600, 'x');
    other.actions = {{.what = fmt::format("ACTION {}", number)}};
    diagnosis.root_causes.push_back(other);
  }
  const std::string text = to_text(diagnosis);
  EXPECT_LE(text.size(), 2048U);
  for (int number = 2; number < 6; ++number) {
    if (text.find(fmt::format("ACTION {}", number)) == std::string::npos) continue;
    EXPECT_THAT(text, HasSubstr(fmt::format("\n{}. xxx", number)));
  }
  EXPECT_THAT(text, HasSubstr("more)"));
}

TEST(DiagnosisForms, TheSameDiagnosisGivesTheSameBytes) {
  const Job job = hung_job();
  const Diagnosis once = job.diagnosis();
  const Diagnosis again = job.diagnosis();
  EXPECT_EQ(to_text(once), to_text(again));
  EXPECT_EQ(to_markdown(once), to_markdown(again));
  EXPECT_EQ(to_html(once, ranks_of(job.state, once)), to_html(again, ranks_of(job.state, again)));
  EXPECT_EQ(to_text(once.explanation), to_text(again.explanation));
}

TEST(DiagnosisForms, MarkdownHasTheCausesTheChecksAndBoxesToTick) {
  const std::string text = to_markdown(hung_job().diagnosis());
  for (const char* part : {"# j: hang", "### 1. GPU 0000:13:00.0 on node-1 fell off the bus",
                           "`gpu.off_bus`", "- [ ] ", "## Checked", "--exclude=node-1"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(text, HasSubstr("~~~~text\nnode-1/dmesg.txt:1"));
}

TEST(DiagnosisForms, TheHtmlFileDrawsEveryRankAndNeedsNothingElse) {
  const Job job = hung_job();
  const Diagnosis diagnosis = job.diagnosis();
  const std::string page = to_html(diagnosis, ranks_of(job.state, diagnosis));
  EXPECT_THAT(page, HasSubstr("<!doctype html>"));
  std::size_t cells = 0;
  for (std::size_t at = page.find("<rect"); at != std::string::npos;
       at = page.find("<rect", at + 1))
    ++cells;
  EXPECT_EQ(cells, 16U);
  EXPECT_THAT(page, HasSubstr("<rect class=\"behind blamed\""));
  for (const char* outside : {"http://", "https://", "src=", "@import", "<script"})
    EXPECT_THAT(page, Not(HasSubstr(outside))) << outside;
}

TEST(DiagnosisForms, WordsOfALogCannotBecomeMarkup) {
  Job job = hung_job();
  Diagnosis diagnosis = job.diagnosis();
  diagnosis.root_causes.front().evidence.front().text =
      "<script>alert(1)</script>\n~~~~\n# heading \x1b[31m";
  diagnosis.root_causes.front().title = "<img src=x> [a](javascript:b) `c`";
  const std::string page = to_html(diagnosis, {});
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  const std::string markdown = to_markdown(diagnosis);
  EXPECT_THAT(markdown, HasSubstr("\\<img src=x\\> \\[a\\](javascript:b) \\`c\\`"));
  for (const std::string& text : {page, markdown, to_text(diagnosis)})
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(DiagnosisForms, ExplainTellsWhoFoundWhatAndWhatFollowsFromWhat) {
  const Diagnosis diagnosis = hung_job().diagnosis();
  const std::string text = to_text(diagnosis.explanation);
  EXPECT_THAT(text, HasSubstr("found by "));
  EXPECT_THAT(text, HasSubstr("gpu.off_bus -> collective.rank_behind (same_gpu"));
  EXPECT_THAT(text, HasSubstr("root_cause: nothing that was found accounts for it"));
  EXPECT_THAT(text, HasSubstr("it accounts for what stopped the job"));
}

TEST(ShownText, IsCutBetweenCharacters) {
  EXPECT_EQ(shown("a\tb\x7f"), "a b ");
  EXPECT_EQ(shown("abé", 3), "ab…");
  EXPECT_EQ(shown_in_html("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
}

}  // namespace
}  // namespace faultline
