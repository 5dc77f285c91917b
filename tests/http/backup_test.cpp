// A backup of a busy server, with the real program.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <stop_token>
#include <string>
#include <thread>

#include "curl.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Backup : public testing::Test {
 protected:
  // Returns the output of the backup; `exit` is its status.
  std::string back_up(const std::string& data, const std::string& copy) {
    return output_of(fmt::format("'{}' backup --data '{}' '{}' 2>&1", FAULTLINE_BINARY, data, copy),
                     &exit_);
  }
  std::string path(const std::string& name) const { return (workshop_.folder() / name).string(); }

  Workshop workshop_;
  int exit_ = -1;
};

std::string log_of(int lines) {
  std::string log;
  for (int i = 0; i < lines; ++i)
    log += fmt::format("node-7:4242:4250 [3] NCCL INFO a line of many, number {}\n", i);
  return log +
         "node-7:4242:4250 [3] NCCL WARN Cuda failure 'an illegal memory access was encountered'\n";
}

TEST_F(Backup, HoldsAllThatWasAcknowledgedBeforeItAndAnswersTheSame) {
  workshop_.write("rank3.log", log_of(500));
  fs::create_directories(workshop_.folder() / "first");
  ServerProcess server(workshop_.folder() / "first", {"--stall-after", "0s"});
  ASSERT_EQ(curl(server, "/api/v1/ingest?job=llama&source=rank3.log&final=true",
                 "-T " + path("rank3.log"))
                .status,
            200);
  std::atomic<int> sent = 0;
  // Stops when the test ends, however it ends.
  const std::jthread sender([&](const std::stop_token& done) {
    while (!done.stop_requested()) {
      const Reply reply =
          curl(server, fmt::format("/api/v1/ingest?job=busy&source=part-{}", sent.load()),
               "-T " + path("rank3.log"));
      if (reply.status == 200) ++sent;
    }
  });
  for (int i = 0; i < 3; ++i) {
    while (sent < 5 * (i + 1)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const int before = sent;
    const std::string copy = path(fmt::format("copy-{}.db", i));
    const std::string said = back_up(path("first/data"), copy);
    ASSERT_EQ(exit_, 0) << said;
    EXPECT_THAT(said, HasSubstr("2 jobs"));
    EXPECT_EQ(fs::status(copy).permissions(), fs::perms::owner_read | fs::perms::owner_write);

    const fs::path folder = workshop_.folder() / fmt::format("restored-{}", i);
    fs::create_directories(folder / "data");
    fs::copy_file(copy, folder / "data" / "faultline.db");
    ServerProcess restored(folder, {"--stall-after", "0s"});
    const std::string held = plain_get(restored, "/api/v1/sources?job=busy").body;
    for (int part = 0; part < before; ++part)
      EXPECT_THAT(held, HasSubstr(fmt::format("\"part-{}\"", part))) << before << " answered";
    EXPECT_EQ(plain_get(restored, "/api/v1/jobs/llama/diagnosis").body,
              plain_get(server, "/api/v1/jobs/llama/diagnosis").body);
  }
  EXPECT_EQ(plain_get(server, "/healthz").status, 200);
}

TEST_F(Backup, WhatCannotBeDoneIsSaidInALineAndLeavesNothing) {
  EXPECT_THAT(back_up(path("nowhere"), path("copy.db")), HasSubstr("there is no such database"));
  EXPECT_EQ(exit_, 2);
  {
    ServerProcess server(workshop_.folder());
    EXPECT_EQ(curl(server, "/api/v1/ingest?job=llama&source=a", "-d 'NCCL INFO x'").status, 200);
  }
  workshop_.write("there.db", "mine");
  EXPECT_THAT(back_up(path("data"), path("there.db")), HasSubstr("already exists"));
  EXPECT_EQ(read_file(path("there.db")), "mine");
  EXPECT_THAT(back_up(path("data"), path("absent/copy.db")), HasSubstr("cannot be made"));
  EXPECT_EQ(exit_, 2);
  EXPECT_THAT(back_up(path("data"), path("copy.db")), HasSubstr("1 jobs"));
  for (const auto& entry : fs::directory_iterator(workshop_.folder()))
    EXPECT_THAT(entry.path().filename().string(), testing::Not(HasSubstr("unfinished")));
}

TEST_F(Backup, ADamagedDatabaseIsNotCopied) {
  workshop_.write("rank3.log", log_of(20000));
  {
    ServerProcess server(workshop_.folder());
    for (int i = 0; i < 20; ++i)
      ASSERT_EQ(curl(server, fmt::format("/api/v1/ingest?job=llama&source=r{}", i),
                     "-T " + path("rank3.log"))
                    .status,
                200);
    server.ask_to_stop();
    EXPECT_EQ(server.wait_for_end(), 0);
  }
  const fs::path database = workshop_.folder() / "data" / "faultline.db";
  std::fstream file(database, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(fs::file_size(database) / 2));
  file.put('\x5a').put('\xa5').put('\x5a');
  file.close();
  const std::string said = back_up(path("data"), path("copy.db"));
  EXPECT_EQ(exit_, 2) << said;
  EXPECT_THAT(said, HasSubstr("damaged"));
  EXPECT_FALSE(fs::exists(path("copy.db")));
}

}  // namespace
}  // namespace faultline
