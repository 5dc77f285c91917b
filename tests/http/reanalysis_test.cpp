// Lines that a server keeps: it shows them around evidence, and reads them again with new rules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "curl.h"
#include "server_process.h"
#include "workshop.h"

namespace faultline {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kSignature = R"(- id: ours.lane
  class: network.link_errors
  title: "A lane of {nic} was set aside"
  severity: critical
  weight: cause
  confidence: 0.9
  literals: ["our agent: lane"]
  pattern: 'our agent: lane \d+ of (?P<nic>\S+) is set aside'
  actions:
    - do: "Replace the cable of {nic}."
      where: "{host}"
  matches:
    - "our agent: lane 3 of mlx5_2 is set aside"
  matches_not:
    - "our agent: lane 3 of mlx5_2 is good"
)";

class KeptByAServer : public testing::Test {
 protected:
  void start(std::vector<std::string> flags = {}) {
    std::filesystem::create_directories(workshop.folder() / "rules");
    flags.insert(flags.end(),
                 {"--rules", (workshop.folder() / "rules").string(), "--stall-after", stall_after});
    server = std::make_unique<ServerProcess>(workshop.folder(), flags);
  }

  void send(const std::string& text, const std::string& more = "") {
    workshop.write("body", text);
    const Reply reply = curl(*server, "/api/v1/ingest?job=j&source=a.log&host=n7" + more,
                             "--data-binary @" + (workshop.folder() / "body").string());
    ASSERT_EQ(reply.status, 200) << reply.body;
  }

  void learn_the_signature() {
    workshop.write("rules/ours.yaml", std::string(kSignature));
    server->ask_to_reload();
    await(*server, "/api/v1/rules?class=network.link_errors&limit=1000",
          [](const Reply& reply) { return reply.body.find("ours.lane") != std::string::npos; });
  }

  std::string stall_after = "0s";
  Workshop workshop;
  std::unique_ptr<ServerProcess> server;
};

TEST_F(KeptByAServer, LinesThatTellNothingTellWhatASignatureOfLaterKnows) {
  start();
  send("start\n\nour agent: lane 3 of mlx5_2 is set aside\nend\n");
  const std::string path = "/api/v1/jobs/j/diagnosis?format=text";
  learn_the_signature();
  EXPECT_THAT(plain_get(*server, path).body, Not(HasSubstr("mlx5_2")));
  const Reply told = curl(*server, "/api/v1/jobs/j/reanalyze", "-X POST");
  ASSERT_EQ(told.status, 200) << told.body;
  EXPECT_EQ(told.json()["lines"].as_int64(), 4);
  EXPECT_EQ(told.json()["events_new"].as_int64(), 1);
  const Reply answer = await(*server, path, [](const Reply& reply) {
    return reply.body.find("A lane of mlx5_2 was set aside") != std::string::npos;
  });
  EXPECT_THAT(answer.body, HasSubstr("a.log:3"));
  EXPECT_EQ(plain_get(*server, "/api/v1/jobs/j/findings").json()["findings"].as_array().size(), 1U);
  // Reading again adds nothing, and the answer survives a restart.
  EXPECT_EQ(curl(*server, "/api/v1/jobs/j/reanalyze", "-X POST").json()["events_new"].as_int64(),
            0);
  server.reset();
  start();
  EXPECT_THAT(plain_get(*server, path).body, HasSubstr("A lane of mlx5_2 was set aside"));
}

TEST_F(KeptByAServer, AJobThatGoesOnIsReadAgainWithWhatComesMeanwhile) {
  stall_after = "1h";
  start();
  send("start\nour agent: lane 3 of mlx5_2 is set aside\nour agent: lane 4 of ml", "&offset=0");
  learn_the_signature();
  ASSERT_EQ(curl(*server, "/api/v1/jobs/j/reanalyze", "-X POST").status, 200);
  send("x5_5 is set aside\n", "&offset=70");
  const std::string path = "/api/v1/jobs/j/diagnosis";
  const auto tells_both = [](const Reply& reply) {
    return reply.body.find("\"count\":2") != std::string::npos;
  };
  await(*server, path, tells_both);
  EXPECT_EQ(curl(*server, "/api/v1/jobs/j/reanalyze", "-X POST").json()["events_new"].as_int64(),
            0);
  EXPECT_TRUE(tells_both(plain_get(*server, path)));
}

TEST_F(KeptByAServer, TheCommandReadsAgainWhatAServerThatHasEndedKept) {
  start();
  send("our agent: lane 3 of mlx5_2 is set aside\n");
  workshop.write("rules/ours.yaml", std::string(kSignature));
  const std::string command =
      fmt::format("{} reanalyze --data {} --rules {} 2>&1", FAULTLINE_BINARY,
                  (workshop.folder() / "data").string(), (workshop.folder() / "rules").string());
  int exit = 0;
  EXPECT_THAT(output_of(command, &exit), HasSubstr("in use"));
  EXPECT_EQ(exit, 2);
  server->ask_to_stop();
  server->wait_for_end();
  const std::string said = output_of(command, &exit);
  EXPECT_EQ(exit, 0);
  EXPECT_THAT(said, HasSubstr("j: lines read again: 1; sources: 1; events new: 1, gone: 0"));
  EXPECT_THAT(said, HasSubstr("A lane of mlx5_2 was set aside"));
  EXPECT_EQ((output_of(command + " --job nobody", &exit), exit), 2);
}

TEST_F(KeptByAServer, LinesAreShownAroundOne) {
  start();
  std::string log;
  for (int i = 1; i <= 9; ++i) log += fmt::format("line {}\n", i);
  send(log);
  const boost::json::object around =
      plain_get(*server, "/api/v1/jobs/j/lines?source=a.log&line=8&around=2").json();
  EXPECT_EQ(around.at("host").as_string(), "n7");
  std::vector<std::string> texts;
  for (const boost::json::value& line : around.at("lines").as_array())
    texts.emplace_back(line.at("text").as_string());
  EXPECT_THAT(texts, testing::ElementsAre("line 6", "line 7", "line 8", "line 9"));
  EXPECT_EQ(plain_get(*server, "/api/v1/jobs/j/lines?source=a.log").status, 400);
  EXPECT_EQ(plain_get(*server, "/api/v1/jobs/j/lines?source=a.log&line=0").status, 400);
  EXPECT_EQ(plain_get(*server, "/api/v1/jobs/j/lines?source=nothing&line=1").status, 404);
  EXPECT_EQ(plain_get(*server, "/api/v1/jobs/nobody/lines?source=a.log&line=1").status, 404);
  EXPECT_EQ(curl(*server, "/api/v1/jobs/nobody/reanalyze", "-X POST").status, 404);
}

TEST_F(KeptByAServer, NoLinesAreKeptWhereNobodyWantsThem) {
  start({"--keep-lines", "0"});
  send("our agent: lane 3 of mlx5_2 is set aside\n");
  learn_the_signature();
  EXPECT_EQ(curl(*server, "/api/v1/jobs/j/reanalyze", "-X POST").json()["lines"].as_int64(), 0);
  const boost::json::object around =
      plain_get(*server, "/api/v1/jobs/j/lines?source=a.log&line=1").json();
  ASSERT_EQ(around.at("lines").as_array().size(), 1U);
  EXPECT_EQ(around.at("lines").at(0).at("left_out").as_string(), "not kept");
}

}  // namespace
}  // namespace faultline
