// A job's logs arrive while they are written: streams that stay open, some later than others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>

#include "curl.h"
#include "raw_client.h"
#include "server_process.h"
#include "workshop.h"

namespace faultline {
namespace {

using namespace std::chrono_literals;

// Scaled down from logs that come sixty seconds late with a --stall-after of two minutes.
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

  void simulate(const std::string& scenario, int nodes = 1, int steps = 20) {
    workshop.make(
        fmt::format("{} simulate --scenario {} --nodes {} --steps {} --out sim >/dev/null "
                    "&& touch out",
                    FAULTLINE_BINARY, scenario, nodes, steps));
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(workshop.folder() / "sim" / "logs")) {
      if (!entry.path().filename().string().starts_with("nccl")) continue;
      Log& log = logs.emplace_back();
      std::istringstream text(read_file(entry.path()));
      for (std::string line; std::getline(text, line);) log.lines.push_back(line + "\n");
      log.late = kLatest * static_cast<int>(logs.size() % 8) / 7;
      log.client = std::make_unique<RawClient>(server.port());
      log.client->say(
          fmt::format("PUT /api/v1/ingest?job=j&source=rank{} HTTP/1.1\r\nHost: localhost\r\n"
                      "Transfer-Encoding: chunked\r\n\r\n",
                      logs.size()));
    }
    ASSERT_EQ(logs.size(), 8U * static_cast<unsigned>(nodes));
  }

  // Sends what is due. Returns false once everything is sent.
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

  std::string verdict() {
    const Reply reply = plain_get(server, "/api/v1/jobs/j/diagnosis");
    return reply.status == 404 ? "running" : std::string(reply.json().at("verdict").as_string());
  }

  std::string causes() {
    std::string all;
    const auto answer = plain_get(server, "/api/v1/findings?state=open").json();
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

TEST_F(LiveReplay, SaysThatAHealthyJobRunsWhoseLogsComeLateAndPause) {
  constexpr auto kPauses = 1000ms;
  constexpr auto kGoesOn = kPauses + kStall - 500ms;
  simulate("healthy", 8, 4);
  ASSERT_EQ(logs.size(), 64U);
  std::size_t longest = 0;
  for (Log& log : logs) longest = std::max(longest, log.lines.size());
  const auto start = std::chrono::steady_clock::now();
  std::size_t asked = 0;
  for (bool more = true; more;) {
    const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - start);
    more = false;
    for (std::size_t i = 0; i < logs.size(); ++i) {
      Log& log = logs[i];
      // Each log is sent over ten seconds, delayed by its lateness. The first one pauses for a
      // while.
      auto age = std::max(0ms, since - log.late);
      if (i == 0 && since > kPauses && since < kGoesOn) age = std::max(0ms, kPauses - log.late);
      const auto due = std::min<std::size_t>(
          log.lines.size(), static_cast<std::size_t>(age.count()) * longest / 10'000);
      std::string lines;
      for (; log.sent < due; ++log.sent) lines += log.lines[log.sent];
      if (!lines.empty()) log.client->say(fmt::format("{:x}\r\n{}\r\n", lines.size(), lines));
      more |= log.sent < log.lines.size();
    }
    if (!more) break;
    // On a busy machine the ranks whose logs are late may look as if they were missing.
    const std::string told = verdict();
    const bool may_be_undecided = since <= 2 * kLatest;
    EXPECT_TRUE(told == "running" || (may_be_undecided && told == "undecided"))
        << told << " at " << since.count() << " ms";
    EXPECT_EQ(causes(), "");
    ++asked;
  }
  EXPECT_GT(asked, 20U);
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

// As in the first example of the documentation: a loop of curl over the files of a host.
TEST(LoopOfPosts, IsUndecidedAboutTheOneRankThatAllWaitForUntilNothingMoreComes) {
  Workshop workshop;
  workshop.make(FAULTLINE_BINARY
                " simulate --scenario rank_behind --nodes 4 --seed 3 --out sim >/dev/null && "
                "touch out");
  const auto truth =
      boost::json::parse(read_file(workshop.folder() / "sim" / "truth.json")).as_object();
  const int late = truth.at("subject").at("ranks").at(0).to_number<int>();
  const auto expect_only_it = [&](const boost::json::object& answer) {
    for (const char* list : {"root_causes", "symptoms", "so_far"})
      for (const auto& finding : answer.at(list).as_array())
        for (const auto& rank : finding.at("subject").at("ranks").as_array())
          EXPECT_EQ(rank.to_number<int>(), late) << list << ' ' << finding.at("title");
  };
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(workshop.folder() / "sim" / "logs"))
    if (entry.path().filename().string().starts_with("nccl")) files.push_back(entry.path());
  std::ranges::sort(files);
  ASSERT_EQ(files.size(), 32U);

  ServerProcess server(workshop.folder(), {"--stall-after", "12s"});
  boost::json::object answer;
  for (const std::filesystem::path& file : files) {
    const std::string host = file.parent_path().filename();
    ASSERT_EQ(
        curl(server, "/api/v1/ingest?job=j&host=" + host, "--data-binary @'" + file.string() + "'")
            .status,
        200);
    answer = plain_get(server, "/api/v1/jobs/j/diagnosis").json();
    EXPECT_EQ(answer.at("verdict"), "undecided");
    EXPECT_TRUE(answer.at("root_causes").as_array().empty());
    expect_only_it(answer);
  }
  ASSERT_FALSE(answer.at("so_far").as_array().empty());
  EXPECT_THAT(std::string(answer.at("summary").as_string()),
              testing::HasSubstr(fmt::format("Rank {} on ", late)));
  EXPECT_THAT(std::string(answer.at("summary").as_string()), testing::HasSubstr("judged in "));

  const Reply told = await(server, "/api/v1/jobs/j/diagnosis",
                           [](const Reply& reply) { return reply.json().at("verdict") == "hang"; });
  answer = told.json();
  expect_only_it(answer);
  EXPECT_EQ(answer.at("root_causes").at(0).at("class"), "collective.rank_behind");
  EXPECT_TRUE(answer.at("so_far").as_array().empty());
  // Whoever reads along does not keep the findings from being stored and alerts from being sent.
  await(server, "/api/v1/jobs/j/findings?state=open",
        [](const Reply& reply) { return !reply.json().at("findings").as_array().empty(); });
}

}  // namespace
}  // namespace faultline
