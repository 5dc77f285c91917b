// What a diagnosis lacks arrives by itself: real server, real agent, real processes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "curl.h"
#include "eventually.h"
#include "real_program.h"
#include "server_process.h"
#include "workshop.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Other tests may run beside this one, and agents look at all processes.
const std::string kHungJob = fmt::format("llama-{}", getpid());

// A job of 16 ranks on two hosts, one of which all others wait for. Its process lives on this host.
class Fetched : public testing::Test {
 protected:
  void SetUp() override {
    workshop.make(FAULTLINE_BINARY
                  " simulate --scenario rank_behind --nodes 2 --seed 3 --out sim >/dev/null && "
                  "touch out");
    const auto truth =
        boost::json::parse(read_file(workshop.folder() / "sim" / "truth.json")).as_object();
    late = truth.at("subject").at("ranks").at(0).to_number<int>();
    host = truth.at("may_name").at("hosts").at(0).as_string();
    await_ready(server);
    fs::create_directories(tools);
    process.emplace(
        messages(),
        std::vector<std::string>{"/usr/bin/env", "FAULTLINE_JOB=" + kHungJob,
                                 fmt::format("RANK={}", late), "LOCAL_RANK=0", "sleep", "300"},
        server.port());
    // As if it had written the log of its rank.
    workshop.make(fmt::format(
        "sed -i -E 's/^([^:]+):[0-9]+:/\\1:{}:/' sim/logs/{}/nccl.rank{}.log && touch out",
        process->pid(), host, late));
  }

  fs::path messages() const { return workshop.folder() / "programs"; }

  // What the agent finds instead of py-spy.
  void write_py_spy(const std::string& script) const {
    std::ofstream(tools / "py-spy") << "#!/bin/sh\n" << script;
    fs::permissions(tools / "py-spy", fs::perms::owner_all);
  }

  void follow(const std::vector<std::string>& more) {
    std::vector<std::string> words{"/usr/bin/env",
                                   "PATH=" + tools.string() + ":/usr/bin:/bin",
                                   FAULTLINE_BINARY,
                                   "ship",
                                   "--follow",
                                   "--job",
                                   kHungJob,
                                   "--host",
                                   host,
                                   "--to",
                                   server.url(""),
                                   "--state",
                                   (workshop.folder() / "state").string(),
                                   (workshop.folder() / "sim" / "logs" / host).string()};
    words.insert(words.end(), more.begin(), more.end());
    agent.emplace(messages(), words, server.port());
  }

  void send_other_hosts() {
    for (const auto& entry : fs::recursive_directory_iterator(workshop.folder() / "sim" / "logs")) {
      const std::string from = entry.path().parent_path().filename();
      if (!entry.is_regular_file() || from == host) continue;
      ASSERT_EQ(curl(server, "/api/v1/ingest?job=" + kHungJob + "&host=" + from,
                     "--data-binary @'" + entry.path().string() + "'")
                    .status,
                200);
    }
  }

  boost::json::object diagnosis() const {
    return curl(server, "/api/v1/jobs/" + kHungJob + "/diagnosis").json();
  }
  // What became of what agents were asked for; empty: nothing was asked.
  std::string outcome() const {
    const boost::json::object answer = diagnosis();
    const boost::json::value* asked = answer.if_contains("asked_of_agents");
    return asked == nullptr ? "" : std::string(asked->at(0).at("outcome").as_string());
  }

  Workshop workshop;
  ServerProcess server{workshop.folder(), {"--stall-after", "2s"}};
  const fs::path tools = workshop.folder() / "tools";
  int late = -1;
  std::string host;
  std::optional<RealProgram> process;
  std::optional<RealProgram> agent;
};

TEST_F(Fetched, TheStackOfTheRankThatAllWaitForTellsWhatItDoes) {
  write_py_spy(
      "echo \"Process $3: python3 train.py\"; echo 'Python v3.10.12 (/usr/bin/python3.10)'; echo\n"
      "echo \"Thread $3 (idle): \\\"MainThread\\\"\"\n"
      "echo '    __getitem__ (dataset.py:88)'; echo '    <module> (train.py:300)'\n");
  follow({"--collect", "stacks"});
  send_other_hosts();
  ASSERT_TRUE(eventually([&] { return outcome() == "sent"; })) << read_file(messages());
  EXPECT_TRUE(eventually([&] {
    return curl(server, "/api/v1/jobs/" + kHungJob + "/diagnosis?format=text&verbose=true")
               .body.find("__getitem__") != std::string::npos;
  })) << curl(server, "/api/v1/jobs/" + kHungJob + "/diagnosis?format=text&verbose=true").body
      << read_file(messages());
  const boost::json::object cause = diagnosis().at("root_causes").at(0).as_object();
  EXPECT_EQ(cause.at("subject").at("ranks"), boost::json::array{late});
  EXPECT_THAT(read_file(messages()), HasSubstr("stacks"));
}

TEST_F(Fetched, NothingRunsThatTheOperatorDidNotSwitchOn) {
  write_py_spy("touch '" + (workshop.folder() / "it-ran").string() + "'\n");
  follow({"--collect", "stacks", "--collect-dry-run"});
  send_other_hosts();
  ASSERT_TRUE(eventually([&] { return outcome() == "dry_run"; })) << read_file(messages());
  EXPECT_FALSE(fs::exists(workshop.folder() / "it-ran"));
}

}  // namespace
}  // namespace faultline
