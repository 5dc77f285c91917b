// What a diagnosis lacks arrives by itself: real server, real agent, real processes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "curl.h"
#include "eventually.h"
#include "fake_receiver.h"
#include "ras_service.h"
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
    fs::create_directories(tools);
    run_rank({"sleep", "300"});
    // As if it had written the log of its rank.
    workshop.make(fmt::format(
        "sed -i -E 's/^([^:]+):[0-9]+:/\\1:{}:/' sim/logs/{}/nccl.rank{}.log && touch out",
        process->pid(), host, late));
  }

  // The process of the rank that all wait for.
  void run_rank(std::vector<std::string> words) {
    words.insert(words.begin(),
                 {"/usr/bin/env", "FAULTLINE_JOB=" + kHungJob, fmt::format("RANK={}", late),
                  "LOCAL_RANK=0", "TORCH_NCCL_DEBUG_INFO_PIPE_FILE=" + pipe_prefix()});
    process.emplace(messages(), std::move(words), server.port());
  }
  std::string pipe_prefix() const { return (workshop.folder() / "recorder_").string(); }

  fs::path messages() const { return workshop.folder() / "programs"; }

  // What the agent finds instead of py-spy.
  void write_py_spy(const std::string& script) const {
    std::ofstream(tools / "py-spy") << "#!/bin/sh\n" << script;
    fs::permissions(tools / "py-spy", fs::perms::owner_all);
  }

  void follow(const std::vector<std::string>& more) {
    std::vector<std::string> words{"/usr/bin/env",
                                   "-u",
                                   "FAULTLINE_JOB",
                                   "PATH=" + path,
                                   FAULTLINE_BINARY,
                                   "ship",
                                   "--follow",
                                   "--job",
                                   kHungJob,
                                   "--host",
                                   host,
                                   "--to",
                                   to.empty() ? server.url("") : to,
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
    return plain_get(server, "/api/v1/jobs/" + kHungJob + "/diagnosis").json();
  }
  std::string told() const {
    return plain_get(server, "/api/v1/jobs/" + kHungJob + "/diagnosis?format=text&verbose=true")
        .body;
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
  std::string path = tools.string() + ":/usr/bin:/bin";  // of the agent
  std::string to;                                        // empty: the server
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
  EXPECT_TRUE(eventually([&] { return told().find("__getitem__") != std::string::npos; }))
      << told() << read_file(messages());
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

// A real debugger on a real process.
TEST_F(Fetched, TheStackOfAProcessThatSleepsComesFromGdb) {
  path = "/usr/bin:/bin";
  follow({"--collect", "stacks"});
  send_other_hosts();
  EXPECT_TRUE(eventually([&] { return told().find("nanosleep") != std::string::npos; }))
      << told() << read_file(messages());
}

// As far as no log tells of calls, NCCL's RAS service may. Its socket must be of a process of the
// job.
TEST_F(Fetched, TheReportOfNcclsRasServiceOfTheJob) {
  const std::time_t now = std::time(nullptr);
  tm local{};
  localtime_r(&now, &local);
  const std::string today =
      fmt::format("{}{:02} {:02}", local.tm_mon + 1, local.tm_mday, local.tm_hour);
  workshop.make(fmt::format(
      FAULTLINE_BINARY
      " simulate --scenario rank_behind --nodes 2 --seed 3 --force --evidence nccl,watchdog --out "
      "sim >/dev/null && sed -i -E '/opCount/d; s/\\[E305 02:/[E{}:/' sim/logs/*/nccl* && touch "
      "out",
      today));
  constexpr std::uint16_t kRasPort = 28028;
  RasService service("SERVER PROTOCOL 2\n", "NCCL version 2.28.7\nJob summary\n", kRasPort);
  run_rank({"sleep", "300"});  // it has the socket
  follow({"--collect", "ras"});
  send_other_hosts();
  ASSERT_TRUE(eventually([&] { return outcome() == "sent"; })) << told() << read_file(messages());
  EXPECT_EQ(service.heard(), "client protocol 2\ntimeout 10\nverbose status\n");
  EXPECT_TRUE(eventually([&] {
    return plain_get(server, "/api/v1/sources?job=" + kHungJob).body.find("/collected/ras/") !=
           std::string::npos;
  }));
}

// PyTorch writes its dump when somebody writes into its pipe. The agent ships it as any other file.
TEST_F(Fetched, TheDumpOfTheFlightRecorder) {
  const std::string options =
      "ProcessGroupNCCL initialization options: NCCL version: 2.21.5, size: 16, global rank: 0, "
      "TORCH_NCCL_DUMP_ON_TIMEOUT: 1, TORCH_NCCL_TRACE_BUFFER_SIZE: 2000";
  workshop.make(fmt::format(
      FAULTLINE_BINARY
      " simulate --scenario rank_behind --nodes 2 --seed 3 --evidence dumps --out dumps >/dev/null "
      "&& for f in sim/logs/*/nccl*; do echo '[I 1] [rank0]: {}' >>$f; done && touch out",
      options));
  const std::string dump = fmt::format("nccl_trace_rank_{}", late);
  run_rank({"/bin/sh", "-c",
            fmt::format("mkfifo {0}{1}.pipe; read line <{0}{1}.pipe; cp {2} {3}; sleep 300",
                        pipe_prefix(), late,
                        (workshop.folder() / "dumps" / "logs" / host / dump).string(),
                        (workshop.folder() / "sim" / "logs" / host).string())});
  follow({"--collect", "flight_recorder"});
  send_other_hosts();
  EXPECT_TRUE(eventually([&] {
    return told().find("other ranks have dumps") != std::string::npos;
  })) << told()
      << read_file(messages());
}

// The agent may be root. Nothing that a server says may run anything, or reach anything, that is
// not in the agent's own table.
TEST_F(Fetched, NothingThatAHostileServerSaysIsRun) {
  const std::string trap = (workshop.folder() / "it-ran").string();
  fs::remove_all(tools);
  fs::create_directories(tools);
  for (const char* program : {"py-spy", "gdb", "dmesg", "sh", "rm", "touch", "x"}) {
    std::ofstream(tools / program) << "#!/bin/sh\n/bin/echo \"$0 $*\" >>'" << trap << "'\n";
    fs::permissions(tools / program, fs::perms::owner_all);
  }
  std::string list;
  const auto want = [&](const std::string& id, const std::string& job, const std::string& kind,
                        const std::string& more = "") {
    list += fmt::format(R"({}{{"id":"{}","job":"{}","kind":"{}"{}}})", list.empty() ? "" : ",", id,
                        job, kind, more);
  };
  want("1", kHungJob, "touch " + trap);
  want("2", kHungJob, "stacks; touch " + trap);
  want("3", kHungJob, "../../bin/sh");
  want("4", kHungJob, "kernel_log");  // not switched on
  want("5", "$(touch " + trap + ")", "stacks");
  want("6", "another", "stacks");
  want("7", kHungJob, "stacks", R"-(,"ranks":["$(touch x)"])-");
  want("8", kHungJob, "stacks", R"(,"ranks":[-1])");
  want("9\\n", kHungJob, "stacks");
  want(std::string(5000, '/'), kHungJob, "stacks");
  want("", kHungJob, "stacks");
  FakeReceiver hostile(
      FakeReceiver::answer("200 OK", "", fmt::format(R"({{"wanted":[{}]}})", list)));
  path = tools.string();
  to = hostile.url("");
  follow({"--collect", "stacks"});
  const auto heard = [&](const std::string& head) {
    return std::ranges::count_if(hostile.heard(), [&](const FakeReceiver::Heard& request) {
      return request.head.starts_with(head);
    });
  };
  // All but the one without an id that can be told.
  EXPECT_TRUE(eventually([&] { return heard("POST /api/v1/wanted/outcome") >= 9; }));
  for (const std::string& body : {std::string(R"({"wanted":{"run":"touch x"}})"),
                                  std::string(200'000, '['), std::string("\xff\xfe")}) {
    hostile.behave(FakeReceiver::answer("200 OK", "", body));
    const auto before = heard("GET /api/v1/wanted");
    EXPECT_TRUE(eventually([&] { return heard("GET /api/v1/wanted") > before; }));
  }
  EXPECT_EQ(agent->stop(), 0);
  EXPECT_EQ(read_file(trap), "");
}

}  // namespace
}  // namespace faultline
