#include "rules/answer/diagnosis_forms.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "job.h"
#include "rules/answer/pasteable.h"
#include "rules/answer/shown_text.h"
#include "seconds.h"

namespace faultline {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Job hung_job() {
  Job job;
  job.join_all(16);
  job.call(ranks(0, 16), all_reduce(), 100);
  job.call(all_but(11, 16), all_reduce());
  job.xid("node-1", Job::gpu_of(11), 79);
  return job;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(DiagnosisForms, TextSaysWhatIsNeededAtNightInItsOrder) {
  Diagnosis diagnosis = addressed(hung_job().diagnosis(), {.url = "http://10.0.0.7:8686"});
  diagnosis.timeline.clear();
  diagnosis.root_causes.front().first_seen = parse_rfc3339("2026-03-05T02:00:35.5Z");
  const std::vector<std::string> lines = lines_of(to_text(diagnosis));
  ASSERT_GT(lines.size(), 6U);
  EXPECT_EQ(lines[0], "j: HANG since 2026-03-05T02:00:35Z");
  EXPECT_EQ(lines[1],
            "GPU 0000:13:00.0 on node-1 fell off the bus (Xid 79)  [gpu.off_bus, 99 % sure]");
  EXPECT_THAT(lines[2], StartsWith("next: See whether the driver"));
  EXPECT_EQ(lines[3], "    nvidia-smi -q -i 00000000:13:00.0");
  EXPECT_EQ(
      lines[4],
      fmt::format("finding: {0}, to acknowledge it: curl -X POST 'http://10.0.0.7:8686/api/v1/"
                  "findings/{0}/review?verdict=acknowledged&by=you'",
                  diagnosis.root_causes.front().id));
  const std::string text = to_text(diagnosis);
  for (const char* part : {"evidence: node-1/dmesg.txt:1", "then: ", "waited for: 11",
                           "restart without: node-1   --exclude=node-1"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(DiagnosisForms, ATimeFromALineThatNamesNoTimeZoneSaysSo) {
  Job job;
  job.join_all(16);
  job.call(ranks(0, 16), all_reduce(), 100);
  job.call(all_but(11, 16), all_reduce());
  EventTime local = at(120);
  local.zone_assumed = true;
  job.xid("node-1", Job::gpu_of(11), 79, local);
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_TRUE(diagnosis.root_causes.front().zone_assumed);
  const std::string time = to_rfc3339(*at(120).wall());
  EXPECT_THAT(lines_of(to_text(diagnosis)).front(),
              testing::EndsWith(" since " + time.substr(0, time.size() - 1) +
                                " (no time zone in the log)"));
}

TEST(DiagnosisForms, TextShowsTheFirstAndTheLastLinesOfATraceback) {
  Diagnosis diagnosis = hung_job().diagnosis();
  std::vector<Evidence>& evidence = diagnosis.root_causes.front().evidence;
  evidence.clear();
  const auto add = [&](const char* source, std::uint64_t line, const char* text) {
    evidence.push_back({.source = source, .line = line, .text = text});
  };
  add("log", 7, "Traceback (most recent call last):");
  add("log", 8, "  File \"a.py\", line 3, in a");
  add("log", 9, "    b()");
  add("log", 10, "  File \"b.py\", line 5, in b");
  add("log", 11, "RuntimeError: DataLoader worker is killed by signal: Bus error");
  add("log", 2, "another line");
  const std::string text = to_text(diagnosis);
  for (const char* line : {"log:7 ", "log:10 ", "log:11 "})
    EXPECT_THAT(text, HasSubstr(std::string("evidence: ") + line));
  for (const char* line : {"log:8 ", "log:9 ", "log:2 "})
    EXPECT_THAT(text, Not(HasSubstr(std::string("evidence: ") + line)));
  EXPECT_THAT(to_text(diagnosis, true), HasSubstr("evidence: log:9 "));
}

TEST(DiagnosisForms, NoTimeIsInventedWhereNoLineCarriesOne) {
  Diagnosis diagnosis = hung_job().diagnosis();
  diagnosis.timeline.clear();
  for (auto* findings : {&diagnosis.root_causes, &diagnosis.symptoms})
    for (Finding& finding : *findings) finding.first_seen.reset();
  EXPECT_THAT(to_text(diagnosis), StartsWith("j: HANG\nGPU"));
}

TEST(DiagnosisForms, WhatPassedAndWhatIsNotKnownIsToldToThoseWhoAsk) {
  const Diagnosis diagnosis = hung_job().diagnosis();
  for (const char* part : {"\npassed: ", "\nnot known: "}) {
    EXPECT_THAT(to_text(diagnosis), Not(HasSubstr(part)));
    EXPECT_THAT(to_text(diagnosis, true), HasSubstr(part));
  }
}

Diagnosis with_causes_at(std::initializer_list<double> confidences) {
  Diagnosis diagnosis = hung_job().diagnosis();
  const Finding first = diagnosis.root_causes.front();
  diagnosis.root_causes.clear();
  for (const double confidence : confidences) {
    Finding cause = first;
    cause.id = fmt::format("f{}", diagnosis.root_causes.size());
    cause.title = fmt::format("Cause at {:.0f}", confidence * 100);
    cause.confidence = confidence;
    cause.actions = {{.what = "See to " + cause.title, .command = "true"}};
    diagnosis.root_causes.push_back(std::move(cause));
  }
  return diagnosis;
}

TEST(DiagnosisForms, NobodyIsBlamedWithWhatIsOnlyPossible) {
  const Diagnosis diagnosis = with_causes_at({0.97, 0.85, 0.79, 0.3, 0.19, 0.01});
  for (const std::string& text :
       {to_text(diagnosis), to_markdown(diagnosis), to_html(diagnosis, {})}) {
    const std::size_t style_ends = text.find("</style>");
    const std::size_t possible = text.find("ossible", style_ends == text.npos ? 0 : style_ends);
    EXPECT_LT(text.find("Cause at 85"), possible);
    EXPECT_LT(possible, text.find("Cause at 79"));
    EXPECT_LT(text.find("Cause at 79"), text.find("Cause at 30"));
  }
  for (const std::string& text : {to_text(diagnosis), to_markdown(diagnosis)})
    EXPECT_THAT(text, HasSubstr("and 2 less likely"));
  EXPECT_THAT(to_html(diagnosis, {}), HasSubstr("Causes that are unlikely (2)"));
  const std::string text = to_text(diagnosis);
  EXPECT_THAT(text, HasSubstr("\npossible: Cause at 79  [gpu.off_bus, 79 % sure]\n"));
  EXPECT_THAT(text, Not(HasSubstr("See to Cause at 85")));
  EXPECT_THAT(text, Not(HasSubstr("Cause at 19")));
}

TEST(DiagnosisForms, WhereNothingIsSureItIsSaidAndWhatWouldDecideComesNext) {
  Diagnosis diagnosis = with_causes_at({0.7, 0.1});
  diagnosis.missing_evidence = {{.what = "kernel log of n0",
                                 .why = "nothing says why",
                                 .command = "dmesg -T",
                                 .file = "kernel-n0",
                                 .query = "job=j&host=n0"}};
  const std::string text = to_text(addressed(diagnosis, {.url = "http://h:1"}));
  EXPECT_THAT(text,
              HasSubstr("\nNo cause is certain; possible: Cause at 70  [gpu.off_bus, 70 % sure]\n"
                        "next: Get the kernel log of n0: nothing says why.\n"
                        "    dmesg -T | curl --data-binary @- "
                        "'http://h:1/api/v1/ingest?job=j&host=n0'\n"));
  EXPECT_THAT(to_text(addressed(diagnosis, {})), HasSubstr("\n    dmesg -T >kernel-n0.log\n"));
}

TEST(DiagnosisForms, BeforeAJobIsJudgedTheNextStepIsToAskAgain) {
  Diagnosis diagnosis;
  diagnosis.job = "a b";
  diagnosis.verdict = Verdict::undecided;
  diagnosis.summary = "All 4 ranks have been heard.";
  diagnosis.judged_in = std::chrono::seconds(95);
  diagnosis.server.url = "http://h:1";
  EXPECT_EQ(to_text(diagnosis),
            "a b: UNDECIDED\nAll 4 ranks have been heard.\n"
            "next: Ask again in 95 s: the job is judged then, unless more logs come.\n"
            "    curl -s 'http://h:1/api/v1/jobs/a%20b/diagnosis?format=text'\n");
}

TEST(DiagnosisForms, TextIsNoLongerThanAScreenWhateverThereIsToTell) {
  Diagnosis diagnosis = with_causes_at({0.99, 0.98, 0.97, 0.96, 0.95, 0.94, 0.7, 0.6, 0.5, 0.4});
  Finding& first = diagnosis.root_causes.front();
  first.actions.assign(20, first.actions.front());
  first.against.assign(20, "it may be another");
  diagnosis.missing_evidence.assign(20, {"log", "it is not there", "true", "", ""});
  const std::string text = to_text(diagnosis);
  EXPECT_LE(lines_of(text).size(), 25U);
  EXPECT_THAT(text, HasSubstr("and 2 more as sure"));
  EXPECT_GT(lines_of(to_text(diagnosis, true)).size(), 40U);
}

TEST(DiagnosisForms, NoServerIsNamedThatIsNone) {
  EXPECT_TRUE(is_server("http://gpu-node-1.example:8686"));
  EXPECT_TRUE(is_server("http://[::1]:8686"));
  for (const char* url : {"", "http://", "http://a'b", "http://$(reboot)", "ftp://h", "http://a b"})
    EXPECT_FALSE(is_server(url)) << url;
  EXPECT_THAT(to_text(addressed(hung_job().diagnosis(), {.url = "http://';reboot"})),
              Not(HasSubstr("';reboot")));
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

// The elements whose markup begins with `opening`, each up to `end`.
std::vector<std::string> elements(const std::string& page, const std::string& opening,
                                  const std::string& end) {
  std::vector<std::string> found;
  for (std::size_t at = page.find(opening); at != page.npos; at = page.find(opening, at + 1))
    found.push_back(page.substr(at, page.find(end, at) - at));
  return found;
}

// A job of `count` ranks, eight on a host; the ranks in `odd` are not in step.
std::vector<RankView> ranks_of_hosts(int count, const std::map<int, std::string>& odd) {
  std::vector<RankView> views;
  for (int rank = 0; rank < count; ++rank) {
    const auto state = odd.find(rank);
    views.push_back({.rank = rank,
                     .host = fmt::format("gpu-node-{}", rank / 8),
                     .gpu = "0000:3b:00.0",
                     .state = state == odd.end() ? "in_step" : state->second,
                     .standings = std::vector<StandingView>(
                         4, {.communicator = "0x9f3c51a07e22d001",
                             .last_call = "AllReduce(count 8388608, bfloat16, sum)"})});
  }
  return views;
}

TEST(DiagnosisForms, TheHtmlFileDrawsEveryRankAndNeedsNothingElse) {
  const Job job = hung_job();
  const Diagnosis diagnosis = job.diagnosis();
  const std::string page = to_html(diagnosis, ranks_of(job.state, diagnosis));
  EXPECT_THAT(page, HasSubstr("<!doctype html>"));
  EXPECT_EQ(elements(page, "<span class=\"cell ", "</span>").size(), 16U + 2);  // the legend's
  EXPECT_THAT(page, HasSubstr("<span class=\"cell behind blamed\""));
  EXPECT_THAT(page, HasSubstr("default-src 'none'; style-src 'unsafe-inline'"));
  for (const char* outside : {"http://", "https://", "src=", "href=", "@import", "url(", "<script"})
    EXPECT_THAT(page, Not(HasSubstr(outside))) << outside;
}

TEST(DiagnosisForms, TheHtmlFileStandsInTheOrderOfThePage) {
  const Job job = hung_job();
  const Diagnosis diagnosis = job.diagnosis();
  const std::string page = to_html(diagnosis, ranks_of(job.state, diagnosis));
  std::size_t last = 0;
  for (const char* part :
       {"The cause:", "fell off the bus", "how sure", "since", "Do this next",
        "Ranks: ", "What led to what", "The lines that show it", "What happened when",
        "<details class=\"fold\"><summary>What was checked (", "What was read ("}) {
    const std::size_t at = page.find(part, page.find("<main>"));
    ASSERT_NE(at, page.npos) << part;
    EXPECT_GT(at, last) << part;
    last = at;
  }
}

// Colour is never the only sign: a rank's cell has its number, and also a sign and a word if the
// rank is not in step. A host's square has a text for screen readers.
TEST(DiagnosisForms, NoCellOfTheHtmlFileIsToldByItsColourAlone) {
  const std::string page =
      to_html(hung_job().diagnosis(), ranks_of_hosts(512, {{3, "behind"},
                                                           {100, "diverged"},
                                                           {200, "unknown"},
                                                           {201, "behind"},
                                                           {300, "what comes later"}}));
  const std::map<std::string, std::string> signs{
      {"behind", "◀"}, {"diverged", "≠"}, {"unknown", "·"}, {"unseen", "?"}, {"silent", "×"}};
  std::size_t cells = 0;
  for (const std::string& cell : elements(page, "<span class=\"cell ", "\n")) {
    const std::string one = cell.substr(0, cell.find("<span class=\"cell", 1));
    if (one.find("cell sample") != one.npos) continue;
    ++cells;
    const std::string text = one.substr(one.find('>') + 1);
    EXPECT_NE(text.find_first_of("0123456789"), text.npos) << one;
    for (const auto& [state, sign] : signs)
      if (one.starts_with("<span class=\"cell " + state)) {
        EXPECT_THAT(text, HasSubstr(sign));
        EXPECT_THAT(text, HasSubstr("<span class=\"aloud\">"));
      }
  }
  EXPECT_EQ(cells, 512U);
  const std::vector<std::string> squares = elements(page, "<li class=\"square ", "</li>");
  EXPECT_GT(squares.size(), 50U);
  for (const std::string& square : squares)
    EXPECT_THAT(square, HasSubstr("<span class=\"aloud\">gpu-node-")) << square;
}

TEST(DiagnosisForms, TheHtmlFileOfALargeJobShowsTheOneThatIsWaitedForAndFoldsTheOthers) {
  const std::string page = to_html(hung_job().diagnosis(), ranks_of_hosts(1024, {{900, "behind"}}));
  EXPECT_LT(page.size(), std::size_t{300} * 1000);
  const std::size_t folded = page.find("127 other hosts, 1,016 ranks");
  ASSERT_NE(folded, page.npos);
  EXPECT_LT(page.find(">900<"), folded);
  EXPECT_GT(page.find(">500<"), folded);
  EXPECT_LT(page.find("Do this next"), folded);
}

TEST(DiagnosisForms, TheHtmlFileOfALargeJobStaysSmallHoweverManyRanksAreOdd) {
  const Diagnosis diagnosis = hung_job().diagnosis();
  for (const char* state : {"behind", "diverged", "silent"})
    for (const int each : {1, 9}) {
      std::map<int, std::string> odd;
      for (int rank = 0; rank < 1024; rank += each) odd.emplace(rank, state);
      const std::string page = to_html(diagnosis, ranks_of_hosts(1024, odd));
      EXPECT_LT(page.size(), std::size_t{300} * 1000) << state << ", one of " << each;
      EXPECT_THAT(page, HasSubstr(">1016<")) << "the last host is there";
    }
}

TEST(DiagnosisForms, TheHtmlFileTellsWhereTheOddRanksStand) {
  const std::string page = to_html(hung_job().diagnosis(), ranks_of_hosts(16, {{3, "behind"}}));
  const std::size_t stands = page.find("Where rank 3 stands: behind: others wait for it");
  ASSERT_NE(stands, page.npos);
  EXPECT_GT(page.find("0x9f3c51a07e22d001"), stands);
}

TEST(DiagnosisForms, TheTimelineOfTheHtmlFileIsAsWideAsWhatAStampLeavesOpen) {
  Diagnosis diagnosis = hung_job().diagnosis();
  const Timestamp time{std::chrono::seconds(1'800'000'000)};
  const std::string cause = diagnosis.root_causes.front().id;
  diagnosis.timeline = {
      {.time = time, .host = "n0", .what = "to the second", .finding = cause},
      {.time = time + std::chrono::milliseconds(2500), .host = "n1", .what = "exactly"},
      {.host = "n1", .what = "at no time"}};
  diagnosis.as_of = time + std::chrono::seconds(9);
  diagnosis.clock_offsets.clear();
  const std::string page = to_html(diagnosis, {});
  EXPECT_THAT(page, HasSubstr("<rect class=\"mark cause\" x=\"50.0\" y=\"6\" width=\"100.0\""));
  EXPECT_THAT(page, HasSubstr("<rect class=\"mark\" x=\"300.0\" y=\"3\" width=\"5.0\""));
  EXPECT_THAT(page, HasSubstr("1 of these times is known to the second only"));
  EXPECT_THAT(page, HasSubstr("Clocks of different hosts are trusted to 2 s."));
  EXPECT_THAT(page, HasSubstr("+2.5 s"));
  EXPECT_THAT(page, HasSubstr("time unknown"));
}

TEST(DiagnosisForms, WordsOfALogCannotBecomeMarkup) {
  Job job = hung_job();
  Diagnosis diagnosis = job.diagnosis();
  const std::string script = "<script>alert(1)</script>";
  diagnosis.root_causes.front().evidence.front().text = script + "\n~~~~\n# heading \x1b[31m";
  diagnosis.root_causes.front().title = "<img src=x> [a](javascript:b) `c`";
  diagnosis.root_causes.front().subject.hosts = {script};
  diagnosis.job = script;
  diagnosis.coverage = {{.host = script, .lines = {{script, 1}}}};
  diagnosis.timeline = {{.host = script, .what = script}};
  const std::string page =
      to_html(diagnosis, {{.rank = 0, .host = script, .gpu = script, .state = "behind"}});
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;"));
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
  EXPECT_THAT(text, HasSubstr("root_cause: nothing that was found explains it"));
  EXPECT_THAT(text, HasSubstr("it accounts for what stopped the job"));
}

TEST(ShownText, IsCutBetweenWords) {
  EXPECT_EQ(shown_words("GPU on node-1 fell", 17), "GPU on node-1 …");
  EXPECT_EQ(shown_words("GPU on node-1", 13), "GPU on node-1");
  EXPECT_EQ(shown_words("abcdefgh", 7), "abcd…");
}

TEST(ShownText, IsCutBetweenCharacters) {
  EXPECT_EQ(shown("a\tb\x7f"), "a b ");
  EXPECT_EQ(shown("abé", 3), "ab…");
  EXPECT_EQ(shown_in_html("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
}

TEST(ShownText, IsUtf8ThatMovesNoCursorWhateverALineHolds) {
  struct Case {
    const char* why;
    std::string text;
    std::string expected;
  };
  const Case cases[] = {
      {"a terminal's sequence", "a\x1b[2Jb", "a [2Jb"},
      {"the same in one character beyond ASCII",
       "a\xc2\x9b"
       "2Jb",
       "a 2Jb"},
      {"Latin-1", "caf\xe9 au lait", "caf\xef\xbf\xbd au lait"},
      {"a character that breaks off", "caf\xc3", "caf\xef\xbf\xbd"},
      {"text as it should be", "Größe ≤ 7", "Größe ≤ 7"},
  };
  for (const Case& c : cases) EXPECT_EQ(shown(c.text), c.expected) << c.why;
  EXPECT_EQ(shown("Größe", 3), "Gr…");
  EXPECT_EQ(shown("Größe", 4), "Grö…");
}

TEST(DiagnosisForms, NoHostMovesTheCursor) {
  Diagnosis diagnosis = hung_job().diagnosis();
  diagnosis.exclude = {.hosts = {"n1\x1b[2J"}, .slurm = "--exclude=n1\x1b[2J", .kubernetes = ""};
  EXPECT_THAT(to_text(diagnosis), HasSubstr("restart without: n1 [2J   --exclude=n1 [2J\n"));
}

TEST(DiagnosisForms, NoHostEndsTheCodeOfMarkdown) {
  Diagnosis diagnosis = hung_job().diagnosis();
  diagnosis.exclude = {.hosts = {"n`1"}, .slurm = "--exclude=n`1`<b>", .kubernetes = "x"};
  EXPECT_THAT(to_markdown(diagnosis), HasSubstr("`--exclude=n'1'<b>`"));
}

}  // namespace
}  // namespace faultline
