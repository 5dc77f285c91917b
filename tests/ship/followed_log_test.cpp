// The files of one log as one stream: whatever becomes of them, each line comes once, in its order.
#include "ship/followed_log.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "workshop.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

// A program that writes a log, and what rotates it.
class WrittenLog {
 public:
  // `banner`: what the program writes first into each file that it opens.
  explicit WrittenLog(const fs::path& folder, std::string banner = {})
      : path_(folder / "nccl.log"), banner_(std::move(banner)) {
    open();
  }

  void write(int lines) {
    for (int i = 0; i < lines; ++i) {
      const std::string line =
          fmt::format("gpu-7:4711:4711 [0] NCCL INFO AllReduce: opCount {:x}\n", number_++);
      file_ << line;
      all_ += line;
    }
    file_.flush();
  }

  // The file gets another name, and the program opens a new one.
  void rename(bool packed) {
    make_room();
    fs::rename(path_, part(1));
    open();
    if (packed) pack();
  }

  // The program does not learn of it before it has written a few more lines.
  void rename_early() {
    make_room();
    fs::rename(path_, part(1));
    write(3);
    open();
  }

  void copy_and_truncate(bool packed) {
    make_room();
    fs::copy_file(path_, part(1));
    fs::resize_file(path_, 0);
    if (packed) pack();
  }

  // A program puts a longer copy in its place.
  void replace() {
    fs::copy_file(path_, path_.string() + ".tmp-copy");
    fs::rename(path_.string() + ".tmp-copy", path_);
    open();
  }

  // The file goes to another folder.
  void move_away() {
    const fs::path away = path_.parent_path() / "old";
    fs::create_directories(away);
    fs::rename(path_, away / std::to_string(number_));
    open();
  }

  // The newest of the older files goes.
  void forget_newest() { fs::remove(part(1)); }

  // By the program itself: what was not read is gone.
  void truncate() { fs::resize_file(path_, 0); }
  void remove() {
    fs::remove(path_);
    open();
  }

  // The oldest files go.
  void forget_old() {
    for (int age = 4; age < 100; ++age) {
      fs::remove(part(age));
      fs::remove(part(age).string() + ".gz");
    }
  }

  const std::string& all() const { return all_; }
  std::string path() const { return path_.string(); }

 private:
  void open() {
    file_.close();
    file_.open(path_, std::ios::app | std::ios::binary);
    if (fs::exists(path_) && fs::file_size(path_) > 0) return;
    file_ << banner_ << std::flush;
    all_ += banner_;
  }
  fs::path part(int age) const { return fmt::format("{}.{}", path_.string(), age); }

  void make_room() {
    for (int age = 99; age > 0; --age)
      for (const char* packing : {"", ".gz"})
        if (fs::exists(part(age).string() + packing))
          fs::rename(part(age).string() + packing, part(age + 1).string() + packing);
  }

  void pack() { EXPECT_EQ(std::system(fmt::format("gzip -f '{}'", part(1).string()).c_str()), 0); }

  fs::path path_;
  std::string banner_;
  std::ofstream file_;
  std::string all_;
  int number_ = 0;
};

// What the agent does with a log, and what the server has of it.
class Follower {
 public:
  // `rest`: how long a renamed file is waited for.
  Follower(std::string path, const fs::path& folder, std::chrono::milliseconds rest = {})
      : folder_(folder), rest_(rest) {
    place_.path = std::move(path);
    begin();
  }

  // Takes what there is.
  void read() {
    for (int idle = 0; idle < 15;) {
      const std::optional<StreamPiece> piece = log_->take(1000, true);
      if (!piece) {
        ++idle;
        continue;
      }
      idle = 0;
      ASSERT_EQ(piece->from, stream_.size());
      stream_ += piece->bytes;
    }
  }

  // Takes what there is also behind renamed files.
  void read_all(std::size_t size) {
    for (int tries = 0; tries < 100 && stream_.size() < size; ++tries) {
      read();
      std::this_thread::sleep_for(rest_);
    }
  }

  // The agent ends, and another goes on. Of what was read last the server may have nothing.
  void restart(std::uint64_t lost) {
    place_ = log_->saved();
    place_.acknowledged = stream_.size() - std::min<std::uint64_t>(lost, stream_.size());
    stream_.resize(place_.acknowledged);
    begin();
  }

  void rewind(std::uint64_t offset) {
    stream_.resize(offset);
    EXPECT_TRUE(log_->rewind(offset));
  }

  FollowedLog& log() { return *log_; }
  const std::string& stream() const { return stream_; }

 private:
  void begin() {
    log_.emplace(place_, place_.acknowledged,
                 FollowSettings{.folder = folder_.string(),
                                .rest = rest_,
                                .for_copy = std::chrono::milliseconds{0},
                                .between_looks = std::chrono::milliseconds{0},
                                .between_looks_on = std::chrono::milliseconds{0}});
  }

  fs::path folder_;
  std::chrono::milliseconds rest_;
  ReaderState place_;
  std::optional<FollowedLog> log_;
  std::string stream_;
};

class FollowedLogs : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(logs); }

  Workshop workshop;
  const fs::path logs = workshop.folder() / "logs";
  WrittenLog written{(fs::create_directories(logs), logs)};
};

TEST_F(FollowedLogs, GiveEachLineOnceThroughAnyRotationAndAnyRestart) {
  const char* more = std::getenv("FAULTLINE_ROTATIONS");
  const int seeds = more == nullptr ? 25 : std::atoi(more);
  for (int seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(seed);
    const fs::path folder = workshop.folder() / std::to_string(seed);
    fs::create_directories(folder);
    WrittenLog log(folder, seed % 3 == 0 ? std::string(300, '#') + "\n" : "");
    Follower follower(log.path(), workshop.folder());
    std::minstd_rand random(static_cast<unsigned>(seed));
    log.write(5);
    follower.read();
    std::string done;
    // Of what was truncated, renamed and packed nothing is gone; but what is read again from files
    // must still lie there.
    for (int step = 0; step < 30; ++step) {
      const auto what = static_cast<int>(random() % 9);
      done += fmt::format(" {}", what);
      SCOPED_TRACE(done);
      switch (what) {
        case 0:
          log.rename(false);
          break;
        case 1:
          log.rename(true);
          break;
        case 2:
          log.rename_early();
          break;
        case 3:
          log.copy_and_truncate(false);
          break;
        case 4:
          log.copy_and_truncate(true);
          break;
        case 5:
          follower.restart(random() % 400U);
          break;
        case 6:
          log.replace();
          break;
        default:
          break;
      }
      // A file of which nothing was ever read cannot be known again.
      log.write(static_cast<int>(random() % 20) + 3);
      const bool reads = random() % 3 != 0;
      if (reads) follower.read();
      done += reads ? "r" : "";
      if (reads) {
        ASSERT_EQ(follower.stream().size(), log.all().size()) << done;
      }
      if (testing::Test::HasFatalFailure()) return;
    }
    follower.read();
    ASSERT_EQ(follower.stream().size(), log.all().size()) << done;
    ASSERT_TRUE(follower.stream() == log.all()) << done;
    EXPECT_THAT(follower.log().take_remarks(), testing::IsEmpty());
  }
}

// A renamed file is waited for, so files that are rotated on meanwhile are held open behind it.
// Some are deleted then.
TEST_F(FollowedLogs, GiveEachLineOnceOfFilesThatAreRotatedWhileTheyWait) {
  const char* more = std::getenv("FAULTLINE_ROTATIONS");
  const int seeds = more == nullptr ? 25 : std::atoi(more);
  for (int seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(seed);
    const fs::path folder = workshop.folder() / std::to_string(seed);
    fs::create_directories(folder);
    WrittenLog log(folder);
    Follower follower(log.path(), workshop.folder(), std::chrono::milliseconds{5});
    std::minstd_rand random(static_cast<unsigned>(seed));
    log.write(5);
    follower.read();
    std::string done;
    for (int step = 0; step < 30; ++step) {
      const auto what = static_cast<int>(random() % 6);
      const bool forgets = random() % 3 == 0;
      done += fmt::format(" {}{}", what, forgets ? "f" : "");
      SCOPED_TRACE(done);
      follower.read();
      if (what == 0) log.rename(forgets || random() % 2 == 0);
      if (what == 1) log.rename(true);
      if (what == 2) {
        log.rename(false);
        follower.read();
        if (forgets) log.forget_newest();
      }
      if (what == 3) follower.read_all(log.all().size());
      log.write(static_cast<int>(random() % 20) + 3);
      if (testing::Test::HasFatalFailure()) return;
    }
    follower.read_all(log.all().size());
    ASSERT_EQ(follower.stream().size(), log.all().size()) << done;
    ASSERT_TRUE(follower.stream() == log.all()) << done;
    EXPECT_THAT(follower.log().take_remarks(), testing::IsEmpty());
  }
}

TEST_F(FollowedLogs, ReadFilesThatWereMovedToAnotherFolderWhileTheyWait) {
  Follower follower(written.path(), workshop.folder(), std::chrono::milliseconds{50});
  for (int i = 0; i < 4; ++i) {
    written.write(10);
    follower.read();
    written.move_away();
  }
  written.write(10);
  follower.read_all(written.all().size());
  EXPECT_EQ(follower.stream(), written.all());
  EXPECT_THAT(follower.log().take_remarks(), testing::IsEmpty());
}

TEST_F(FollowedLogs, SayThatLinesAreGoneAndGoOnBehindAWholeLine) {
  Follower follower(written.path(), workshop.folder());
  written.write(10);
  follower.read();
  std::ofstream(written.path(), std::ios::app) << "half a li";
  follower.read();
  written.truncate();
  const std::string before = follower.stream();
  const std::size_t size = written.all().size();
  written.write(4);
  follower.read();
  EXPECT_THAT(follower.log().take_remarks(), testing::ElementsAre(testing::HasSubstr("is lost")));
  EXPECT_EQ(follower.stream(), before + "\n" + written.all().substr(size));
}

// The agent may not take anything for long, because enough waits for the server.
TEST_F(FollowedLogs, GoOnWithWhatIsLeftOfFilesThatWereRotatedUnreadAndTellWhatIsGone) {
  for (const int way : {0, 1, 2, 3, 4, 5, 6, 7}) {
    const bool copies = (way & 1) != 0;
    const bool packed = (way & 2) != 0;
    const bool has_banner = (way & 4) != 0;
    SCOPED_TRACE(fmt::format("copies {}, packed {}, banner {}", copies, packed, has_banner));
    const fs::path folder = workshop.folder() / std::to_string(way);
    fs::create_directories(folder);
    WrittenLog log(folder, has_banner ? std::string(300, '#') + "\n" : "");
    Follower follower(log.path(), workshop.folder());
    log.write(10);
    follower.read();
    const std::size_t read = log.all().size();
    std::vector<std::size_t> ends;  // of what was rotated
    const auto rotate = [&] {
      log.write(10);
      follower.log().look_on();
      ends.push_back(log.all().size());
      copies ? log.copy_and_truncate(packed) : log.rename(packed);
      follower.log().look_on();
    };
    for (int i = 0; i < 8; ++i) rotate();
    log.forget_old();
    log.write(10);
    follower.read();
    // What was open is read to its end, although it is deleted.
    const std::size_t first = copies ? read : ends.front();
    const std::size_t gone = ends[4] - first;
    EXPECT_EQ(follower.stream(), log.all().substr(0, first) + log.all().substr(ends[4]));
    const std::vector<std::string> remarks = follower.log().take_remarks();
    ASSERT_FALSE(remarks.empty());
    EXPECT_EQ(remarks.back(), fmt::format("{} bytes in {} files, which were rotated away before "
                                          "they could be taken, are lost",
                                          gone, copies ? 5 : 4));
    log.rename(packed);
    log.write(10);
    follower.read();
    EXPECT_TRUE(follower.stream().ends_with(log.all().substr(ends[4])));
    EXPECT_THAT(follower.log().take_remarks(), testing::IsEmpty());
  }
}

// What is noted of a file may be less than what is read of it later.
TEST_F(FollowedLogs, TellOfNoFileThatWasReadAndDeletedLater) {
  Follower follower(written.path(), workshop.folder());
  written.write(10);
  follower.read();
  written.rename(false);
  written.write(1);
  follower.log().look_on();
  follower.read();
  for (int i = 0; i < 3; ++i) {
    written.write(20);
    follower.read();
    written.rename(false);
    written.write(10);
    follower.read();
    written.forget_newest();
  }
  EXPECT_EQ(follower.stream(), written.all());
  EXPECT_THAT(follower.log().take_remarks(), testing::IsEmpty());
}

TEST_F(FollowedLogs, TellOfAFileThatCameAndWentAndDoNotHoldItOpen) {
  const fs::path path = logs / "gone.log";
  std::ofstream(path) << "first\n";
  Follower follower(path, workshop.folder());
  follower.read();
  fs::remove(path);
  follower.read();
  std::ofstream(path) << std::string(99, 'x') << '\n';
  follower.log().look_on();
  fs::remove(path);
  follower.log().look_on();
  for (const fs::directory_entry& open : fs::directory_iterator("/proc/self/fd")) {
    std::error_code closed_meanwhile;
    EXPECT_THAT(fs::read_symlink(open.path(), closed_meanwhile).string(),
                testing::Not(testing::HasSubstr("gone.log")));
  }
  std::ofstream(path) << "last\n";
  follower.read();
  EXPECT_EQ(follower.stream(), "first\nlast\n");
  EXPECT_THAT(follower.log().take_remarks(),
              testing::ElementsAre(testing::HasSubstr("100 bytes in 1 files")));
}

// Such as out.log.3, the log of a rank, when an out.log comes.
TEST_F(FollowedLogs, KeepToTheirFileWhenAnotherLogHasTheirName) {
  Follower follower(written.path(), workshop.folder());
  written.write(10);
  follower.read();
  follower.log().keep_to_open_files();
  std::string all = written.all();
  // The job begins again.
  written.truncate();
  const std::size_t size = written.all().size();
  written.write(5);
  follower.read();
  all += written.all().substr(size);
  EXPECT_EQ(follower.stream(), all);
  follower.restart(0);
  follower.log().keep_to_open_files();
  written.rename(false);
  written.write(7);
  follower.read();
  EXPECT_EQ(follower.stream(), all);
  EXPECT_FALSE(follower.log().is_gone());
  written.forget_newest();
  follower.read();
  EXPECT_EQ(follower.stream(), all);
  EXPECT_TRUE(follower.log().is_gone());
}

TEST_F(FollowedLogs, PassTheHoleThatAProgramLeavesThatDoesNotAppend) {
  std::ofstream file(logs / "held.log", std::ios::binary);
  Follower follower(logs / "held.log", workshop.folder());
  const std::string line = "a line that is long enough to be told from the others by its end\n";
  for (int i = 0; i < 2000; ++i) file << line << i << '\n';
  file.flush();
  follower.read();
  const std::string before = follower.stream();
  fs::copy_file(logs / "held.log", logs / "held.log.1");
  fs::resize_file(logs / "held.log", 0);
  file << "the first line behind the hole\n";
  file.flush();
  follower.read();
  EXPECT_EQ(follower.stream(), before + "the first line behind the hole\n");
}

TEST_F(FollowedLogs, ReadADeletedFileToItsEnd) {
  Follower follower(written.path(), workshop.folder());
  written.write(10);
  follower.read();
  written.write(10);
  written.remove();
  written.write(10);
  follower.read();
  EXPECT_EQ(follower.stream(), written.all());
}

TEST_F(FollowedLogs, GoBackToWhatAServerHasOfOlderFiles) {
  Follower follower(written.path(), workshop.folder());
  written.write(10);
  for (const bool packed : {false, true, false}) {
    follower.read();
    written.rename(packed);
    written.write(10);
  }
  follower.read();
  for (const std::size_t held : {std::size_t{0}, written.all().size() / 3, written.all().size()}) {
    follower.rewind(held);
    follower.read();
    EXPECT_EQ(follower.stream().size(), written.all().size());
    EXPECT_TRUE(follower.stream() == written.all()) << held;
  }
}

TEST_F(FollowedLogs, PassWhatAServerHasOnlyIfItIsTheirBeginning) {
  written.write(100);
  written.rename(true);
  written.write(100);
  Follower follower(written.path(), workshop.folder());
  const std::string& all = written.all();
  const std::uint64_t held = all.size() - 1000;
  HeldProof proof{.from = all.size() / 2 - 500, .to = held - 10};
  proof.digest = mark_of(std::string_view(all).substr(proof.from, proof.to - proof.from)).digest;
  ASSERT_TRUE(follower.log().pass_held(held, proof));
  const std::optional<StreamPiece> piece = follower.log().take(10'000, true);
  ASSERT_TRUE(piece);
  EXPECT_EQ(piece->from, held);
  EXPECT_EQ(piece->bytes, all.substr(held));
  proof.digest ^= 1;
  EXPECT_FALSE(follower.log().pass_held(held, proof));
  EXPECT_FALSE(follower.log().pass_held(held, std::nullopt));
  EXPECT_FALSE(
      follower.log().pass_held(all.size() + 1, HeldProof{.from = 0, .to = all.size() + 1}));
}

}  // namespace
}  // namespace faultline
