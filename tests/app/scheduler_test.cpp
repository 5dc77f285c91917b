// The output of a scheduler and of the fabric's own check, pasted as operators do.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "pasted.h"

namespace faultline {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// --- sacct
// --------------------------------------------------------------------------------------

std::string sacct(std::initializer_list<std::array<const char*, 3>> rows) {
  std::string text =
      "JobID           JobName  Partition      State ExitCode \n"
      "------------ ---------- ---------- ---------- -------- \n";
  for (const auto& [id, state, code] : rows)
    text += fmt::format("{:<12} {:>10} {:>10} {:>10} {:>8} \n", id, "train",
                        std::string(id).find('.') == std::string::npos ? "gpu" : "", state, code);
  return text;
}

TEST(Sacct, TellsWhyAJobEnded) {
  const struct {
    const char* why;
    std::string table;
    const char* cause;
    const char* title;
  } cases[] = {
      {"a node died, and its batch step is an echo",
       sacct({{"71", "NODE_FAIL", "1:0"}, {"71.batch", "CANCELLED", "0:15"}}), "host.down",
       "job 71 because one of its nodes failed"},
      {"a step ended badly when the node died",
       sacct({{"71", "NODE_FAIL", "1:0"}, {"71.0", "FAILED", "134:0"}}), "host.down", "job 71"},
      {"out of memory, in a narrow column",
       sacct({{"71", "OUT_OF_ME+", "0:125"}, {"71.batch", "OUT_OF_ME+", "0:125"}}),
       "host.oom_killed", "job 71 ran out of memory"},
      {"only a step ran out of memory",
       sacct({{"71", "FAILED", "1:0"}, {"71.0", "OUT_OF_ME+", "0:125"}}), "host.oom_killed",
       "step 71.0 ran out of memory"},
      {"its time was up", sacct({{"71", "TIMEOUT", "0:0"}, {"71.batch", "CANCELLED", "0:15"}}),
       "process.aborted", "job 71 at its time limit"},
      {"somebody cancelled it", sacct({{"71", "CANCELLED+", "0:0"}, {"71.0", "CANCELLED", "0:9"}}),
       "process.aborted", "Job 71 was cancelled"},
      {"another job came first", sacct({{"71", "PREEMPTED", "0:0"}}), "process.aborted",
       "for another job"},
      {"the step that failed tells more than its job",
       sacct({{"71", "FAILED", "2:0"}, {"71.batch", "FAILED", "2:0"}, {"71.0", "FAILED", "2:0"}}),
       "process.aborted", "Step 71.0 failed, says Slurm: exit code 2"},
      {"a node did not come up", sacct({{"71", "BOOT_FAIL", "0:0"}}), "host.down",
       "did not come up"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.why);
    const Diagnosis diagnosis = pasted(c.table);
    EXPECT_EQ(cause_of(diagnosis), c.cause);
    EXPECT_THAT(title_of(diagnosis), HasSubstr(c.title));
    EXPECT_THAT(diagnosis.root_causes, SizeIs(1));
    EXPECT_THAT(hosts_of(diagnosis), IsEmpty()) << "no line names a node";
    expect_the_same_of_mutations(c.table);
  }
}

TEST(Sacct, WhatCameToItsEndAccusesNobody) {
  for (const std::string& table :
       {sacct({{"71", "COMPLETED", "0:0"}, {"71.batch", "COMPLETED", "0:0"}}),
        sacct(
            {{"71", "COMPLETED", "0:0"}, {"71.0", "FAILED", "1:0"}, {"71.1", "COMPLETED", "0:0"}}),
        sacct({{"71", "RUNNING", "0:0"}, {"71.0", "RUNNING", "0:0"}}),
        sacct({{"71", "PENDING", "0:0"}}),
        // The job was run again.
        sacct({{"71", "NODE_FAIL", "1:0"}, {"71", "COMPLETED", "0:0"}})}) {
    SCOPED_TRACE(table);
    const Diagnosis diagnosis = pasted(table);
    EXPECT_THAT(diagnosis.root_causes, IsEmpty());
    EXPECT_NE(diagnosis.verdict, Verdict::healthy);
  }
}

TEST(Sacct, PipesAndOtherColumnsSayTheSame) {
  for (const char* text :
       {"JobID|JobName|State|ExitCode|NodeList|\n71|train|NODE_FAIL|1:0|trn4|\n",
        "State|NodeList|JobID\nNODE_FAIL|trn4|71\n",
        "| JobID | State | NodeList |\n|---|---|---|\n| 71 | NODE_FAIL | trn4 |\n",
        "JobID State NodeList\n71 NODE_FAIL trn4\n"}) {
    SCOPED_TRACE(text);
    const Diagnosis diagnosis = pasted(text);
    EXPECT_EQ(cause_of(diagnosis), "host.down");
    EXPECT_THAT(hosts_of(diagnosis), ElementsAre("trn4"));
  }
}

TEST(Sacct, OfSeveralJobsNoneIsSurelyTheOne) {
  const Diagnosis one = pasted(sacct({{"71", "OUT_OF_ME+", "0:125"}, {"72", "COMPLETED", "0:0"}}));
  const Diagnosis two = pasted(sacct({{"71", "OUT_OF_ME+", "0:125"}, {"72", "NODE_FAIL", "1:0"}}));
  EXPECT_EQ(cause_of(one), cause_of(two));
  EXPECT_LT(confidence_of(two), confidence_of(one));
}

// --- sinfo and scontrol
// -------------------------------------------------------------------------

const std::string kNodeFail =
    sacct({{"71", "NODE_FAIL", "1:0"}, {"71.batch", "CANCELLED", "0:15"}});
const std::string kSinfoHead = "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n";
const std::string kTwoDown = kSinfoHead +
                             "gpu*         up   infinite      2  down* trn[3,7]\n"
                             "gpu*         up   infinite      6   idle trn[1-2,4-6,8]\n";

TEST(Sinfo, NamesTheNodesOfAJobThatANodeFailed) {
  const std::string text = kNodeFail + "\n" + kTwoDown;
  const Diagnosis diagnosis = pasted(text);
  EXPECT_EQ(cause_of(diagnosis), "host.down");
  EXPECT_THAT(hosts_of(diagnosis), ElementsAre("trn3", "trn7"));
  EXPECT_THAT(title_of(diagnosis), HasSubstr("trn3, trn7"));
  EXPECT_EQ(diagnosis.verdict, Verdict::failed);
  EXPECT_THAT(diagnosis.root_causes, SizeIs(1));
  expect_the_same_of_mutations(text);
  for (const char* between : {"", "\n", "[ana@login ~]$ sacct -j 71\n"}) {
    SCOPED_TRACE(between);
    EXPECT_THAT(hosts_of(pasted("[ana@login ~]$ sinfo\n" + kTwoDown + between + kNodeFail)),
                ElementsAre("trn3", "trn7"));
  }
  const Diagnosis listed =
      pasted("JobID|State|NodeList\n71|NODE_FAIL|trn[1-4]\n71.batch|CANCELLED|trn1\n\n" + kTwoDown);
  EXPECT_THAT(hosts_of(listed), ElementsAre("trn3")) << "the job did not run on trn7";
  EXPECT_GT(confidence_of(listed), confidence_of(diagnosis));
}

TEST(Sinfo, AListThatCannotBeReadIsNoNodeAmongOthers) {
  const Diagnosis diagnosis = pasted(kTwoDown + "cpu up infinite 9 down* trn[1-90000000]\n");
  EXPECT_THAT(title_of(diagnosis),
              HasSubstr("from trn3, trn7 and nodes whose names could not be read ("));
  EXPECT_THAT(diagnosis.root_causes.front().evidence.front().text, HasSubstr("trn[3,7]"));
  EXPECT_THAT(hosts_of(diagnosis), ElementsAre("trn3", "trn7"));
}

// What could not be read may be the node that the job lost.
TEST(Sinfo, AJobWhoseNodesCannotAllBeReadLosesNoNodeByBeingOnOne) {
  const std::string batch = "71.batch|CANCELLED|trn1\n";
  EXPECT_THAT(hosts_of(pasted("JobID|State|NodeList\n71|NODE_FAIL|trn1\n" + batch)),
              ElementsAre("trn1"));
  EXPECT_THAT(hosts_of(pasted("JobID|State|NodeList\n71|NODE_FAIL|trn[1-90000000]\n" + batch)),
              IsEmpty());
}

TEST(Sinfo, AListThatSacctCutLeavesTheNodesOfItsJobOpen) {
  const Diagnosis cut = pasted("JobID|State|NodeList\n71|NODE_FAIL|trn[1,3,5,+\n\n" + kTwoDown);
  EXPECT_THAT(hosts_of(cut), ElementsAre("trn3", "trn7"));
  EXPECT_THAT(title_of(cut), HasSubstr("job 71"));
}

TEST(Scontrol, ABootTimeThatIsUnknownIsNoReboot) {
  const std::string job =
      "JobId=71 JobName=train\n   JobState=RUNNING Reason=None\n   "
      "StartTime=2026-11-22T08:00:00 EndTime=Unknown\n   NodeList=trn3\n\n";
  const std::string node = "NodeName=trn3 Arch=x86_64 State=ALLOCATED BootTime=";
  EXPECT_THAT(pasted(job + node + "Unknown\n").root_causes, IsEmpty());
  EXPECT_EQ(cause_of(pasted(job + node + "2026-11-22T09:00:00\n")), "host.down");
}

TEST(Sinfo, TheLatestOfManyJobsOfUnknownNodesLostThoseThatAreDown) {
  std::vector<std::array<std::string, 3>> rows;
  for (int job = 950; job < 1100; ++job) rows.push_back({std::to_string(job), "COMPLETED", "0:0"});
  rows.push_back({"1100", "NODE_FAIL", "1:0"});
  std::string table = "JobID|State|ExitCode\n";
  for (const auto& [job, state, code] : rows) table += job + "|" + state + "|" + code + "\n";
  const Diagnosis diagnosis = pasted(table + "\n" + kTwoDown);
  EXPECT_THAT(hosts_of(diagnosis), ElementsAre("trn3", "trn7"));
  EXPECT_THAT(title_of(diagnosis), HasSubstr("job 1100"));
}

TEST(Sinfo, ANodeThatIsDownSomewhereAccusesNobodysJob) {
  const Diagnosis alone = pasted(kTwoDown);
  EXPECT_LT(confidence_of(alone), 0.4);
  EXPECT_EQ(alone.verdict, Verdict::unknown);
  for (const std::string& text :
       {sacct({{"71", "COMPLETED", "0:0"}}) + "\n" + kTwoDown,
        "JobID|State|ExitCode|NodeList\n71|TIMEOUT|0:0|trn[1-2]\n\n" + kTwoDown}) {
    SCOPED_TRACE(text);
    EXPECT_THAT(cause_of(pasted(text)), Not("host.down"));
  }
  for (const char* row :
       {"gpu* up infinite 2 drain trn[3,7]\n", "gpu* up infinite 2 idle~ trn[3,7]\n",
        "gpu* up infinite 2 comp trn[3,7]\n", "gpu* up infinite 2 mix- trn[3,7]\n"}) {
    SCOPED_TRACE(row);
    const Diagnosis diagnosis = pasted(kSinfoHead + row);
    EXPECT_THAT(diagnosis.root_causes, IsEmpty());
    EXPECT_EQ(diagnosis.verdict, Verdict::unknown);
  }
}

TEST(Sinfo, TheReasonIsReadFromItsOwnTable) {
  const std::string reasons =
      "REASON               USER      TIMESTAMP           NODELIST\n"
      "Not responding       slurm     2026-03-05T02:31:07 trn5\n"
      "fan 3 is loud        ops       2026-03-01T09:00:00 trn20\n";
  const Diagnosis diagnosis = pasted(kNodeFail + "\n" + reasons);
  EXPECT_EQ(cause_of(diagnosis), "host.down");
  EXPECT_THAT(hosts_of(diagnosis), ElementsAre("trn5"));
  EXPECT_LT(confidence_of(pasted(reasons)), 0.4);
}

std::string scontrol(const char* state, const char* booted) {
  return fmt::format(
      "NodeName=trn3 Arch=x86_64 CoresPerSocket=48\n   CPUAlloc=0 CPUTot=96\n"
      "   State={} ThreadsPerCore=1\n   BootTime={} SlurmdStartTime={}\n",
      state, booted, booted);
}

TEST(Scontrol, ABootInTheTimeOfAJobIsAReboot) {
  const std::string job =
      "JobID|State|ExitCode|Start|End|NodeList\n"
      "71|FAILED|1:0|2026-03-04T22:00:00|2026-03-05T02:40:00|trn[1-4]\n\n";
  const Diagnosis during = pasted(job + scontrol("IDLE", "2026-03-05T02:36:00"));
  EXPECT_EQ(cause_of(during), "host.down");
  EXPECT_THAT(hosts_of(during), ElementsAre("trn3"));
  for (const char* other : {"2026-03-01T08:00:00", "2026-03-05T09:00:00", "None"})
    EXPECT_THAT(cause_of(pasted(job + scontrol("IDLE", other))), Not("host.down")) << other;
}

TEST(Scontrol, TheStateOfANodeIsReadWithItsFlags) {
  const std::string down = scontrol("DOWN+DRAIN", "2026-03-01T08:00:00");
  EXPECT_THAT(hosts_of(pasted(kNodeFail + "\n" + down)), ElementsAre("trn3"));
  EXPECT_THAT(hosts_of(pasted(kNodeFail + "\n" + scontrol("MIXED", "2026-03-01T08:00:00"))),
              IsEmpty());
}

// --- slurmctld, slurmstepd
// ----------------------------------------------------------------------

TEST(Slurm, TheControllersLinesNameTheNodeThatAJobLost) {
  const std::string log =
      "[2026-03-05T02:26:07.002] error: Nodes trn3 not responding\n"
      "[2026-03-05T02:31:07.114] error: Nodes trn3 not responding, setting DOWN\n"
      "[2026-03-05T02:31:07.115] Killing JobId=71 on failed node trn3\n";
  const Diagnosis diagnosis = pasted(log);
  EXPECT_EQ(cause_of(diagnosis), "host.down");
  EXPECT_THAT(hosts_of(diagnosis), ElementsAre("trn3"));
  EXPECT_THAT(diagnosis.root_causes, SizeIs(1));
  const Diagnosis back = pasted(
      "[2026-03-05T02:26:07.002] error: Nodes trn3 not responding\n"
      "[2026-03-05T02:27:07.114] Node trn3 now responding\n");
  EXPECT_THAT(back.root_causes, IsEmpty());
}

TEST(Slurm, TheStepsOwnLineAndTheTableAreOneStory) {
  const std::string line =
      "slurmstepd: error: *** JOB 71 ON trn1 CANCELLED AT 2026-03-05T02:31:09 DUE TO NODE FAILURE, "
      "SEE SLURMCTLD LOG FOR DETAILS ***\n";
  for (const std::string& text : {line, "[pod/x] " + line, "2026-03-05T02:47:10Z " + line}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(cause_of(pasted(text)), "host.down");
  }
  const Diagnosis both = pasted(line + kNodeFail + "\n" + kTwoDown);
  ASSERT_THAT(both.root_causes, Not(IsEmpty()));
  EXPECT_THAT(hosts_of(both), ElementsAre("trn3", "trn7"));
  for (const Finding& finding : both.root_causes)
    EXPECT_THAT(finding.subject.hosts, Not(Contains("trn1"))) << "that is where the line was said";
}

// --- ibdiagnet
// ----------------------------------------------------------------------------------

const std::string kHealthyFabric =
    "-I- Discovering ... 24 nodes (4 Switches & 20 CA-s) discovered.\n"
    "-I- Links Check finished successfully\n"
    "-I- Stage                     Warnings   Errors     Comment\n"
    "-I- Discovery                 0          0\n"
    "-I- Speed / Width checks      0          0\n"
    "-I- Port Counters             0          0\n";

std::string slow_link(const char* speed, const char* could) {
  return fmt::format(
      "-E- Link: S0c42a10300aa1100/N0c42a10300aa1100/P17<-->S0c42a10300bb2200/"
      "N0c42a10300bb2208/P1 - Unexpected actual link speed {} (enable_speed1=\"{} or {}\", "
      "enable_speed2=\"{} or {}\" therefore final speed should be {})\n",
      speed, speed, could, speed, could, could);
}

TEST(Ibdiagnet, ALinkThatTrainedTooLowIsNamedByBothEnds) {
  std::string escaped = slow_link("25", "100");
  for (const char* what : {"\"", "<", ">", "_"})
    for (std::size_t at = escaped.find(what); at != std::string::npos;
         at = escaped.find(what, at + 2))
      escaped.insert(at, "\\");
  std::string width = slow_link("1x", "4x");
  for (std::size_t at = width.find("speed"); at != std::string::npos; at = width.find("speed"))
    width.replace(at, 5, "width");
  for (const std::string& text : {slow_link("25", "100"), slow_link("2.5", "10"), escaped, width,
                                  with_prefix(slow_link("25", "100"), "2026-03-05T02:47:10Z "),
                                  with_prefix(slow_link("25", "100"), "[pod/x] "),
                                  "-I- Links Check\n" + slow_link("25", "100") + "-I- done\n"}) {
    SCOPED_TRACE(text);
    const Diagnosis diagnosis = pasted(text);
    ASSERT_EQ(cause_of(diagnosis), "network.link_errors");
    const Finding& finding = diagnosis.root_causes.front();
    EXPECT_THAT(finding.subject.nics, ElementsAre(HasSubstr("0x0c42a10300aa1100 port 17"),
                                                  HasSubstr("0x0c42a10300bb2208 port 1")));
    EXPECT_GT(finding.confidence, 0.3);
    EXPECT_LT(finding.confidence, 0.8);
    EXPECT_THAT(diagnosis.root_causes, SizeIs(1));
  }
}

TEST(Ibdiagnet, CountersOverTheirThresholdsAreTold) {
  const struct {
    const char* text;
    const char* cause;
  } cases[] = {
      {"-W- lid=0x001a dev=4129 trn-7/U1/P1\n    link_downed_counter : 44 (threshold exceeded)\n",
       "network.link_down"},
      {"-W- lid=0x0019 guid=0x0c42a10300bb2208 dev=4129 Port=1\n"
       "    Performance Monitor counter     : Value\n"
       "    symbol_error_counter            : 0xffff (overflow)\n",
       "network.link_errors"},
      {"-E- leaf2/U1/P9 - \"port_rcv_errors\" increased during the run (difference "
       "value=31,difference allowed threshold=1)\n",
       "network.link_errors"},
      {"-I- Stage                     Warnings   Errors     Comment\n"
       "-I- Speed / Width checks      1          2\n",
       "network.link_errors"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    const Diagnosis diagnosis = pasted(c.text);
    EXPECT_EQ(cause_of(diagnosis), c.cause);
    EXPECT_LT(confidence_of(diagnosis), 0.8);
  }
}

TEST(Ibdiagnet, AFabricWithoutComplaintsAccusesNobody) {
  for (const std::string& text :
       {kHealthyFabric, kHealthyFabric + "-E- Option: --pc already exists\n",
        std::string("-E- The device is not open\n"),
        std::string("-W- lid=0x001a dev=4129 trn-7/U1/P1\n    link_downed_counter : 0\n")}) {
    SCOPED_TRACE(text);
    const Diagnosis diagnosis = pasted(text);
    EXPECT_THAT(diagnosis.root_causes, IsEmpty());
    EXPECT_NE(diagnosis.verdict, Verdict::healthy);
  }
}

}  // namespace
}  // namespace faultline
