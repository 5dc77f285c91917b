// What a store promises when its process dies, and when its disk fills up.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "commits.h"
#include "store/store.h"
#include "temporary_folder.h"

namespace faultline {
namespace {

constexpr std::uint64_t kSources = 4;

std::string source_name(std::uint64_t source) { return "source" + std::to_string(source); }

// A commit that parent and child can each make themselves.
Commit known_commit(std::uint64_t source, std::uint64_t index) {
  RandomBatches random(static_cast<std::uint32_t>(source * 100'000 + index));
  return nth_commit(random, source_name(source), index);
}

struct Acknowledged {
  std::uint64_t source;
  std::uint64_t index;
};

// Runs in the child: continues from the last stored commit until it is killed.
[[noreturn]] void commit_until_killed(const std::filesystem::path& file, int pipe) {
  Store store(file);
  std::uint64_t next[kSources] = {};
  for (std::uint64_t source = 0; source < kSources; ++source)
    if (const auto stored = store.source("llama", source_name(source)))
      next[source] = stored->position.offset / kStep;
  for (std::uint64_t turn = 0;; ++turn) {
    const std::uint64_t source = turn % kSources;
    const std::uint64_t index = next[source]++;
    store.submit(known_commit(source, index),
                 [=](const std::shared_ptr<const Commit>&, std::exception_ptr failure) {
                   const Acknowledged acknowledged{source, index};
                   if (failure || write(pipe, &acknowledged, sizeof acknowledged) < 0) _exit(1);
                 });
    while (store.pending() > 20) usleep(100);
  }
}

TEST(Crash, KeepsEveryAcknowledgedCommitOnceAndInOrder) {
  const TemporaryFolder folder;
  const auto file = folder / "f.db";
  std::vector<std::uint64_t> acknowledged(kSources);  // the number for each source
  RandomBatches random(11);
  for (int life = 0; life < 10; ++life) {
    SCOPED_TRACE(life);
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) commit_until_killed(file, ends[1]);
    close(ends[1]);
    Acknowledged last{};
    const std::uint64_t lifetime = 1 + random.number(60);
    for (std::uint64_t i = 0; i < lifetime; ++i) {
      ASSERT_EQ(read(ends[0], &last, sizeof last), static_cast<ssize_t>(sizeof last));
      ASSERT_EQ(last.index, acknowledged[last.source]++) << "in order";
    }
    kill(child, SIGKILL);
    // Commits that it acknowledged before it died count, too.
    while (read(ends[0], &last, sizeof last) == static_cast<ssize_t>(sizeof last))
      ++acknowledged[last.source];
    close(ends[0]);
    waitpid(child, nullptr, 0);

    Store store(file);
    std::vector<std::uint64_t> stored(kSources);
    for (const StoredBatch& replayed : replay_all(store)) {
      const std::uint64_t source = replayed.source.name.back() - static_cast<unsigned>('0');
      ASSERT_LT(source, kSources);
      expect_stored(replayed, known_commit(source, stored[source]++));
    }
    for (std::uint64_t source = 0; source < kSources; ++source) {
      EXPECT_GE(stored[source], acknowledged[source]) << source;
      // These were committed, but the child was killed before it acknowledged them.
      acknowledged[source] = stored[source];
      const auto position = store.source("llama", source_name(source));
      EXPECT_EQ(position ? position->position.offset : 0, stored[source] * kStep);
    }
  }
}

// Runs in a child, because the limit applies to the whole process. Its exit status says which step
// failed.
[[noreturn]] void fill_the_disk(const std::filesystem::path& file) {
  signal(SIGXFSZ, SIG_IGN);  // then writing fails with EFBIG
  Store store(file);
  RandomBatches random(12);
  if (!outcome(store, nth_commit(random, "a", 0)).empty()) _exit(1);
  const rlim_t now = std::filesystem::file_size(file.string() + "-wal");
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = now + 8192;
  setrlimit(RLIMIT_FSIZE, &limit);
  Commit large = nth_commit(random, "a", 1);
  large.batch.speakers.push_back({.host = random.bytes(1 << 20) + random.bytes(1 << 20)});
  if (outcome(store, large).empty()) _exit(2);
  if (outcome(store, large).empty()) _exit(3);
  if (store.source("llama", "a")->position.offset != kStep) _exit(4);
  if (replay_all(store).size() != 1) _exit(5);

  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_FSIZE, &limit);
  if (!outcome(store, large).empty()) _exit(6);
  if (!outcome(store, nth_commit(random, "a", 2)).empty()) _exit(7);
  if (replay_all(store).size() != 3) _exit(8);
  _exit(0);
}

TEST(FullDisk, IsReportedAndGotOver) {
  const TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) fill_the_disk(folder / "f.db");
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  Store store(folder / "f.db");
  EXPECT_EQ(replay_all(store).size(), 3u);
}

}  // namespace
}  // namespace faultline
