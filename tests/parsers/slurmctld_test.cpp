#include "parsers/scheduler/slurmctld.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace faultline {
namespace {

// "nodes trn3 event=not responding; job 12 …"
std::string told(std::string_view line) {
  std::vector<Reading> readings;
  if (!parse_slurmctld(line, readings)) return "none";
  std::string text;
  for (const Reading& reading : readings) {
    const auto& report = std::get<PartReport>(reading.fact);
    if (!text.empty()) text += "; ";
    text += fmt::format("{} {}", report.kind, report.names.front().value);
    for (const NamedValue& value : report.values)
      text += fmt::format(" {}={}", value.name, value.value);
  }
  return text;
}

TEST(Slurmctld, ReadsWhatItSaysOfNodesAndJobs) {
  const struct {
    const char* line;
    const char* expected;
  } cases[] = {
      {"error: Nodes trn[3,7] not responding", "nodes trn[3,7] event=not responding"},
      {"error: Nodes trn3 not responding, setting DOWN",
       "nodes trn3 event=not responding, setting DOWN"},
      {"slurmctld: Node trn3 now responding", "nodes trn3 event=now responding"},
      {"error: Setting node trn3 state to INVAL with reason:Low CPUs",
       "nodes trn3 refused=Low CPUs"},
      {"slurmctld: error: Node trn3 has unexpectedly rebooted boot_time=1772677001",
       "nodes trn3 event=has unexpectedly rebooted"},
      {"Killing JobId=48213 on failed node trn3",
       "nodes trn3 event=failed node; job 48213 event=killed on failed node NodeList=trn3"},
      {"error: Removing failed node trn3 from JobId=48213", "nodes trn3 event=failed node"},
      {"update_node: node trn3 reason set to: Kill task failed",
       "nodes trn3 reason=Kill task failed"},
      {"update_node: node trn3 state set to DRAINED", "nodes trn3 state=DRAINED"},
      {"error: Prolog/Epilog failure on nodes trn3, set to state DRAIN",
       "nodes trn3 reason=Prolog/Epilog failure"},
      {"Time limit exhausted for JobId=48301_7(48309)",
       "job 48301_7 event=Time limit exhausted for"},
      {"preempted JobId=48213 has been requeued to reclaim resources for JobId=48999",
       "job 48213 event=preempted has been requeued"},
      {"_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId=48213 uid 1007",
       "job 48213 event=REQUEST_KILL_JOB uid 1007"},
      {"_job_complete: JobId=48213 WEXITSTATUS 1", "job 48213 WEXITSTATUS=1"},
      {"_job_complete: JobId=48213 OOM failure", "job 48213 event=OOM failure"},
      {"Nodes are not responding", "none"},
      {"Node has unexpectedly rebooted", "none"},
      {"error: Nodes zeus not responding", "nodes zeus event=not responding"},
      {"The error Nodes trn3 not responding means that slurmd is gone", "none"},
      {"JobId=48213 JobName=pretrain", "none"},
      {"sched: Allocate JobId=48213 NodeList=trn[3-6] #CPUs=384", "none"},
      {"_job_complete: JobId=48213 done", "none"},
  };
  for (const auto& c : cases) EXPECT_EQ(told(c.line), c.expected) << c.line;
}

}  // namespace
}  // namespace faultline
