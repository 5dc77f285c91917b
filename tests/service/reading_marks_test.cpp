// Processes that die while they read jobs.
#include "service/reading_marks.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "eventually.h"
#include "workshop.h"

namespace faultline {
namespace {

using Mark = ReadingMarks::Mark;

constexpr std::chrono::milliseconds kAtOnce{1};
constexpr std::chrono::hours kNever{1};

class Deaths : public testing::Test {
 protected:
  // In a process of its own, which has to die of it.
  void die(std::chrono::milliseconds after, const std::function<void(ReadingMarks&)>& deed) {
    const pid_t child = fork();
    if (child == 0) {
      close(STDERR_FILENO);  // sanitizers tell of each death
      ReadingMarks marks(file, after);
      deed(marks);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "it lives";
  }

  void be_killed_reading(const std::vector<std::string>& jobs) {
    die(kAtOnce, [&](ReadingMarks& marks) {
      std::vector<std::thread> readers;
      for (const std::string& job : jobs)
        readers.emplace_back([&] {
          const Mark mark(marks, job);
          pause();
        });
      for (const std::string& job : jobs) await_mark(job);
      raise(SIGKILL);
    });
  }

  void await_mark(const std::string& job) const {
    eventually([&] { return read_file(file).find("reading " + job + "\n") != std::string::npos; });
  }

  Workshop workshop;
  const std::filesystem::path file = workshop.folder() / "reading";
};

TEST_F(Deaths, TwoInARowSetAsideTheJobThatWasBeingRead) {
  be_killed_reading({"a"});
  EXPECT_TRUE(ReadingMarks(file).is_suspected("a"));
  EXPECT_FALSE(ReadingMarks(file).is_set_aside("a"));
  be_killed_reading({"a"});
  EXPECT_FALSE(ReadingMarks(file).is_suspected("a"));
  EXPECT_TRUE(ReadingMarks(file).is_set_aside("a"));
}

TEST_F(Deaths, SetAsideNoJobThatWasReadBetweenThem) {
  be_killed_reading({"a"});
  {
    ReadingMarks marks(file);
    {
      const Mark mark(marks, "a");
    }
    marks.acquit("a");
  }
  be_killed_reading({"a"});
  EXPECT_TRUE(ReadingMarks(file).is_suspected("a"));
  EXPECT_FALSE(ReadingMarks(file).is_set_aside("a"));
}

TEST_F(Deaths, SetAsideNoJobThatWasMerelyReadAtTheSameTime) {
  be_killed_reading({"a", "b"});
  die(kAtOnce, [&](ReadingMarks& marks) {
    {
      const Mark mark(marks, "b");
    }
    marks.acquit("b");
    const Mark mark(marks, "a");
    await_mark("a");
    raise(SIGKILL);
  });
  const ReadingMarks marks(file);
  EXPECT_TRUE(marks.is_set_aside("a"));
  EXPECT_FALSE(marks.is_suspected("b"));
  EXPECT_FALSE(marks.is_set_aside("b"));
}

TEST_F(Deaths, ByAKillSayNothingOfAJobThatWasBeingReadForAMoment) {
  die(kNever, [](ReadingMarks& marks) {
    const Mark mark(marks, "a");
    raise(SIGKILL);
  });
  EXPECT_FALSE(ReadingMarks(file).is_suspected("a"));
}

TEST_F(Deaths, ByACrashBlameTheJobOfTheThreadThatCrashed) {
  die(kNever, [](ReadingMarks& marks) {
    std::atomic<bool> is_marked = false;
    std::thread beside([&] {
      const Mark mark(marks, "beside");
      is_marked = true;
      pause();
    });
    eventually([&] { return is_marked.load(); });
    const Mark mark(marks, "a");
    std::abort();
  });
  EXPECT_TRUE(ReadingMarks(file).is_suspected("a"));
  // It is read alone now.
  die(kNever, [](ReadingMarks& marks) {
    const Mark mark(marks, "a");
    raise(SIGSEGV);
  });
  const ReadingMarks marks(file);
  EXPECT_TRUE(marks.is_set_aside("a"));
  EXPECT_FALSE(marks.is_suspected("beside"));
}

TEST_F(Deaths, ByACrashOfAnotherThreadSayNothingOfTheJob) {
  die(kAtOnce, [&](ReadingMarks& marks) {
    std::thread reader([&] {
      const Mark mark(marks, "a");
      pause();
    });
    await_mark("a");
    std::abort();
  });
  EXPECT_FALSE(ReadingMarks(file).is_suspected("a"));
}

TEST_F(Deaths, OfAServerThatWasAskedToEndSayNothing) {
  die(kAtOnce, [&](ReadingMarks& marks) {
    const Mark mark(marks, "a");
    await_mark("a");
    marks.withdraw();
    raise(SIGKILL);
  });
  EXPECT_FALSE(ReadingMarks(file).is_suspected("a"));
}

TEST_F(Deaths, AreForgivenOnceAnOperatorSaysSo) {
  workshop.write("reading", "set-aside a\n");
  {
    ReadingMarks marks(file);
    EXPECT_FALSE(marks.try_again("b"));
    EXPECT_TRUE(marks.try_again("a"));
    EXPECT_FALSE(marks.is_set_aside("a"));
  }
  be_killed_reading({"a"});
  EXPECT_TRUE(ReadingMarks(file).is_set_aside("a")) << "the next one is enough";
}

TEST_F(Deaths, LeaveNothingBehindThatNobodyDiedOf) {
  {
    ReadingMarks marks(file, kAtOnce);
    const Mark mark(marks, "a");
    await_mark("a");
  }
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(Deaths, LetASuspectedJobBeReadAlone) {
  workshop.write("reading", "suspected a\n");
  ReadingMarks marks(file);
  std::atomic<int> at_once = 0;
  std::atomic<int> beside_it = 0;
  std::vector<std::thread> readers;
  for (const std::string job : {"a", "b", "c", "a", "d"})
    readers.emplace_back([&, job] {
      for (int i = 0; i < 100; ++i) {
        const Mark mark(marks, job);
        ++at_once;
        for (int looks = 0; looks < 3; ++looks) {
          if (job == "a" && at_once > 1) ++beside_it;
          std::this_thread::yield();
        }
        --at_once;
      }
    });
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(beside_it, 0);
}

}  // namespace
}  // namespace faultline
