// What a server still stores while it ends.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <utility>

#include "committed.h"
#include "rules/knowledge/live_catalog.h"
#include "service/live_jobs.h"
#include "workshop.h"

namespace faultline {
namespace {

struct StoppableServer {
  StoppableServer(const std::filesystem::path& file, bool stops) : store(file), stop(stops) {
    jobs.start(stop);
  }

  std::exception_ptr commit(std::uint64_t from, std::uint64_t to) {
    Commit commit{.source = {.job = "llama", .name = "kern.log", .host = "n7"}};
    commit.received = Timestamp(std::chrono::hours(24 * 21'000));
    commit.batch.lines = 1;
    commit.batch.first_line = from == 0 ? 1 : 2;
    commit.batch.from_offset = from;
    commit.batch.to_offset = commit.position.offset = to;
    commit.fingerprint = {from, to - from, 1, 1, true};
    return committed(jobs, std::move(commit));
  }

  Store store;
  LiveCatalog catalog{load_catalog()};
  Metrics metrics;
  std::atomic<bool> stop;
  LiveJobs jobs{store, catalog, metrics};
};

// Syslog's senders do not send again, so a job must not lose lines because it is not in memory.
TEST(Stop, StoresLinesOfAJobThatIsNotInMemory) {
  const Workshop workshop;
  const std::filesystem::path file = workshop.folder() / "f.db";
  EXPECT_FALSE(StoppableServer(file, false).commit(0, 100));
  {
    StoppableServer ending(file, true);
    ASSERT_FALSE(ending.jobs.is_prepared("llama"));
    EXPECT_FALSE(ending.commit(100, 200));
    EXPECT_FALSE(ending.jobs.is_prepared("llama"));
  }
  StoppableServer next(file, false);
  const auto source = next.jobs.source_state("llama", "kern.log");
  ASSERT_TRUE(source);
  EXPECT_EQ(next.jobs.settled_source("llama", "kern.log")->position.offset, 200);
}

}  // namespace
}  // namespace faultline
