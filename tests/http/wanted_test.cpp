// What agents are asked to fetch, and what the diagnosis says of it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <filesystem>
#include <future>
#include <set>
#include <string>

#include "curl.h"
#include "server_process.h"
#include "workshop.h"

namespace faultline {
namespace {

namespace json = boost::json;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Wanted : public testing::Test {
 protected:
  void SetUp() override {
    workshop.make(FAULTLINE_BINARY
                  " simulate --scenario rank_behind --nodes 2 --seed 3 --out sim >/dev/null && "
                  "touch out");
    const auto truth = json::parse(read_file(workshop.folder() / "sim" / "truth.json")).as_object();
    late = truth.at("subject").at("ranks").at(0).to_number<int>();
    host = std::string(truth.at("may_name").at("hosts").at(0).as_string());
  }

  void send_logs() {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(workshop.folder() / "sim" / "logs"))
      if (entry.path().filename().string().starts_with("nccl")) {
        const std::string from = entry.path().parent_path().filename();
        ASSERT_EQ(curl(server, "/api/v1/ingest?job=j&host=" + from,
                       "--data-binary @'" + entry.path().string() + "'")
                      .status,
                  200);
      }
  }

  json::array wanted_of(const std::string& query) {
    const Reply reply = plain_get(server, "/api/v1/wanted?" + query);
    EXPECT_EQ(reply.status, 200) << reply.body;
    return reply.json().at("wanted").as_array();
  }

  int answer(const std::string& of, const std::string& said) {
    return curl(server, "/api/v1/wanted/outcome?host=" + of,
                "-H 'Content-Type: application/json' --data '" + said + "'")
        .status;
  }

  Workshop workshop;
  ServerProcess server{workshop.folder(), {"--stall-after", "1s"}};
  int late = -1;
  std::string host;
};

TEST_F(Wanted, IsToldToTheAgentThatWaitsAndItsOutcomeToTheReader) {
  // The agent was there before the job.
  auto waiting = std::async(std::launch::async,
                            [&] { return wanted_of("kinds=stacks&wait=50&host=" + host); });
  send_logs();
  const json::array wishes = waiting.get();
  ASSERT_EQ(wishes.size(), 1U);
  const json::object& wish = wishes.at(0).as_object();
  EXPECT_EQ(wish.at("job"), "j");
  EXPECT_EQ(wish.at("kind"), "stacks");
  EXPECT_EQ(wish.at("ranks"), json::array{late});
  EXPECT_THAT(std::string(wish.at("why").as_string()), HasSubstr("nothing says why"));
  // Each thing is wanted once, and of nobody else.
  EXPECT_THAT(wanted_of("kinds=stacks&host=" + host), IsEmpty());
  EXPECT_THAT(wanted_of("kinds=stacks,kernel_log,ras&host=another"), IsEmpty());

  const auto told = [&] {
    return plain_get(server, "/api/v1/jobs/j/diagnosis")
        .json()
        .at("asked_of_agents")
        .at(0)
        .as_object();
  };
  EXPECT_EQ(told().at("outcome"), "asked");
  EXPECT_TRUE(told().at("answered_at").is_null());
  const std::string id(wish.at("id").as_string());
  EXPECT_EQ(answer("another", fmt::format(R"({{"id":"{}","outcome":"sent"}})", id)), 404);
  EXPECT_EQ(answer(host, R"({"id":"none-such","outcome":"sent"})"), 404);
  EXPECT_EQ(answer(host, fmt::format(R"({{"id":"{}","outcome":"asked"}})", id)), 400);
  EXPECT_EQ(told().at("outcome"), "asked");
  EXPECT_EQ(
      answer(host, fmt::format(R"({{"id":"{}","outcome":"sent","detail":"py-spy dump"}})", id)),
      204);
  // The first answer counts.
  EXPECT_EQ(answer(host, fmt::format(R"({{"id":"{}","outcome":"refused"}})", id)), 204);
  EXPECT_EQ(told().at("outcome"), "sent");
  EXPECT_EQ(told().at("detail"), "py-spy dump");
  EXPECT_THAT(plain_get(server, "/api/v1/jobs/j/diagnosis?format=text").body,
              HasSubstr(fmt::format("stacks of {}: sent, py-spy dump", host)));
}

TEST_F(Wanted, IsOnlyWhatTheAgentMayFetch) {
  send_logs();
  const Reply hang = await(server, "/api/v1/jobs/j/diagnosis",
                           [](const Reply& reply) { return reply.json().at("verdict") == "hang"; });
  EXPECT_EQ(hang.json().count("asked_of_agents"), 0U);
  EXPECT_THAT(wanted_of("wait=0&host=" + host), IsEmpty());
  std::set<std::string> kinds;
  for (const json::value& wish : wanted_of("kinds=kernel_log,shm,stacks&wait=20&host=" + host))
    kinds.emplace(wish.at("kind").as_string());
  EXPECT_EQ(kinds, (std::set<std::string>{"kernel_log", "stacks"}));
  EXPECT_EQ(plain_get(server, "/api/v1/wanted?host=a&kinds=rm").status, 400);
  EXPECT_EQ(plain_get(server, "/api/v1/wanted?kinds=stacks").status, 400);
}

// What agents do on their hosts must not be started by a job that runs well.
TEST_F(Wanted, IsNothingOfAJobThatRuns) {
  workshop.make(FAULTLINE_BINARY
                " simulate --scenario rank_behind --healthy --nodes 2 --force --out sim >/dev/null "
                "&& touch out");
  send_logs();
  await(server, "/api/v1/jobs/j/diagnosis",
        [](const Reply& reply) { return reply.json().at("verdict") == "healthy"; });
  EXPECT_THAT(wanted_of("kinds=kernel_log,port_counters,gpu_report,stacks&wait=2&host=" + host),
              IsEmpty());
}

}  // namespace
}  // namespace faultline
