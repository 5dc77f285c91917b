// A job's logs come in as they are written: streams that stay open, some later than others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <chrono>
#include <memory>

#include "curl.h"
#include "raw_client.h"
#include "server_process.h"
#include "workshop.h"

namespace faultline {
namespace {

using namespace std::chrono_literals;

// Sixty seconds of lateness at two minutes of patience, in small.
constexpr auto kStall = 3s;
constexpr auto kLatest = 1500ms;

class LiveReplay : public testing::Test {
 protected:
  struct Log {
    std::vector<std::string> lines;
    std::size_t sent = 0;
    std::chrono::milliseconds late{0};
    std::unique_ptr<RawClient> client;
  };

  void simulate(const std::string& scenario) {
    workshop.make(FAULTLINE_BINARY " simulate --scenario " + scenario +
                  " --nodes 1 --out sim >/dev/null && touch out");
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(workshop.folder() / "sim" / "logs")) {
      if (!entry.is_regular_file() || entry.path().filename() == "dmesg.txt") continue;
      Log& log = logs.emplace_back();
      std::istringstream text(read_file(entry.path()));
      for (std::string line; std::getline(text, line);) log.lines.push_back(line + "\n");
      log.late = kLatest * static_cast<int>(logs.size() % 8) / 7;
      log.client = std::make_unique<RawClient>(server.port());
      log.client->say(
          fmt::format("PUT /api/v1/ingest?job=j&source=rank{} HTTP/1.1\r\nHost: x\r\n"
                      "Transfer-Encoding: chunked\r\n\r\n",
                      logs.size()));
    }
    ASSERT_EQ(logs.size(), 8U);
  }

  // False once everything is sent.
  bool send(std::chrono::milliseconds since_start) {
    bool more = false;
    for (Log& log : logs) {
      const auto due =
          static_cast<std::size_t>(std::max<std::int64_t>(0, (since_start - log.late) / 50ms));
      std::string lines;
      for (; log.sent < std::min(due, log.lines.size()); ++log.sent) lines += log.lines[log.sent];
      if (!lines.empty()) log.client->say(fmt::format("{:x}\r\n{}\r\n", lines.size(), lines));
      more |= log.sent < log.lines.size();
    }
    return more;
  }

  std::string causes() {
    std::string all;
    const auto answer = curl(server, "/api/v1/findings?state=open").json();
    for (const auto& finding : answer.at("findings").as_array())
      if (finding.at("role") == "cause") all += std::string(finding.at("class").as_string()) + " ";
    return all;
  }

  Workshop workshop;
  ServerProcess server{workshop.folder(), {"--stall-after", "3s"}};
  std::vector<Log> logs;
};

TEST_F(LiveReplay, FindsNothingInAHealthyJob) {
  simulate("healthy_uneven_opcounts");
  const auto start = std::chrono::steady_clock::now();
  for (bool more = true; more; std::this_thread::sleep_for(100ms)) {
    more = send(std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - start));
    EXPECT_EQ(causes(), "");
  }
}

TEST_F(LiveReplay, FindsTheRankThatStopsWithinFiveSecondsOfWhatItWaits) {
  simulate("rank_behind");
  const auto start = std::chrono::steady_clock::now();
  const auto now = [&] {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                                 start);
  };
  while (send(now())) {
    EXPECT_EQ(causes(), "");
    std::this_thread::sleep_for(100ms);
  }
  const auto sent = now();
  std::string found;
  while (found.empty() && now() - sent < kStall + 30s) {
    std::this_thread::sleep_for(50ms);
    found = causes();
  }
  EXPECT_EQ(found, "collective.rank_behind ");
  EXPECT_LE(now() - sent, kStall + 5s);
}

}  // namespace
}  // namespace faultline
