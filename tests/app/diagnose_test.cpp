// The command as a user runs it: its output and its exit status.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <string>

#include "program.h"

namespace faultline {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string kXid =
    "[  812.5] NVRM: Xid (PCI:0000:3b:00): 79, pid=40213, name=python3, GPU has fallen off the "
    "bus.\n";
const std::string kOffBus = "\"class\": \"gpu.off_bus\"";

using Command = ProgramTest;

TEST_F(Command, PrintsItsVersion) {
  for (const char* line : {"$F version", "$F --version"}) {
    const Outcome outcome = run(line);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_THAT(outcome.out, testing::MatchesRegex("faultline [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  }
}

TEST_F(Command, SaysWhatIsWrongWithACommandLine) {
  struct Case {
    const char* line;
    const char* error;
  };
  const Case cases[] = {
      {"$F", "Usage: faultline"},
      {"$F diagnose nosuch", "faultline: cannot read nosuch: No such file or directory\n"},
      {"mkdir -p empty && $F diagnose empty", "faultline: there is no file in empty\n"},
      {"touch x && $F diagnose --rules nosuch x", "faultline: nosuch"},
      {"$F diagnose /proc/self/mem", "faultline: none of the files could be read\n"},
  };
  for (const Case& c : cases) expect_refused(c.line, c.error);
}

TEST_F(Command, FindsAFaultHoweverItIsPacked) {
  workshop.write("logs/gpu-node-3/dmesg.txt", kXid);
  workshop.write("logs/empty.log", "");
  for (const char* line :
       {"$F diagnose --format json logs", "$F diagnose --format json logs/gpu-node-3/dmesg.txt",
        "$F diagnose --format json - < logs/gpu-node-3/dmesg.txt",
        "cat logs/gpu-node-3/dmesg.txt | $F diagnose --format json -",
        "gzip -c logs/gpu-node-3/dmesg.txt | $F diagnose --format json -",
        "zstd -qc logs/gpu-node-3/dmesg.txt > x; $F diagnose --format json x",
        "tar -cf x logs; $F diagnose --format json x",
        "tar -czf x logs; $F diagnose --format json x"}) {
    SCOPED_TRACE(line);
    const Outcome outcome = run(line);
    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.out, HasSubstr(kOffBus));
    EXPECT_THAT(outcome.out, StartsWith("{"));
    EXPECT_EQ(outcome.err, "");
  }
  EXPECT_THAT(run("$F diagnose logs").out, HasSubstr("0000:3b:00.0"));
}

TEST_F(Command, CallsTheJobTheHostAndTheFilesByTheirNames) {
  workshop.write("logs/gpu-node-3/dmesg.txt", kXid);
  const Outcome outcome = run("$F diagnose --job llama --host gpu-node-3 --format json logs");
  EXPECT_THAT(outcome.out, HasSubstr("\"job\": \"llama\""));
  EXPECT_THAT(outcome.out, HasSubstr("\"gpu-node-3/0000:3b:00.0\""));
  EXPECT_THAT(outcome.out, HasSubstr("\"source\": \"gpu-node-3/dmesg.txt\""));
}

TEST_F(Command, FailsWhereNoLineIsOfAKnownForm) {
  workshop.write("a.log", "hello\nworld\n");
  const Outcome outcome = run("$F diagnose --format json a.log");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.out, HasSubstr("\"verdict\": \"unknown\""));
  EXPECT_THAT(outcome.err, StartsWith("faultline: a.log: none of its 2 lines has a known form: "));
  workshop.write("empty.log", "");
  const Outcome empty = run("$F diagnose empty.log");
  EXPECT_EQ(empty.status, 2);
  EXPECT_THAT(empty.err, StartsWith("faultline: empty.log: it holds no line of a known form"));
}

TEST_F(Command, LetsScriptsTellVerdictsApart) {
  for (const char* out : {"hung", "well"})
    run(std::string("$F simulate --scenario rank_behind --nodes 2 --seed 3 ") +
        (out == std::string_view("well") ? "--healthy " : "") + "--out " + out);
  EXPECT_EQ(run("$F diagnose hung/logs").status, 1);
  EXPECT_EQ(run("$F diagnose well/logs").status, 0);
  // The logs of half of the ranks prove neither.
  EXPECT_EQ(run("$F diagnose well/logs/gpu-node-1/nccl.rank0.log").status, 3);
  EXPECT_EQ(run("$F diagnose nosuch").status, 2);
}

TEST_F(Command, TellsWhatPassedToThoseWhoAsk) {
  workshop.write("logs/gpu-node-3/dmesg.txt", kXid);
  EXPECT_THAT(run("$F diagnose logs").out, testing::Not(HasSubstr("\nnot known: ")));
  EXPECT_THAT(run("$F diagnose --verbose logs").out, HasSubstr("\nnot known: "));
}

TEST_F(Command, GoesOnWhenAFileCannotBeRead) {
  workshop.write("logs/dmesg.txt", kXid);
  workshop.make("ln -s /proc/self/mem logs/mem; ln -s nosuch logs/link; touch out");
  const Outcome outcome = run("$F diagnose --format json logs");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.out, HasSubstr(kOffBus));
  EXPECT_EQ(outcome.err,
            "faultline: warning: cannot read logs/link: No such file or directory\n"
            "faultline: warning: logs/mem: Input/output error\n");
}

TEST_F(Command, SaysWhatIsWrongWithFilesThatHoldNoLines) {
  workshop.write("logs/dmesg.txt", kXid);
  workshop.write("logs/report.pdf", "%PDF-1.7\n");
  workshop.write("logs/page", "<html>\nlogin\n");
  workshop.write("logs/notes.txt", "nothing that\nis known\n");
  const Outcome outcome = run("xz logs/dmesg.txt; $F diagnose logs");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.out, HasSubstr("0000:3b:00.0"));
  EXPECT_THAT(outcome.err, HasSubstr("faultline: warning: report.pdf: This is a PDF; "));
  EXPECT_THAT(outcome.err, HasSubstr("faultline: warning: page: This is an HTML page"));
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 2) << outcome.err;
}

TEST_F(Command, WarnsOfAFewOfManyFilesThatHoldNoLines) {
  workshop.write("logs/dmesg.txt", kXid);
  for (int i = 0; i < 40; ++i) workshop.write("logs/plot" + std::to_string(i), "\x89PNG\r\n\x1a\n");
  const Outcome outcome = run("$F diagnose logs");
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 13) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("faultline: warning: 28 more files cannot be read\n"));
}

TEST_F(Command, UsesWhatItCanReadOfAFileThatBreaksOff) {
  workshop.write("dmesg.txt", kXid + kXid);
  const Outcome outcome =
      run("gzip -c dmesg.txt | head -c -6 > x.gz; $F diagnose --format json x.gz");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.out, HasSubstr(kOffBus));
  EXPECT_THAT(outcome.err, StartsWith("faultline: warning: x.gz: the gzip data breaks off after "));
}

TEST_F(Command, SaysWhyADumpWasNotRead) {
  workshop.write("logs/nccl_trace_rank_3", std::string("\x80\x02", 2) + "cos\nsystem\n)R.");
  workshop.write("logs/dmesg.txt", kXid);
  const Outcome outcome = run("$F diagnose logs");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("faultline: warning: nccl_trace_rank_3: not read: it names "
                                     "code to run (GLOBAL)"));
  EXPECT_THAT(outcome.out, HasSubstr("not read: it names code to run (GLOBAL)"));
}

TEST_F(Command, AnswersTheSameEveryTime) {
  for (int i = 0; i < 40; ++i)
    workshop.write("logs/node-" + std::to_string(i) + "/dmesg.txt",
                   "[  " + std::to_string(i) + ".5] NVRM: Xid (PCI:0000:3b:00): " +
                       std::to_string(31 + i) + ", pid=40213, name=python3, text\n");
  workshop.make("touch -d 2026-03-05T03:00:00Z logs/*/*; touch out");
  const Outcome first = run("$F diagnose --format json logs");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(run("$F diagnose --format json logs").out, first.out);
}

TEST_F(Command, DatesTheLinesOfAKernelWhoseBootTimeItIsTold) {
  workshop.write("dmesg.txt",
                 "[  812.500000] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n");
  for (const char* time : {"1772670408", "2026-03-05T00:26:48Z"}) {
    const Outcome outcome =
        run(std::string("$F diagnose --format json --boot-time ") + time + " dmesg.txt");
    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.out, HasSubstr("\"first_seen\": \"2026-03-05T00:40:19.500Z\""));
  }
  EXPECT_THAT(run("$F diagnose --format json dmesg.txt").out,
              testing::Not(HasSubstr("2026-03-05T00")));
  const Outcome wrong = run("$F diagnose --boot-time yesterday dmesg.txt");
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("is not a time; write"));
}

// Of all scenarios, this one makes the largest file: half of the ranks are odd.
TEST_F(Command, WritesASmallHtmlFileOf1024RanksInTheWorstScenario) {
  ASSERT_EQ(run("$F simulate --scenario mismatch_two_camps --nodes 128 --steps 4 --evidence nccl "
                "--out job")
                .status,
            0);
  const Outcome outcome = run("$F diagnose --format html job/logs");
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("116 other hosts, 928 ranks"));
  EXPECT_LT(outcome.out.size(), std::size_t{300} * 1000);
}

TEST_F(Command, LeavesNothingBehind) {
  workshop.write("dmesg.txt", kXid);
  EXPECT_EQ(
      run("mkdir here && cd here && TMPDIR=. HOME=. $F diagnose ../dmesg.txt >/dev/null; ls -A")
          .out,
      "");
}

TEST_F(Command, NoticesThatItsAnswerCannotBeWritten) {
  workshop.write("dmesg.txt", kXid);
  const Outcome outcome = run("$F diagnose dmesg.txt > /dev/full");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, "faultline: the diagnosis could not be written to stdout\n");
}

}  // namespace
}  // namespace faultline
