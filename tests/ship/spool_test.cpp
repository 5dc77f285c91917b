#include "ship/spool.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>

#include "workshop.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

LogTarget log_named(const std::string& name) {
  return {.job = "llama", .host = "gpu-7", .source = name};
}

class Spools : public testing::Test {
 protected:
  // A piece of `size` bytes that says where it lies.
  static SpooledPiece piece_of(const std::string& name, std::uint64_t from, std::size_t size) {
    std::string bytes = name + std::to_string(from) + ";";
    bytes.resize(size, '.');
    return {.target = log_named(name), .from = from, .to = from + size, .packed = bytes};
  }

  fs::path only_segment() const {
    for (const auto& entry : fs::directory_iterator(workshop.folder())) return entry.path();
    return {};
  }

  Workshop workshop;
};

TEST_F(Spools, GivesTheLogsInTurnAndWhatFollowsEachOtherAsOneBody) {
  Spool spool(workshop.folder(), {});
  spool.put(piece_of("a", 0, 10));
  spool.put(piece_of("a", 10, 10));
  spool.put(piece_of("b", 0, 10));
  spool.put(piece_of("a", 25, 10));  // not behind the one before
  std::optional<Shipment> body = spool.next();
  ASSERT_TRUE(body);
  EXPECT_EQ(body->target.source, "a");
  EXPECT_EQ(body->to, 20U);
  EXPECT_EQ(body->body.size(), 20U);
  EXPECT_EQ(spool.next()->target.source, "b");
  EXPECT_EQ(spool.next()->from, 0U) << "nothing is taken out before it is sent";
  spool.done(log_named("a"), 20);
  EXPECT_EQ(spool.next()->target.source, "b");
  EXPECT_EQ(spool.next()->from, 25U);
  spool.done(log_named("a"), 35);
  spool.done(log_named("b"), 10);
  EXPECT_TRUE(spool.empty());
  EXPECT_FALSE(spool.next());
}

TEST_F(Spools, RemembersThatNothingFollows) {
  {
    Spool spool(workshop.folder(), {});
    SpooledPiece last = piece_of("a", 100, 100);
    last.final = true;
    spool.put(piece_of("a", 0, 100));
    spool.put(std::move(last));
    EXPECT_TRUE(spool.next()->final);
    spool.save();
  }
  Spool spool(workshop.folder(), {});
  EXPECT_TRUE(spool.next()->final);
  EXPECT_EQ(spool.next()->to, 200U);
}

TEST_F(Spools, HoldsBackALogThatHasToWait) {
  Spool spool(workshop.folder(), {});
  spool.put(piece_of("a", 0, 10));
  spool.put(piece_of("b", 0, 10));
  spool.hold(log_named("a"), Spool::Clock::now() + std::chrono::hours{1});
  EXPECT_EQ(spool.next()->target.source, "b");
  EXPECT_EQ(spool.next()->target.source, "b");
  spool.hold(log_named("a"), {});
  EXPECT_EQ(spool.next()->target.source, "a");
}

// Any order of putting, sending, stopping and crashing gives each byte once, in order.
TEST_F(Spools, KeepsTheOrderOfEachLogOnTheDiskAndAcrossRestarts) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const fs::path folder = workshop.folder() / std::to_string(seed);
    fs::create_directories(folder);
    const SpoolLimits limits{.memory = std::uint64_t{1} << 17};
    std::optional<Spool> spool;
    spool.emplace(folder, limits);
    std::minstd_rand random(seed);
    std::map<std::string, std::uint64_t> put;
    std::map<std::string, std::uint64_t> sent;
    const auto send = [&](int most) {
      for (int i = 0; i < most; ++i) {
        const std::optional<Shipment> body = spool->next();
        if (!body) return;
        std::uint64_t& at = sent[body->target.source];
        ASSERT_LE(body->from, at);
        at = std::max(at, body->to);
        spool->done(body->target, body->to);
      }
    };
    for (int step = 0; step < 300; ++step) {
      const std::string name(1, static_cast<char>('a' + random() % 3));
      switch (random() % 12) {
        case 0:
          send(static_cast<int>(random() % 20));
          break;
        case 1:
          if (random() % 2 == 0) spool->save();
          spool.reset();
          spool.emplace(folder, limits);
          // Whoever reads the logs goes on behind what was sent and what lies on the disk.
          for (auto& [log, end] : put)
            end = std::max(sent[log], spool->end_of(log_named(log)).value_or(0));
          break;
        default: {
          const std::size_t size = 1 + random() % 100'000;
          ASSERT_TRUE(spool->has_room(log_named(name)));
          spool->put(piece_of(name, put[name], size));
          put[name] += size;
        }
      }
      if (HasFatalFailure()) return;
    }
    send(100'000);
    EXPECT_EQ(sent, put);
    EXPECT_TRUE(spool->empty());
    EXPECT_EQ(spool->bytes_on_disk(), 0U);
    EXPECT_TRUE(fs::is_empty(folder));
  }
}

TEST_F(Spools, HasNoRoomWhenItsDiskIsFullAndLittleForALogThatIsRefused) {
  Spool spool(workshop.folder(), {.disk = 3 << 20, .of_a_refused_log = 1 << 20});
  spool.hold(log_named("a"), Spool::Clock::now() + std::chrono::hours{1});
  std::uint64_t at = 0;
  for (; spool.has_room(log_named("a")); at += 100'000) spool.put(piece_of("a", at, 100'000));
  EXPECT_NEAR(static_cast<double>(at), 1 << 20, 100'000);
  // The refused log's pieces lie between those of the others, and cost them nothing.
  std::uint64_t sent = 0;
  for (at = 0; at < 20'000'000; at += 100'000) {
    ASSERT_TRUE(spool.has_room(log_named("b")));
    spool.put(piece_of("b", at, 100'000));
    while (const std::optional<Shipment> body = spool.next()) {
      ASSERT_EQ(body->target.source, "b");
      spool.done(body->target, body->to);
      sent = body->to;
    }
  }
  EXPECT_EQ(sent, at);
  for (; spool.has_room(log_named("c")); at += 100'000) spool.put(piece_of("c", at, 100'000));
  EXPECT_FALSE(spool.has_room(log_named("b")));
  EXPECT_LE(spool.bytes_on_disk(), (std::uint64_t{3} << 20) + 200'000);
}

TEST_F(Spools, GivesWhatIsWholeOfATornFile) {
  {
    Spool spool(workshop.folder(), {});
    spool.put(piece_of("a", 0, 1000));
    spool.put(piece_of("a", 1000, 1000));
    spool.save();
  }
  fs::resize_file(only_segment(), fs::file_size(only_segment()) - 1);
  Spool spool(workshop.folder(), {});
  EXPECT_EQ(spool.end_of(log_named("a")), 1000U);
  EXPECT_EQ(spool.next()->to, 1000U);
  spool.put(piece_of("a", 1000, 500));
  spool.done(log_named("a"), 1000);
  EXPECT_EQ(spool.next()->to, 1500U);
}

TEST_F(Spools, ForgetsALogThatBeginsAgainAlsoOnTheDisk) {
  Spool spool(workshop.folder(), {});
  for (std::uint64_t at = 0; at < 4'000'000; at += 100'000) {
    spool.put(piece_of("a", at, 100'000));
    spool.put(piece_of("b", at, 100'000));
  }
  spool.drop(log_named("a"));
  EXPECT_FALSE(spool.end_of(log_named("a")));
  spool.put(piece_of("a", 7, 10));
  std::map<std::string, std::uint64_t> first;
  while (const std::optional<Shipment> body = spool.next()) {
    first.emplace(body->target.source, body->from);
    spool.done(body->target, body->to);
  }
  EXPECT_EQ(first, (std::map<std::string, std::uint64_t>{{"a", 7}, {"b", 0}}));
  EXPECT_TRUE(spool.empty());
}

// Where the files are gone, what waits here is all that is left of a log.
TEST_F(Spools, GivesALogAnotherPlaceWithoutLosingAnyOfIt) {
  Spool spool(workshop.folder(), {});
  for (std::uint64_t at = 5'000'000; at < 9'000'000; at += 100'000)
    spool.put(piece_of("a", at, 100'000));
  spool.put(piece_of("a", 9'000'000, 10));
  EXPECT_EQ(spool.move(log_named("a"), log_named("a#2"), 300), 300U + 4'000'010U);
  EXPECT_FALSE(spool.end_of(log_named("a")));
  EXPECT_EQ(spool.end_of(log_named("a#2")), 300U + 4'000'010U);
  std::uint64_t at = 300;
  while (const std::optional<Shipment> body = spool.next()) {
    EXPECT_EQ(body->target.source, "a#2");
    EXPECT_EQ(body->from, at);
    EXPECT_EQ(body->body.size(), body->to - body->from);
    at = body->to;
    spool.done(body->target, at);
  }
  EXPECT_EQ(at, 300U + 4'000'010U);
}

TEST_F(Spools, KeepsWhatWasReadApartFromLines) {
  SpooledPiece read = piece_of("a", 10, 10);
  read.reader = "v1";
  SpooledPiece by_another = piece_of("a", 20, 10);
  by_another.reader = "v2";
  {
    Spool spool(workshop.folder(), {});
    spool.put(piece_of("a", 0, 10));
    spool.put(read);
    spool.put(by_another);
    spool.put(piece_of("a", 30, 10));
    spool.save();
  }
  Spool spool(workshop.folder(), {});  // of the next agent
  for (const char* reader : {"", "v1", "v2", ""}) {
    const std::optional<Shipment> body = spool.next();
    ASSERT_TRUE(body);
    EXPECT_EQ(body->reader, reader);
    EXPECT_EQ(body->to - body->from, 10U);
    if (body->from == 20) break;
    spool.done(log_named("a"), body->to);
  }
  EXPECT_EQ(spool.move(log_named("a"), log_named("a"), 20, Spool::Blocks::forgotten), 30U);
  EXPECT_EQ(spool.next()->from, 20U) << "the lines behind it";
  EXPECT_EQ(spool.next()->reader, "");
}

}  // namespace
}  // namespace faultline
