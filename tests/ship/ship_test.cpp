// `faultline ship` as a user runs it, with a real server.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "curl.h"
#include "eventually.h"
#include "real_program.h"
#include "server_process.h"
#include "workshop.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string call(int number) {
  return fmt::format(
      "gpu-7:4711:4790 [0] NCCL INFO AllReduce: opCount {:x} sendbuff 0x7f0000000000 recvbuff "
      "0x7f0000100000 count 1024 datatype 7 op 0 root 0 comm 0x55aa01 [nranks=2] stream 0x1\n",
      number);
}

std::string calls(int from, int to) {
  std::string text;
  for (int i = from; i < to; ++i) text += call(i);
  return text;
}

struct HeldSource {
  std::uint64_t bytes = 0;
  std::uint64_t lines = 0;
  std::string host;
  int rank = -1;
  bool complete = false;
};

class Ship : public testing::Test {
 protected:
  void begin() {
    server.reset();
    server.emplace(workshop.folder(),
                   std::vector<std::string>{"--listen", fmt::format("127.0.0.1:{}", port)});
  }

  void SetUp() override {
    fs::create_directories(logs);
    begin();
  }

  std::string path(const std::string& name) const { return (logs / name).string(); }

  void append(const std::string& name, const std::string& text) const {
    std::ofstream(logs / name, std::ios::app | std::ios::binary) << text;
  }

  std::string command(const std::string& flags) const {
    return fmt::format("'{}' ship --to http://127.0.0.1:{} --host gpu-7 {} 2>>'{}'",
                       FAULTLINE_BINARY, port, flags, messages_file().string());
  }
  int ship(const std::string& flags, const std::string& before = "") const {
    int status = -1;
    output_of(before + command(flags), &status);
    return status;
  }

  // With a state of its own.
  void follow(std::vector<std::string> more) {
    std::vector<std::string> words{FAULTLINE_BINARY,
                                   "ship",
                                   "--follow",
                                   "--host",
                                   "gpu-7",
                                   "--to",
                                   fmt::format("http://127.0.0.1:{}", port),
                                   "--state",
                                   (workshop.folder() / "state").string()};
    words.insert(words.end(), more.begin(), more.end());
    agent.reset();
    agent.emplace(messages_file(), words, port);
  }

  fs::path messages_file() const { return workshop.folder() / "ship.messages"; }
  std::string messages() const { return read_file(messages_file()); }

  std::map<std::string, HeldSource> held(const std::string& job) const {
    std::map<std::string, HeldSource> sources;
    const Reply reply = plain_get(*server, "/api/v1/sources?job=" + job);
    if (reply.status != 200) return sources;
    const boost::json::object answer = reply.json();
    for (const boost::json::value& entry : answer.at("sources").as_array()) {
      const boost::json::object& source = entry.as_object();
      HeldSource& one = sources[std::string(source.at("source").as_string())];
      one.bytes = source.at("next_offset").to_number<std::uint64_t>();
      one.lines = source.at("lines").to_number<std::uint64_t>();
      one.host = source.at("host").as_string();
      if (!source.at("rank").is_null()) one.rank = source.at("rank").to_number<int>();
      one.complete = source.at("complete").as_bool();
    }
    return sources;
  }

  bool has(const std::string& job, const std::string& source, std::uint64_t bytes) const {
    return eventually([&] { return held(job)[source].bytes >= bytes; }) &&
           held(job)[source].bytes == bytes;
  }

  Workshop workshop;
  const fs::path logs = workshop.folder() / "logs";
  int port = free_port();
  std::optional<ServerProcess> server;
  std::optional<RealProgram> agent;
};

TEST_F(Ship, SendsFilesOnceHoweverOftenItRuns) {
  append("a.log", calls(0, 3000));
  append("b.log", "gpu-7:1:1 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.7<0>\nhalf a line");
  ASSERT_EQ(ship("--job llama " + logs.string()), 0) << messages();
  EXPECT_EQ(ship("--job llama " + logs.string()), 0) << messages();
  append("a.log", calls(3000, 3001));
  EXPECT_EQ(ship("--job llama --final " + path("a.log") + " " + path("b.log")), 0) << messages();
  const auto sources = held("llama");
  ASSERT_EQ(sources.size(), 2U);
  const HeldSource& a = sources.at("gpu-7" + path("a.log"));
  EXPECT_EQ(a.lines, 3001U);
  EXPECT_EQ(a.bytes, fs::file_size(path("a.log")));
  EXPECT_EQ(a.host, "gpu-7");
  EXPECT_EQ(a.rank, -1);
  EXPECT_TRUE(a.complete);
  EXPECT_EQ(sources.at("gpu-7" + path("b.log")).bytes, fs::file_size(path("b.log")));
}

// A new run of the job wrote a new file of the same name.
TEST_F(Ship, SendsAnotherFileOfTheSameNameAsAnotherSource) {
  append("a.log", calls(0, 500));
  ASSERT_EQ(ship("--job llama " + path("a.log")), 0);
  fs::remove(path("a.log"));
  append("a.log", calls(1000, 2000));
  ASSERT_EQ(ship("--job llama " + path("a.log")), 0);
  ASSERT_EQ(ship("--job llama " + path("a.log")), 0);
  const auto sources = held("llama");
  ASSERT_EQ(sources.size(), 2U);
  EXPECT_EQ(sources.at("gpu-7" + path("a.log")).lines, 500U);
  EXPECT_EQ(sources.at("gpu-7" + path("a.log") + "#2").lines, 1000U);
  EXPECT_THAT(messages(), HasSubstr("#2"));
}

TEST_F(Ship, SendsStdinToItsEndAsOneSource) {
  EXPECT_EQ(ship("--job llama --source train -", "printf 'one\\ntwo\\nthree' | "), 0) << messages();
  const HeldSource held_source = held("llama")["train"];
  EXPECT_EQ(held_source.bytes, 13U);
  EXPECT_TRUE(held_source.complete);
}

TEST_F(Ship, SaysWhatIsWrongAndEndsWith2) {
  EXPECT_EQ(ship("--job llama /nowhere/a.log"), 2);
  EXPECT_EQ(ship("--job llama"), 2);
  append("a.log", "line\n");
  server->kill_now();
  EXPECT_EQ(ship("--job llama --retry-for 1s " + path("a.log")), 2);
  EXPECT_THAT(messages(), HasSubstr("cannot read /nowhere/a.log: No such file"));
  EXPECT_THAT(messages(), HasSubstr("say what to send"));
  EXPECT_THAT(messages(), HasSubstr("cannot be reached: Connection refused"));
}

// The programs that write the logs say of which job and rank they are.
TEST_F(Ship, TakesJobAndRankFromTheEnvironmentOfWhoWritesTheLog) {
  const std::string keep_open = "sh -c 'exec 3>>\"$0\"; echo line >&3; exec sleep 300' ";
  std::vector<std::unique_ptr<RealProgram>> writers;
  const auto write = [&](const std::string& environment, const std::string& name) {
    writers.push_back(std::make_unique<RealProgram>(
        messages_file(),
        std::vector<std::string>{
            "/bin/sh", "-c", fmt::format("exec env {} {}'{}'", environment, keep_open, path(name))},
        port));
  };
  write("SLURM_JOB_ID=4711 RANK=5 LOCAL_RANK=1", "rank5.log");
  write("SLURM_JOB_ID=4711 RANK=6 LOCAL_RANK=0", "both.log");
  write("SLURM_JOB_ID=4711 RANK=7 LOCAL_RANK=1", "both.log");
  write("SLURM_JOB_ID=4711 RANK=1 SLURM_PROCID=1", "launcher.log");
  write("SLURM_JOB_ID=4711", "of_4711_and_4712.log");
  write("SLURM_JOB_ID=4712", "of_4711_and_4712.log");
  EXPECT_TRUE(eventually([&] {
    return read_file(path("both.log")) == "line\nline\n" &&
           read_file(path("of_4711_and_4712.log")) == "line\nline\n" &&
           read_file(path("rank5.log")) == "line\n" && read_file(path("launcher.log")) == "line\n";
  }));
  follow({logs.string()});
  EXPECT_TRUE(has("4711", "gpu-7" + path("rank5.log"), 5));
  EXPECT_TRUE(has("4711", "gpu-7" + path("both.log"), 10));
  EXPECT_EQ(held("4711")["gpu-7" + path("rank5.log")].rank, 5);
  EXPECT_EQ(held("4711")["gpu-7" + path("both.log")].rank, -1);
  // A launcher of several ranks has the number of its node or pod.
  EXPECT_TRUE(has("4711", "gpu-7" + path("launcher.log"), 5));
  EXPECT_EQ(held("4711")["gpu-7" + path("launcher.log")].rank, -1);
  EXPECT_TRUE(has("unlabelled", "gpu-7" + path("of_4711_and_4712.log"), 10)) << messages();
}

// The next job writes its log where the one before did.
TEST_F(Ship, SendsAFileThatAnotherJobWritesAnewToThatJob) {
  const auto write = [&](const std::string& job, const std::string& line) {
    return std::make_unique<RealProgram>(
        messages_file(),
        std::vector<std::string>{
            "/bin/sh", "-c",
            fmt::format("exec env FAULTLINE_JOB={} sh -c 'exec 3>\"$0\"; echo {} >&3; exec sleep "
                        "300' '{}'",
                        job, line, path("train.log"))},
        port);
  };
  auto first = write("first", "the-first-job-says-this");
  follow({logs.string()});
  EXPECT_TRUE(has("first", "gpu-7" + path("train.log"), 24)) << messages();
  first.reset();
  const auto second = write("second", "and-this-is-the-other");
  EXPECT_TRUE(has("second", "gpu-7" + path("train.log"), 22)) << messages();
  EXPECT_EQ(held("first")["gpu-7" + path("train.log")].bytes, 24U);
}

// Whoever corrects a job's name wants its logs there.
TEST_F(Ship, SendsToTheJobThatIsSaidNow) {
  append("a.log", "line\n");
  follow({"--job", "lama", logs.string()});
  EXPECT_TRUE(has("lama", "gpu-7" + path("a.log"), 5));
  EXPECT_EQ(agent->stop(), 0);
  follow({"--job", "llama", logs.string()});
  EXPECT_TRUE(has("llama", "gpu-7" + path("a.log"), 5));
}

TEST_F(Ship, SendsStdinOfASecondRunAsAnotherSource) {
  ASSERT_EQ(ship("--job llama --source train -", "echo first | "), 0);
  ASSERT_EQ(ship("--job llama --source train -", "echo second run | "), 0);
  EXPECT_EQ(held("llama")["train"].bytes, 6U);
  EXPECT_EQ(held("llama")["train#2"].bytes, 11U);
}

// What is in the spool only is not thrown away, whatever the server has.
TEST_F(Ship, SendsWhatItsSpoolHoldsOfAFileThatIsGone) {
  append("a.log", calls(0, 100));
  const std::uint64_t first = fs::file_size(path("a.log"));
  follow({"--job", "llama", logs.string()});
  ASSERT_TRUE(has("llama", "gpu-7" + path("a.log"), first));
  server->kill_now();
  append("a.log", calls(100, 5000));
  const std::uint64_t all = fs::file_size(path("a.log"));
  std::this_thread::sleep_for(std::chrono::seconds{2});
  EXPECT_EQ(agent->stop(), 0);
  fs::remove(path("a.log"));
  begin();
  follow({"--job", "llama", logs.string()});
  EXPECT_TRUE(has("llama", "gpu-7" + path("a.log"), all)) << messages();
}

// The server was killed after it stored what came first, and before it answered.
TEST_F(Ship, SendsWhatTheServerHasOfAFileThatIsGoneOnlyOnce) {
  append("a.log", "");
  follow({"--job", "llama", logs.string()});
  const std::string source = "gpu-7" + path("a.log");
  workshop.write("first", calls(0, 100));
  ASSERT_EQ(curl(*server, "/api/v1/ingest?job=llama&host=gpu-7&offset=0&source=" + source,
                 "-T " + (workshop.folder() / "first").string())
                .status,
            200);
  server->kill_now();
  append("a.log", calls(0, 5000));
  const std::uint64_t all = fs::file_size(path("a.log"));
  std::this_thread::sleep_for(std::chrono::seconds{2});
  EXPECT_EQ(agent->stop(), 0);
  fs::remove(path("a.log"));
  begin();
  follow({"--job", "llama", logs.string()});
  EXPECT_TRUE(has("llama", source, all)) << messages();
  EXPECT_EQ(held("llama")[source].lines, 5000U);
}

// Logs are rotated in each way, the server and the agent are killed, and the server is away.
TEST_F(Ship, FollowsEachLineOnceThroughRotationKillsAndAbsence) {
  std::atomic<bool> stop = false;
  std::map<std::string, std::string> all;
  std::vector<std::string> names{"renamed.log", "packed.log", "copied.log", "copied_packed.log"};
  for (const std::string& name : names) all[name];
  std::vector<std::thread> writers;
  for (const std::string& name : names)
    writers.emplace_back([&, name] {
      std::ofstream file(logs / name, std::ios::app | std::ios::binary);
      std::string& text = all[name];
      const auto part = [&](int age) { return fmt::format("{}.{}", path(name), age); };
      for (int number = 0, turn = 0; !stop; ++turn) {
        for (int i = 0; i < 20; ++i, ++number) {
          file << call(number);
          text += call(number);
        }
        file.flush();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        if (turn % 20 != 19) continue;
        for (int age = 60; age > 0; --age)
          for (const char* packing : {"", ".gz"})
            if (fs::exists(part(age) + packing))
              fs::rename(part(age) + packing, part(age + 1) + packing);
        if (name.starts_with("copied")) {
          fs::copy_file(logs / name, part(1));
          fs::resize_file(logs / name, 0);
        } else {
          fs::rename(logs / name, part(1));
          file.close();
          file.open(logs / name, std::ios::app | std::ios::binary);
        }
        if (name.find("packed") != std::string::npos) output_of(fmt::format("gzip '{}'", part(1)));
      }
    });
  follow({"--job", "llama", logs.string()});
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1000));
    server->kill_now();
    if (round % 2 == 1) std::this_thread::sleep_for(std::chrono::milliseconds(1000));
    begin();
    if (round == 1) follow({"--job", "llama", logs.string()});
    if (round == 2) {
      EXPECT_EQ(agent->stop(), 0);
      follow({"--job", "llama", logs.string()});
    }
  }
  stop = true;
  for (std::thread& writer : writers) writer.join();
  for (const auto& [name, text] : all) {
    EXPECT_TRUE(has("llama", "gpu-7" + path(name), text.size()))
        << name << ": " << held("llama")["gpu-7" + path(name)].bytes << " of " << text.size()
        << "\n"
        << messages();
    EXPECT_EQ(held("llama")["gpu-7" + path(name)].lines,
              static_cast<std::uint64_t>(std::ranges::count(text, '\n')));
  }
  EXPECT_EQ(held("llama").size(), names.size());
  EXPECT_EQ(agent->stop(), 0);
}

// Between the renaming of a log and its first new line there is only nccl.log.1.
TEST_F(Ship, SendsALogThatIsRotatedWhileItIsFoundOnce) {
  append("at_once.log.1", calls(0, 100));
  append("later.log.1", calls(0, 100));
  follow({"--job", "llama", logs.string()});
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  append("at_once.log", calls(100, 200));
  const std::uint64_t all = calls(0, 200).size();
  EXPECT_TRUE(has("llama", "gpu-7" + path("at_once.log"), all)) << messages();
  // It was a log of its own for long.
  const std::uint64_t half = calls(0, 100).size();
  EXPECT_TRUE(has("llama", "gpu-7" + path("later.log.1"), half)) << messages();
  append("later.log", calls(100, 200));
  EXPECT_TRUE(has("llama", "gpu-7" + path("later.log"), all - half)) << messages();
  fs::rename(path("later.log.1"), path("later.log.2"));
  fs::rename(path("later.log"), path("later.log.1"));
  append("later.log", calls(200, 300));
  EXPECT_TRUE(has("llama", "gpu-7" + path("later.log"), calls(100, 300).size())) << messages();
  EXPECT_EQ(held("llama")["gpu-7" + path("later.log.1")].bytes, half);
  // What it had not read of that when it ended.
  EXPECT_EQ(agent->stop(), 0);
  append("later.log.2", calls(300, 310));
  follow({"--job", "llama", logs.string()});
  EXPECT_TRUE(has("llama", "gpu-7" + path("later.log.1"), half + calls(300, 310).size()))
      << messages();
  EXPECT_EQ(held("llama")["gpu-7" + path("later.log")].bytes, calls(100, 300).size());
  EXPECT_EQ(held("llama").size(), 3U);
}

// A database that was restored from a backup, or a job that was deleted.
TEST_F(Ship, SendsAgainWhatAServerLost) {
  append("a.log", calls(0, 1000));
  follow({"--job", "llama", logs.string()});
  const std::string source = "gpu-7" + path("a.log");
  ASSERT_TRUE(has("llama", source, fs::file_size(path("a.log"))));
  EXPECT_EQ(curl(*server, "/api/v1/jobs/llama", "-X DELETE").status, 204);
  append("a.log", calls(1000, 1100));
  EXPECT_TRUE(has("llama", source, fs::file_size(path("a.log")))) << messages();
  EXPECT_EQ(held("llama")[source].lines, 1100U);
}

TEST_F(Ship, SendsTheKernelsMessagesOfThisBootOnce) {
  if (access("/dev/kmsg", R_OK) != 0) GTEST_SKIP() << "/dev/kmsg cannot be read here";
  const std::string flags = "--job llama --kmsg";
  ASSERT_EQ(ship(flags), 0) << messages();
  const auto once = held("llama");
  ASSERT_EQ(once.size(), 1U);
  EXPECT_GT(once.begin()->second.lines, 10U);
  ASSERT_EQ(ship(flags), 0) << messages();
  const auto twice = held("llama");
  ASSERT_EQ(twice.size(), 1U);
  // A few records may have come meanwhile.
  EXPECT_LT(twice.begin()->second.lines, once.begin()->second.lines + 20);
}

}  // namespace
}  // namespace faultline
