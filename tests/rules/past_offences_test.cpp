// What ports, hosts and devices did to earlier jobs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tool_reports.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

PastOffence offence(const std::string& part, const std::string& cause, const std::string& job,
                    int day) {
  return {.part = part,
          .cause = cause_named(cause),
          .job = job,
          .when = Timestamp(std::chrono::seconds(1'800'000'000) + std::chrono::days(day)),
          .evidence = {.source = "log", .line = 3, .text = "a line of " + job}};
}

Job with_symbol_errors() {
  Job job = sixteen_ranks();
  for (const int hour : {0, 1})
    job.part("node-1", counters_of("mlx5_3", {{"symbol_error", hour == 0 ? "100" : "9000"}}),
             at(hour * kHour));
  return job;
}

TEST(PastOffences, OfAPortAreSaidOfThatPortAlone) {
  Job job = with_symbol_errors();
  const std::string port = "node-1/mlx5_3:1";
  for (const auto& [name, day] : {std::pair("a", -10), {"b", -4}, {"c", -1}, {"c", -1}})
    job.moment.past_offences.push_back(offence(port, "network.link_errors", name, day));
  job.moment.past_offences.push_back(offence("node-1/mlx5_4:1", "network.link_errors", "d", -1));
  job.moment.past_offences.push_back(offence(port, "network.link_down", "e", -1));
  job.moment.past_offences.push_back(offence(port, "network.link_errors", "later", 3));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.link_errors"));
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_THAT(finding.title, HasSubstr("; this port failed 3 earlier jobs in the same way"));
  EXPECT_THAT(finding.actions.front().what, HasSubstr("Keep this port out of scheduling"));
  EXPECT_THAT(finding.evidence.back().source, HasSubstr("job a: log"));
}

TEST(PastOffences, ThereAreNoneForAPartThatNeverFailed) {
  const Job job = with_symbol_errors();
  EXPECT_THAT(job.diagnosis().root_causes.front().title, Not(HasSubstr("earlier")));
}

TEST(PastOffences, OfSwitchesAreTheirHosts) {
  Job job = sixteen_ranks();
  job.say(Job::kernel_of("node-0"), Speaker{},
          SwitchError{.nvswitch = "0000:c1:00.0",
                      .code = 24007,
                      .printed = "Fatal",
                      .link = 12,
                      .detail = "sourcetrack timeout error",
                      .teller = "driver"},
          "SXid 24007", at(10));
  job.moment.past_offences = {offence("node-0", "gpu.nvswitch_error", "a", -2)};
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("gpu.nvswitch_error"));
  EXPECT_THAT(diagnosis.root_causes.front().title,
              HasSubstr("this host failed 1 earlier job in the same way within "));
}

TEST(PastOffences, OfAKernelsLinesAreTheHostsOrTheDevices) {
  Job job;
  job.clock = at(-1);
  job.join_all(16);
  job.clock = at(9);
  job.call(ranks(0, 16), all_reduce(), 10);
  job.kernel("node-1", "EDAC MC1: 1 UE memory read error on CPU_SrcID#1_MC#0_Chan#1_DIMM#0",
             at(10));
  job.moment.past_offences = {offence("node-1", "host.memory_error", "a", -2),
                              offence("node-1", "host.memory_error", "b", -1),
                              offence("node-0", "host.memory_error", "c", -1)};
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("host.memory_error"));
  EXPECT_THAT(diagnosis.root_causes.front().title,
              HasSubstr("this host failed 2 earlier jobs in the same way"));
}

}  // namespace
}  // namespace faultline
