// When an event was, seen from the job: by every clock that both have; and what the event means
// where no clock shows its time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job.h"
#include "rules/knowledge/catalog.h"
#include "rules/picture/view.h"
#include "sampled.h"

namespace faultline {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr Timestamp kBegin{1'771'400'000s};
constexpr auto kOneHour = 3600s;

EventTime dated_at(std::chrono::seconds after) { return EventTime::at(kBegin + after, 1s); }
EventTime without_zone(std::chrono::seconds after) {
  return EventTime::at(kBegin + after, 1s, true);
}
EventTime up(double seconds) {
  return EventTime::since_boot(static_cast<std::int64_t>(seconds * 1e6));
}

const std::string kForkRejected =
    "cgroup: fork rejected by pids controller in /user.slice/user-1003.slice/session-4711.scope";
const std::string kNfsDown = "nfs: server filer-2 not responding, still trying";
const std::string kLinkDown = "mlx5_core 0000:2b:00.0 ibp43s0: Link down";

const Finding* finding_named(const std::vector<Finding>& findings, std::string_view cause) {
  for (const Finding& finding : findings)
    if (finding.cause == cause) return &finding;
  return nullptr;
}

void raise(Job& job, int rank, EventTime time = {}) {
  PythonException exception{
      .type = "KeyError", .message = "'mask'", .file = "/opt/train.py", .file_line = 287};
  exception.lines = {{1, 0, "Traceback (most recent call last):"}, {3, 90, "KeyError: 'mask'"}};
  Speaker speaker = Job::speaker_of(rank);
  speaker.rank = rank;
  job.say(Job::source_of(rank), speaker, exception, "KeyError: 'mask'", time);
}

void time_out(Job& job, int rank, EventTime time) {
  WatchdogTimeout timeout{.group = {.id = 0, .name = "0", .description = "default_pg"},
                          .sequence = 11,
                          .operation = "ALLREDUCE",
                          .numel_in = 1024,
                          .numel_out = 1024,
                          .timeout_ms = 600'000,
                          .ran_ms = 600'050};
  Speaker speaker = Job::speaker_of(rank);
  speaker.rank = rank;
  job.say(Job::source_of(rank), speaker, timeout, "Watchdog caught collective operation timeout",
          time);
}

void exit(Job& job, int rank, int code, EventTime time) {
  job.say({"j", "launcher.log", "", -1}, Speaker{},
          ProcessExit{.teller = "torchrun", .ranks = {rank}, .exit_code = code, .first = true},
          "exitcode", time);
}

void xid(Job& job, int rank, int code, EventTime time, std::int64_t pid) {
  job.say(Job::kernel_of(Job::host_of(rank)), Speaker{},
          GpuXid{.gpu = Job::gpu_of(rank), .code = code, .pid = pid, .process = "python3"},
          fmt::format("Xid {}", code), time);
}

// Sixteen ranks on two hosts; rank 3 never comes to the last call.
Job waiting_job(const EventTime& begin = {}) {
  Job job = sixteen_ranks(10, begin);
  job.call(all_but(3, 16), all_reduce());
  return job;
}

struct PhaseCase {
  const char* why;
  EventTime time;
  Phase phase;
};

void expect_phases(const Job& job, const std::vector<PhaseCase>& cases) {
  static const Catalog catalog = load_catalog();
  const View view(job.state, catalog, job.moment);
  for (const PhaseCase& c : cases)
    EXPECT_EQ(view.phases.of({.time = c.time, .host = "node-0", .ranks = {}, .log = {}}), c.phase)
        << c.why;
}

TEST(Phases, OfAJobWithDates) {
  Job job = waiting_job(dated_at(0s));
  for (const int rank : all_but(3, 16)) time_out(job, rank, dated_at(660s));
  expect_phases(job,
                {{"an hour earlier", dated_at(-kOneHour), Phase::before},
                 {"while it ran", dated_at(100s), Phase::during},
                 {"after its watchdogs took it down", dated_at(680s), Phase::after},
                 {"its zone is open", without_zone(-7 * kOneHour), Phase::cannot_tell},
                 {"in the zone of the others it was in the job", without_zone(100s), Phase::during},
                 {"no zone is so far off", without_zone(-30 * kOneHour), Phase::before},
                 {"no date", {}, Phase::cannot_tell}});
}

TEST(Phases, OfAJobWhoseEndAloneHasADate) {
  Job job = waiting_job();
  exit(job, 3, 1, dated_at(0s));
  expect_phases(job, {{"shortly before", dated_at(-60s), Phase::during},
                      {"nobody knows when it began", dated_at(-2 * kOneHour), Phase::cannot_tell},
                      {"afterwards", dated_at(kOneHour), Phase::after}});
}

TEST(Phases, OfAJobThatWentOnForHours) {
  Job job = waiting_job(dated_at(0s));
  job.clock = dated_at(10 * kOneHour);
  job.call(ranks(0, 16), all_reduce());
  expect_phases(job,
                {{"ranks made calls for hours after it", dated_at(kOneHour), Phase::outlived},
                 {"shortly before the last calls", dated_at(10 * kOneHour - 60s), Phase::during}});
}

TEST(Phases, LinesThatNameARanksProcessPlaceOthersOfTheirBoot) {
  static const Catalog catalog = load_catalog();
  Job job = waiting_job();
  xid(job, 3, 45, up(5000), Job::speaker_of(3).pid);
  const View view(job.state, catalog, job.moment);
  const BootOfLog log = boot_of(view, "", view.job.hardware().xids().front().first);
  const auto phase_at = [&](double seconds) {
    return view.phases.of({.time = up(seconds), .host = "node-0", .ranks = {}, .log = log});
  };
  EXPECT_EQ(phase_at(4400), Phase::during);
  EXPECT_EQ(phase_at(5001), Phase::after) << "the process was cleaned up";
  EXPECT_EQ(phase_at(100), Phase::cannot_tell);
}

// --- What the time of an event means ------------------------------------------------------------

TEST(When, WhatARankOutlivedForADayIsNotWhyItRaised) {
  for (const std::string& text :
       {kForkRejected, std::string("Memory cgroup out of memory: Killed "
                                   "process 62195 (indexer) total-vm:1kB")}) {
    SCOPED_TRACE(text);
    Job job = waiting_job();
    raise(job, 3);
    exit(job, 3, 1, without_zone(0s));
    job.kernel("node-0", text, without_zone(-30 * kOneHour));
    const Diagnosis diagnosis = job.diagnosis();
    ASSERT_THAT(diagnosis.root_causes, Not(IsEmpty()));
    EXPECT_EQ(diagnosis.root_causes.front().cause, "software.rank_crashed");
    EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(3));
  }
}

TEST(When, ABootIsDatedByTheClockThatTheKernelReadAtItsStart) {
  for (const bool after_the_ranks : {true, false}) {
    Job job = sixteen_ranks(10, dated_at(0s));
    job.call(ranks(0, 8), all_reduce());
    for (int rank = 0; rank < 8; ++rank) time_out(job, rank, dated_at(700s));
    job.boot("node-1", up(0));
    job.say(Job::kernel_of("node-1"), Speaker{},
            ClockReading{
                .wall_us = (kBegin + (after_the_ranks ? 300s : -300s)).time_since_epoch() / 1us,
                .teller = "rtc"},
            "setting system clock", up(2.1));
    const auto found = causes(job.diagnosis().root_causes);
    EXPECT_EQ(found.front() == "host.down", after_the_ranks);
  }
}

TEST(When, WhatTheDriverSaysOfAProcessAfterItWasTakenDownIsNoFaultOfIts) {
  Job job = sixteen_ranks();
  for (int rank = 0; rank < 16; ++rank) time_out(job, rank, dated_at(700s));
  job.kernel("node-0", kLinkDown, up(1000));
  for (const int rank : {0, 1, 2}) xid(job, rank, 45, up(1600 + 0.1 * rank), 1000 + rank);
  xid(job, 2, 43, up(1600.5), 1002);
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(diagnosis.root_causes, Not(IsEmpty()));
  EXPECT_EQ(diagnosis.root_causes.front().cause, "network.link_down");
  EXPECT_THAT(causes(diagnosis.root_causes), Not(Contains("software.gpu_memory_fault")));
}

TEST(When, WhatComesAfterTheWatchdogsIsNotWhatTheyWaitedFor) {
  Job job = waiting_job(dated_at(0s));
  for (const int rank : all_but(3, 16)) time_out(job, rank, dated_at(700s));
  xid(job, 3, 31, dated_at(730s), 1003);
  job.kernel("node-0", kNfsDown, dated_at(740s));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("collective.rank_behind"));
  const Finding* fault = finding_named(diagnosis.observations, "software.gpu_memory_fault");
  ASSERT_NE(fault, nullptr);
  EXPECT_FALSE(fault->part_of_job);
  EXPECT_THAT(fault->title, HasSubstr("after the job had ended"));
}

TEST(When, AFaultOfAnotherProcessAtAnOpenTimeAccusesNobody) {
  Job job = sixteen_ranks(10, without_zone(0s));
  xid(job, 3, 31, dated_at(-7 * kOneHour), 849'286);
  job.kernel("node-0", kForkRejected, dated_at(-7 * kOneHour));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
  EXPECT_THAT(causes(diagnosis.observations), Contains("software.gpu_memory_fault"));
}

TEST(When, YesterdaysSightingIsNotTodays) {
  Job job = sixteen_ranks(10, dated_at(0s));
  for (int i = 0; i < 40; ++i)
    job.kernel("node-0",
               fmt::format("nvidia {}: PCIe Bus Error: severity=Corrected, type=Physical Layer, "
                           "(Receiver ID)",
                           Job::gpu_of(2)),
               dated_at(-30 * kOneHour + std::chrono::seconds(i)));
  job.part("node-0",
           {.tool = "nvidia-smi",
            .kind = "gpu",
            .names = {{"pci", Job::gpu_of(2)}},
            .values = {{"pcie.link.width.current", "8"}, {"pcie.link.width.max", "16"}}},
           dated_at(200s));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(causes(diagnosis.root_causes), ElementsAre("pcie.degraded"));
  EXPECT_EQ(diagnosis.verdict, Verdict::unknown) << "it is too unsure to be shown";
}

// --- Every signature's own sample, without a known time -----------------------------------------

// Calls `expect` for each sample line of the catalog's kernel signatures and a third of them for
// one of three kinds of time (FAULTLINE_EVERY=1: all for each), with a function that adds the line
// to a job.
template <class Expect>
void for_each_sample(Expect expect) {
  static const Catalog catalog = load_catalog();
  const std::size_t step = every(14);
  std::size_t number = 0;
  for (const MessageSignature& signature : catalog.signatures->all()) {
    if (signature.file.find("kernel_") == std::string::npos) continue;
    if (signature.dialect != "kernel" && signature.dialect != "system") continue;
    for (const std::string& sample : signature.matches)
      for (const EventTime& time : {without_zone(-30 * kOneHour), up(86'400), EventTime{}}) {
        // Three kinds and a step of nine would always meet the same kind.
        ++number;
        if ((number + number / 3) % step != 0) continue;
        SCOPED_TRACE(signature.id + ": " + sample);
        expect([&](Job& job, const std::string& host) {
          // A signature of a storm needs many lines.
          for (std::uint64_t i = 0; i <= signature.storm.count; ++i)
            if (signature.dialect == "kernel")
              job.kernel(host, sample, time);
            else
              job.system(host, signature.place, sample, time);
        });
      }
  }
}

void expect_no_alarm(const Diagnosis& diagnosis) {
  for (const Finding& finding : diagnosis.root_causes) {
    if (is_of(finding.cause, Family::collective) || finding.cause == "software.rank_crashed")
      continue;
    EXPECT_LT(finding.confidence, 0.8) << finding.title;
  }
}

TEST(KernelSamplesAtNoKnownTime, NeverTakeThePlaceOfATraceback) {
  for_each_sample([](auto say) {
    Job job = waiting_job();
    raise(job, 3);
    say(job, "node-0");
    const Diagnosis diagnosis = job.diagnosis();
    ASSERT_THAT(diagnosis.root_causes, Not(IsEmpty()));
    EXPECT_EQ(diagnosis.root_causes.front().cause, "software.rank_crashed");
    expect_no_alarm(diagnosis);
  });
}

// The rank that is waited for comes first; what may be the reason comes after it.
void expect_behind_first(const Job& job) {
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(diagnosis.root_causes, Not(IsEmpty()));
  EXPECT_EQ(diagnosis.root_causes.front().cause, "collective.rank_behind");
  expect_no_alarm(diagnosis);
}

TEST(KernelSamplesAtNoKnownTime, AreNotTheCauseWhereARankOfAnotherHostIsBehind) {
  for_each_sample([](auto say) {
    Job job = waiting_job();
    say(job, "node-1");
    expect_behind_first(job);
  });
}

TEST(KernelSamplesAtNoKnownTime, AreNotTheCauseOnTheHostThatIsWaitedFor) {
  for_each_sample([](auto say) {
    Job job = waiting_job();
    say(job, "node-0");
    expect_behind_first(job);
  });
}

TEST(KernelSamplesAtNoKnownTime, AreNotTheCauseWhereAllWait) {
  for_each_sample([](auto say) {
    Job job = sixteen_ranks();
    for (int rank = 0; rank < 16; ++rank) time_out(job, rank, {});
    say(job, "node-0");
    const Diagnosis diagnosis = job.diagnosis();
    ASSERT_THAT(diagnosis.root_causes, Not(IsEmpty()));
    EXPECT_TRUE(is_of(diagnosis.root_causes.front().cause, Family::collective));
    expect_no_alarm(diagnosis);
  });
}

TEST(KernelSamplesAtNoKnownTime, DoNotMakeAHealthyJobIll) {
  for_each_sample([](auto say) {
    Job job = sixteen_ranks();
    say(job, "node-0");
    const Diagnosis diagnosis = job.diagnosis();
    EXPECT_THAT(diagnosis.root_causes, IsEmpty());
    EXPECT_THAT(diagnosis.verdict, testing::AnyOf(Verdict::healthy, Verdict::unknown));
  });
}

}  // namespace
}  // namespace faultline
