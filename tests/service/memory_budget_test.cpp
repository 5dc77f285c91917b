// All jobs together take no more memory than they may.
#include "service/memory_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "eventually.h"
#include "served_jobs.h"
#include "service/process_use.h"
#include "workshop.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(AllowedMemory, IsTheLeastThatSomethingSays) {
  constexpr const char* kMachine = "proc/meminfo";
  constexpr const char* kGroups = "proc/self/cgroup";
  const struct {
    const char* what;
    std::map<std::string, std::string> files;
    std::uint64_t allowed;
  } cases[] = {
      {"the machine alone", {{kMachine, "MemTotal:  2048 kB\nMemFree: 1 kB\n"}}, 2'097'152},
      {"the group",
       {{kMachine, "MemTotal: 2048 kB\n"},
        {kGroups, "0::/a/b\n"},
        {"sys/fs/cgroup/a/b/memory.max", "1000000\n"}},
       1'000'000},
      {"a group around it",
       {{kMachine, "MemTotal: 2048 kB\n"},
        {kGroups, "0::/a/b\n"},
        {"sys/fs/cgroup/a/b/memory.max", "max\n"},
        {"sys/fs/cgroup/a/memory.max", "900000\n"}},
       900'000},
      {"the group of a container, which it sees as the root",
       {{kMachine, "MemTotal: 2048 kB\n"},
        {kGroups, "0::/docker/1234\n"},
        {"sys/fs/cgroup/memory.max", "800000\n"}},
       800'000},
      {"the group of the first version",
       {{kMachine, "MemTotal: 2048 kB\n"},
        {kGroups, "5:cpu:/\n4:memory:/a\n0::/\n"},
        {"sys/fs/cgroup/memory/a/memory.limit_in_bytes", "700000\n"},
        {"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"}},
       700'000},
  };
  for (const auto& it : cases) {
    Workshop root;
    for (const auto& [name, text] : it.files) root.write(name, text);
    EXPECT_EQ(allowed_memory(root.folder()), it.allowed) << it.what;
  }
}

TEST(AllowedMemory, IsMoreThanThisProcessTakes) {
  EXPECT_GT(own_memory(), 1U << 20);
  EXPECT_GT(allowed_memory(), own_memory());
}

// Each job in memory takes kOfJob, and others take what a test says. Even one line makes a job
// large.
class MemoryOfJobs : public ServedJobs {
 protected:
  static constexpr std::uint64_t kBudget = 1000;
  static constexpr std::uint64_t kOfJob = 300;

  MemoryOfJobs() {
    settings.stall_after = std::chrono::seconds{0};
    settings.memory = kBudget;
    settings.memory_used = [this] {
      return taken_by_others + (server ? of_job * server->jobs.count_in_memory() : 0);
    };
    restart();
  }

  void send_and_judge(const std::string& job) {
    ASSERT_EQ(send(job, 2), "");
    server->jobs.reconcile(job);
  }
  std::vector<std::string> in_memory() const {
    std::vector<std::string> names = server->jobs.names();
    std::erase_if(names, [&](const std::string& job) { return !server->jobs.is_in_memory(job); });
    return names;
  }
  // A job is held a moment longer than its commit takes.
  bool come_to_be_in_memory(const std::vector<std::string>& jobs) const {
    return eventually([&] {
      server->jobs.reconcile_open();
      return in_memory() == jobs;
    });
  }
  bool is_told_of(const std::string& job) {
    try {
      return server->jobs.diagnosis(job)->verdict == Verdict::failed;
    } catch (const LacksMemory&) {
      return false;
    }
  }
  bool waits(const std::string& job) const {
    const auto known = server->jobs.known_as_set_aside(job);
    return known && known->for_memory;
  }

  std::uint64_t taken_by_others = 0;
  std::uint64_t of_job = kOfJob;
};

TEST_F(MemoryOfJobs, LetsThoseRestThatWereAskedForLongestAgo) {
  for (const char* job : {"a", "b", "c", "d"}) send_and_judge(job);
  ASSERT_TRUE(is_told_of("a"));
  ASSERT_TRUE(is_told_of("c"));
  EXPECT_TRUE(come_to_be_in_memory({"a", "c"}));
  for (const char* job : {"a", "b", "c", "d", "b", "a"}) EXPECT_TRUE(is_told_of(job)) << job;
}

TEST_F(MemoryOfJobs, IsNotFreedWhileThereIsEnough) {
  for (const char* job : {"a", "b", "c"}) send_and_judge(job);
  server->jobs.reconcile_open();
  EXPECT_EQ(server->jobs.count_in_memory(), 3);
}

TEST_F(MemoryOfJobs, HasNoLimitIfTheSettingIsZero) {
  server->jobs.memory().set_most(0);
  for (int job = 0; job < 20; ++job) send_and_judge(std::to_string(job));
  server->jobs.reconcile_open();
  EXPECT_EQ(server->jobs.count_in_memory(), 20);
}

TEST_F(MemoryOfJobs, SufficesForAStartWithMoreJobsThanFit) {
  std::vector<std::string> all;
  for (char job = 'a'; job <= 'j'; ++job) send_and_judge(all.emplace_back(1, job));
  const auto verdicts = server->jobs.count_by_verdict();
  restart();
  EXPECT_LT(server->jobs.count_in_memory(), 5);
  EXPECT_EQ(server->jobs.count_unread(), 0);
  EXPECT_EQ(server->jobs.count_by_verdict(), verdicts);
  for (const std::string& job : all) EXPECT_TRUE(is_told_of(job)) << job;
  EXPECT_LT(server->jobs.count_in_memory(), 5);
}

TEST_F(MemoryOfJobs, SufficesForListsOfJobsThatWereNotReadSinceTheStart) {
  send_and_judge("a");
  taken_by_others = 2000;
  restart();
  EXPECT_EQ(server->jobs.overview("a")->verdict, Verdict::unknown);
}

// Jobs on the same hosts ask each other what failed there before.
TEST_F(MemoryOfJobs, SufficesForJobsThatAskEachOther) {
  std::vector<std::string> all;
  for (char job = 'a'; job <= 'f'; ++job) send_and_judge(all.emplace_back(1, job));
  taken_by_others = kBudget - kOfJob - 1;  // there is room for two of them
  restart();
  EXPECT_TRUE(eventually([&] {
    server->jobs.reconcile_open();
    return server->jobs.count_unread() == 0;
  }));
  for (const std::string& job : all)
    EXPECT_TRUE(eventually([&] { return is_told_of(job); })) << job;
}

// A reader may have been told first.
TEST_F(MemoryOfJobs, IsNotFreedOfAJobBeforeItsFindingsAreStored) {
  server->jobs.memory().set_most(10 * kBudget);
  send_and_judge("a");
  send_and_judge("b");
  const auto stored = [&] { return server->store.findings({.job = "a"}).findings.size(); };
  const std::size_t before = stored();
  ASSERT_EQ(send("a", 2), "");
  ASSERT_TRUE(is_told_of("a"));
  ASSERT_EQ(stored(), before);
  server->jobs.memory().set_most(kBudget);
  taken_by_others = 2000;
  EXPECT_TRUE(eventually([&] {
    server->jobs.prepare("b");
    return !server->jobs.is_in_memory("a");
  }));
  taken_by_others = 0;
  EXPECT_TRUE(eventually([&] {
    server->jobs.reconcile_open();
    return stored() > before;
  }));
}

TEST_F(MemoryOfJobs, IsNotTakenAgainByListsAndByTime) {
  for (char job = 'a'; job <= 'f'; ++job) send_and_judge(std::string(1, job));
  server->jobs.reconcile_open();
  const std::vector<std::string> before = in_memory();
  ASSERT_LT(before.size(), 4);
  for (int i = 0; i < 3; ++i) {
    for (const std::string& job : server->jobs.names())
      EXPECT_THAT(server->jobs.overview(job)->cause, HasSubstr("fell off the bus")) << job;
    server->jobs.hosts();
    server->jobs.reconcile_open();
  }
  EXPECT_THAT(in_memory(), before);
}

TEST_F(MemoryOfJobs, IsNotTakenAgainForASenderThatSaysNothing) {
  for (char job = 'a'; job <= 'f'; ++job) send_and_judge(std::string(1, job));
  const auto lease = server->jobs.open_sources().take("a", "kern.log", [] {});
  server->jobs.reconcile_open();
  ASSERT_FALSE(server->jobs.is_in_memory("a"));
  server->jobs.reconcile_open();
  EXPECT_FALSE(server->jobs.is_in_memory("a"));
  EXPECT_EQ(send("a", 1), "");
  EXPECT_TRUE(server->jobs.is_in_memory("a"));
}

TEST_F(MemoryOfJobs, MakesALargeJobWaitUntilThereIsSome) {
  send_and_judge("a");
  taken_by_others = 2000;
  server->jobs.reconcile_open();
  ASSERT_THAT(in_memory(), IsEmpty());
  EXPECT_THROW(server->jobs.diagnosis("a"), LacksMemory);
  EXPECT_TRUE(waits("a"));
  EXPECT_EQ(server->jobs.count_lacking_memory(), 1);
  EXPECT_THAT(server->jobs.overview("a")->cause, HasSubstr("fell off the bus"))
      << "lists need no memory";
  server->jobs.prepare("a");
  server->jobs.reconcile_open();
  EXPECT_THAT(in_memory(), IsEmpty());
  taken_by_others = 0;
  EXPECT_TRUE(eventually([&] { return is_told_of("a"); }));
  EXPECT_FALSE(waits("a"));
}

TEST_F(MemoryOfJobs, RefusesLinesThatItDoesNotStore) {
  send_and_judge("a");
  taken_by_others = 2000;
  server->jobs.reconcile_open();
  EXPECT_THAT(send("a", 5), HasSubstr("all jobs together take as much memory"));
  EXPECT_EQ(server->store.source("a", "kern.log")->position.offset, 2);
  taken_by_others = 0;
  EXPECT_TRUE(eventually([&] { return send("a", 5).empty(); }));
  EXPECT_EQ(server->jobs.source_state("a", "kern.log")->lines, 7);
}

TEST_F(MemoryOfJobs, AtTheLimitIsEnoughToReadAJobThatGrewUpToIt) {
  send_and_judge("a");
  taken_by_others = kBudget / 16 * 17;
  server->jobs.reconcile_open();
  ASSERT_THAT(in_memory(), IsEmpty());
  of_job = 0;
  EXPECT_TRUE(is_told_of("a"));
}

TEST_F(MemoryOfJobs, AsksALargeJobToTakeNoMoreLinesAndASmallOneToGoOn) {
  constexpr std::uint64_t kManyBytes = std::uint64_t{4} << 20;
  server->jobs.memory().set_most(kManyBytes);
  ASSERT_EQ(send("large", 200), "");
  ASSERT_EQ(send("small", 1), "");
  EXPECT_FALSE(waits("large"));
  taken_by_others = 2 * kManyBytes;
  EXPECT_TRUE(waits("large"));
  EXPECT_FALSE(waits("small"));
  EXPECT_TRUE(server->jobs.is_prepared("small"));
  EXPECT_EQ(send("small", 1), "");
  server->jobs.reconcile("large");
  EXPECT_TRUE(come_to_be_in_memory({"small"}));
  EXPECT_TRUE(is_told_of("small"));
}

TEST_F(MemoryOfJobs, IsNotKeptByAJobThatIsSetAside) {
  settings.limits = {.processes = 3};
  restart();
  ASSERT_EQ(send("a", 3), "");
  ASSERT_THAT(send("a", 1), HasSubstr("more than 3 processes"));
  const std::string summary = server->jobs.diagnosis("a")->summary;
  taken_by_others = 2000;
  EXPECT_TRUE(come_to_be_in_memory({}));
  EXPECT_EQ(server->jobs.overview("a")->verdict, Verdict::unknown);
  EXPECT_EQ(server->jobs.count_set_aside(), 1);
  EXPECT_TRUE(server->jobs.known_as_set_aside("a"));
  EXPECT_FALSE(waits("a")) << "it takes no more lines, however much memory there is";
  taken_by_others = 0;
  EXPECT_EQ(server->jobs.diagnosis("a")->summary, summary);
}

TEST_F(MemoryOfJobs, IsNotLackedByAStartThatCannotReadAJobForEver) {
  send_and_judge("a");
  taken_by_others = 2000;
  restart();
  EXPECT_EQ(server->jobs.count_unread(), 1);
  taken_by_others = 0;
  EXPECT_TRUE(eventually([&] {
    server->jobs.reconcile_open();
    return server->jobs.count_unread() == 0;
  }));
  EXPECT_THAT(server->jobs.overview("a")->cause, HasSubstr("fell off the bus"));
}

}  // namespace
}  // namespace faultline
