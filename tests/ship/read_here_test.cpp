// Agents read logs where they are written: real server, real agent, real processes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "curl.h"
#include "eventually.h"
#include "real_program.h"
#include "relay.h"
#include "server_process.h"
#include "workshop.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using testing::HasSubstr;

std::string call_of(int number) {
  return fmt::format(
      "gpu-7:4711:4790 [0] NCCL INFO AllReduce: opCount {:x} sendbuff 0x7f0000000000 recvbuff "
      "0x7f0000100000 count 1024 datatype 7 op 0 root 0 comm 0x55aa01 [nranks=2] stream 0x1\n",
      number);
}

std::string calls_of(int from, int to) {
  std::string text;
  for (int i = from; i < to; ++i) text += call_of(i);
  return text;
}

class ReadHere : public testing::Test {
 protected:
  void begin(const std::vector<std::string>& more = {}) {
    server.reset();
    std::vector<std::string> flags{"--listen", fmt::format("127.0.0.1:{}", port)};
    flags.insert(flags.end(), more.begin(), more.end());
    server.emplace(workshop.folder(), flags);
  }

  void SetUp() override {
    fs::create_directories(logs);
    begin();
  }

  void append(const fs::path& file, std::string_view text) const {
    std::ofstream(file, std::ios::app | std::ios::binary) << text;
  }

  // An agent with a state of its own for each name.
  void follow(const std::string& name, const std::vector<std::string>& more, int to = 0) {
    std::vector<std::string> words{FAULTLINE_BINARY,
                                   "ship",
                                   "--follow",
                                   "--host",
                                   "gpu-7",
                                   "--to",
                                   fmt::format("http://127.0.0.1:{}", to == 0 ? port : to),
                                   "--state",
                                   (workshop.folder() / ("state-" + name)).string()};
    words.insert(words.end(), more.begin(), more.end());
    agents[name].reset();
    agents[name].emplace(messages_file(), words, to == 0 ? port : to);
  }

  fs::path messages_file() const { return workshop.folder() / "ship.messages"; }
  std::string messages() const { return read_file(messages_file()); }

  // The sources of a job, by the names of their files.
  std::map<std::string, json::object> held(const std::string& job) const {
    std::map<std::string, json::object> sources;
    const Reply reply = plain_get(*server, "/api/v1/sources?limit=1000&job=" + job);
    if (reply.status != 200) return sources;
    const json::object answer = reply.json();
    for (const json::value& source : answer.at("sources").as_array()) {
      const fs::path path(std::string(source.at("source").as_string()));
      sources[path.filename()] = source.as_object();
    }
    return sources;
  }

  std::uint64_t number(const std::string& job, const std::string& file, const char* name) const {
    auto sources = held(job);
    return sources.contains(file) ? sources[file].at(name).to_number<std::uint64_t>() : 0;
  }

  bool has(const std::string& job, const fs::path& folder) const {
    return eventually([&] {
      const auto sources = held(job);
      return std::ranges::all_of(fs::recursive_directory_iterator(folder), [&](const auto& entry) {
        const auto source = sources.find(entry.path().filename());
        return !entry.is_regular_file() ||
               (source != sources.end() &&
                source->second.at("next_offset").template to_number<std::uint64_t>() ==
                    entry.file_size());
      });
    });
  }

  // How often agents asked for this, and were answered so.
  std::uint64_t requests(const std::string& method, const std::string& route) const {
    const std::string metrics = plain_get(*server, "/metrics").body;
    const std::string row = fmt::format(
        R"(faultline_http_requests_total{{route="{}",method="{}",status="2xx"}} )", route, method);
    const std::size_t at = metrics.find(row);
    return at == std::string::npos ? 0 : std::stoull(metrics.substr(at + row.size()));
  }
  // Appends calls until a block was counted. Returns the number of the next call.
  int append_until_read(const fs::path& file, int next) {
    EXPECT_TRUE(eventually([&] {
      if (bodies_of_blocks() > 0) return true;
      append(file, calls_of(next, next + 10));
      next += 10;
      return false;
    })) << messages();
    return next;
  }

  std::uint64_t bodies_of_blocks() const { return requests("PUT", "/api/v1/ingest/read"); }
  std::uint64_t bodies_of_lines() const { return requests("PUT", "/api/v1/ingest"); }

  Workshop workshop;
  const fs::path logs = workshop.folder() / "logs";
  int port = free_port();
  std::optional<ServerProcess> server;
  std::map<std::string, std::optional<RealProgram>> agents;
};

// Ids and the names of the jobs differ, and so do times of arrival.
std::string without_names(json::value value, const std::string& job) {
  const auto clean = [&](auto&& self, json::value& one) -> void {
    if (one.is_object()) {
      for (const char* name : {"finding", "id", "as_of", "last_activity", "last_received", "chain"})
        one.as_object().erase(name);
      for (auto& member : one.as_object()) self(self, member.value());
    } else if (one.is_array()) {
      for (json::value& element : one.as_array()) self(self, element);
    } else if (one.is_string()) {
      std::string text(one.as_string());
      for (std::size_t at = 0; (at = text.find(job, at)) != std::string::npos;)
        text.replace(at, job.size(), "JOB"), at += 3;
      const bool is_id = text.size() == 13 && text[0] == 'f' &&
                         text.find_first_not_of("0123456789abcdef") == std::string::npos;
      one = is_id ? "an id" : text;
    }
  };
  clean(clean, value);
  std::string text = json::serialize(value);
  for (std::size_t at = 0; (at = text.find(',', at)) != std::string::npos; at += 2)
    text.insert(at + 1, "\n");  // so that a failing test shows the line that differs
  return text;
}

TEST_F(ReadHere, GivesTheDiagnosisThatLinesGive) {
  // Longer than the logs take to come, so that nobody is silent who only was not sent yet.
  begin({"--stall-after", "10s"});
  std::mt19937 random(11);
  const std::vector<std::string> scenarios{"rank_behind", "gpu_off_bus", "environment_mismatch",
                                           "healthy"};
  std::map<fs::path, std::string> rest;
  for (const std::string& scenario : scenarios) {
    workshop.make(
        fmt::format("'{}' simulate --scenario {} --nodes 2 --seed 5 --out {} >&2 && "
                    "touch out",
                    FAULTLINE_BINARY, scenario, scenario));
    for (const auto& entry :
         fs::recursive_directory_iterator(workshop.folder() / scenario / "logs")) {
      if (!entry.is_regular_file()) continue;
      const fs::path file = logs / scenario /
                            fmt::format("{}-{}", entry.path().parent_path().filename().string(),
                                        entry.path().filename().string());
      fs::create_directories(file.parent_path());
      rest[file] = read_file(entry.path());
      append(file, "");
    }
    const std::string folder = (logs / scenario).string();
    follow(scenario + "-lines", {"--job", scenario + "-lines", folder});
    follow(scenario + "-read", {"--read-here", "--job", scenario + "-read", folder});
  }
  // Wherever the pieces are cut.
  for (bool more = true; more;) {
    more = false;
    for (auto& [file, text] : rest) {
      const std::string piece = text.substr(0, 1 + random() % (1 + text.size()));
      append(file, piece);
      text.erase(0, piece.size());
      more = more || !text.empty();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  for (const std::string& scenario : scenarios) {
    SCOPED_TRACE(scenario);
    const std::string lines = scenario + "-lines";
    const std::string read = scenario + "-read";
    for (const std::string& job : {lines, read}) {
      ASSERT_TRUE(has(job, logs / scenario)) << messages();
    }
    const auto ask = [&](const std::string& job, const std::string& what) {
      return without_names(
          json::value(plain_get(*server, fmt::format("/api/v1/jobs/{}{}", job, what)).json()), job);
    };
    EXPECT_TRUE(eventually([&] {
      const std::string verdict = ask(lines, "/diagnosis");
      return verdict.find("running") == std::string::npos &&
             verdict.find("undecided") == std::string::npos;
    })) << ask(lines, "/diagnosis");
    // Of calls only what a body cut is kept.
    const auto shown = [&](const std::string& job, const std::string& query) {
      const json::object answer = plain_get(*server, "/api/v1/jobs/" + job + query).json();
      std::string texts;
      for (const json::value& line : answer.at("lines").as_array())
        if (line.at("left_out").as_string().empty() &&
            line.at("text").as_string().find("opCount") == std::string::npos)
          texts += fmt::format("{} {}\n", line.at("line").to_number<int>(),
                               std::string(line.at("text").as_string()));
      return texts;
    };
    // One rank after the other counts as silent.
    for (const char* what : {"/diagnosis", "/ranks?limit=1000", ""})
      EXPECT_TRUE(eventually([&] { return ask(read, what) == ask(lines, what); }))
          << what << '\n'
          << ask(read, what) << "\nand\n"
          << ask(lines, what);
    for (auto& [name, source] : held(lines)) {
      json::object same = held(read)[name];
      for (const char* member : {"next_offset", "lines", "recognized", "host"})
        EXPECT_EQ(same.at(member), source.at(member)) << name << ' ' << member;
      const std::string query = fmt::format("/lines?around=200&line={}&source=",
                                            1 + source.at("lines").to_number<int>() / 2);
      const std::string place(source.at("source").as_string());
      EXPECT_EQ(shown(read, query + place), shown(lines, query + place)) << name;
    }
  }
  EXPECT_TRUE(eventually([&] { return bodies_of_blocks() > 10; }));
}

TEST_F(ReadHere, SendsALogOfCallsInAFewBytes) {
  workshop.make(fmt::format(
      "'{}' simulate --scenario rank_behind --nodes 1 --gpus-per-node 4 --steps 500 --out sim >&2 "
      "&& touch out",
      FAULTLINE_BINARY));
  const fs::path all = workshop.folder() / "sim" / "logs";
  std::uint64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(all))
    if (entry.is_regular_file()) bytes += entry.file_size();
  ASSERT_GT(bytes, 2'000'000U);
  const Relay relay(port);
  follow("a", {"--read-here", "--job", "llama", all.string()}, relay.port());
  ASSERT_TRUE(has("llama", all)) << messages();
  EXPECT_LT(100 * relay.bytes_to_server(), 3 * bytes)
      << relay.bytes_to_server() << " for " << bytes << " bytes of logs";
  EXPECT_TRUE(eventually([&] { return bodies_of_blocks() > 0; }));
}

TEST_F(ReadHere, LosesAndDoublesNothingWhenServerAndAgentAreKilled) {
  const fs::path file = logs / "a.log";
  append(file, calls_of(0, 10));
  int number = 10;
  const auto grow = [&](int more) {
    for (const int end = number + more; number < end; ++number) {
      const std::string line = call_of(number);
      append(file, line.substr(0, 50));
      append(file, line.substr(50));
    }
  };
  const Relay relay(port);
  follow("a", {"--read-here", "--job", "llama", logs.string()}, relay.port());
  for (int round = 0; round < 6; ++round) {
    grow(1000);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    if (round % 2 == 0) server->kill_now();
    grow(1000);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    if (round % 2 == 0) begin();
    // Kills the one before.
    if (round % 3 != 0) follow("a", {"--read-here", "--job", "llama", logs.string()}, relay.port());
  }
  // After each kill the agent sends lines before it reads again.
  EXPECT_TRUE(eventually([&] {
    grow(10);
    return relay.bodies_of_blocks() > 0;
  })) << messages();
  ASSERT_TRUE(has("llama", logs)) << messages();
  EXPECT_EQ(this->number("llama", "a.log", "lines"), static_cast<std::uint64_t>(number));
  EXPECT_EQ(this->number("llama", "a.log", "events"), static_cast<std::uint64_t>(number));
}

TEST_F(ReadHere, SendsLinesToAnOlderServer) {
  append(logs / "a.log", calls_of(0, 1000));
  const Relay old(port, true);
  follow("a", {"--read-here", "--job", "llama", logs.string()}, old.port());
  ASSERT_TRUE(has("llama", logs)) << messages();
  append(logs / "a.log", calls_of(1000, 2000));
  ASSERT_TRUE(has("llama", logs)) << messages();
  EXPECT_EQ(number("llama", "a.log", "events"), 2000U);
  EXPECT_EQ(bodies_of_blocks(), 0U);
  EXPECT_GE(old.blocks_refused(), 1U);
  EXPECT_LE(old.blocks_refused(), 2U) << "it is not asked all the time";
  EXPECT_THAT(messages(), HasSubstr("does not take what agents read"));
}

// An operator added a secret. What lies in the spool does not hide it, so the files are read again.
TEST_F(ReadHere, SendsLinesToAServerThatReadsThemInAnotherWay) {
  append(logs / "a.log", calls_of(0, 1000));
  follow("a", {"--read-here", "--job", "llama", logs.string()});
  const int sent = append_until_read(logs / "a.log", 1000);
  ASSERT_TRUE(has("llama", logs)) << messages();
  server->kill_now();
  append(logs / "a.log", calls_of(sent, sent + 1000) + "our-pin-123456 was used\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  fs::create_directories(workshop.folder() / "rules");
  workshop.write("rules/secrets.yaml",
                 "shapes:\n"
                 "  - id: our.pin\n"
                 "    literals: ['our-pin-']\n"
                 "    pattern: 'our-pin-(?P<secret>[0-9*]{6})'\n"
                 "    samples: ['our-pin-123456']\n"
                 "    harmless: ['our-pin-none']\n");
  begin({"--rules", (workshop.folder() / "rules").string()});
  ASSERT_TRUE(has("llama", logs)) << messages() << server->messages();
  append(logs / "a.log", calls_of(sent + 1000, sent + 2000));
  ASSERT_TRUE(has("llama", logs)) << messages();
  EXPECT_EQ(number("llama", "a.log", "events"), static_cast<std::uint64_t>(sent + 2000))
      << messages();
  EXPECT_EQ(bodies_of_blocks(), 0U) << "of this server's run";
  EXPECT_TRUE(eventually([&] { return bodies_of_lines() > 0; }));
  const std::string shown =
      plain_get(*server, fmt::format("/api/v1/jobs/llama/lines?line={}&source=gpu-7", sent + 1001) +
                             (logs / "a.log").string())
          .body;
  EXPECT_THAT(shown, HasSubstr("was used"));
  EXPECT_THAT(shown, testing::Not(HasSubstr("123456")));
}

TEST_F(ReadHere, LeavesDumpsToTheServer) {
  const std::string dump = R"({"pg_config": {}, "entries": [], "version": "2.4"})";
  append(logs / "dump.json", dump);
  append(logs / "a.log", calls_of(0, 100));
  follow("a", {"--read-here", "--job", "llama", logs.string()});
  const int sent = append_until_read(logs / "a.log", 100);
  ASSERT_TRUE(has("llama", logs)) << messages();
  EXPECT_TRUE(eventually([&] { return bodies_of_lines() > 0; }));
  EXPECT_EQ(number("llama", "a.log", "events"), static_cast<std::uint64_t>(sent));
}

// What was read behind a line that the server has read to its end meanwhile, because nothing came.
TEST_F(ReadHere, ReadsAgainWhatDoesNotFollowWhatTheServerHolds) {
  begin({"--stall-after", "1s"});
  const fs::path file = logs / "a.log";
  append(file, calls_of(0, 100) + call_of(100).substr(0, 60));
  follow("a", {"--read-here", "--job", "llama", logs.string()});
  ASSERT_TRUE(has("llama", logs)) << messages();
  // Asking for the diagnosis reads it to the end.
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  EXPECT_EQ(plain_get(*server, "/api/v1/jobs/llama/diagnosis").status, 200);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  append(file, call_of(100).substr(60) + calls_of(101, 200));
  ASSERT_TRUE(has("llama", logs)) << messages();
  EXPECT_EQ(number("llama", "a.log", "lines"), 200U) << messages();
  EXPECT_EQ(number("llama", "a.log", "events"), 200U) << messages();
}

}  // namespace
}  // namespace faultline
