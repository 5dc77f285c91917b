// One sender must not keep others from being served.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "curl.h"
#include "raw_client.h"
#include "server_process.h"

namespace faultline {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kXid =
    "2026-11-22T10:00:00.000000+00:00 node-1 kernel: NVRM: Xid (PCI:0000:1b:00): 79, pid=77, GPU "
    "has "
    "fallen off the bus.\n";

Reply post(const ServerProcess& server, const std::string& job, std::string_view text,
           const std::string& flags = "") {
  Workshop workshop;
  workshop.write("log", text);
  return curl(server, "/api/v1/ingest?source=log&job=" + job,
              "--data-binary @" + (workshop.folder() / "log").string() + " " + flags);
}

std::string verdict_of(const ServerProcess& server, const std::string& job) {
  return std::string(
      plain_get(server, "/api/v1/jobs/" + job + "/diagnosis").json().at("verdict").as_string());
}

TEST(Limits, APeerThatStallsAllItsUploadsLeavesRoomForOthers) {
  Workshop workshop;
  ServerProcess server(workshop.folder(), {"--max-connections", "40"});
  std::vector<std::unique_ptr<RawClient>> stalled;
  for (int i = 0; i < 60; ++i) {
    stalled.push_back(std::make_unique<RawClient>(server.port()));
    stalled.back()->say(
        "PUT /api/v1/ingest?job=j HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx");
  }
  EXPECT_THAT(stalled.back()->hear(), testing::StartsWith("HTTP/1.1 503 "));
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(curl(server, "/api/v1/jobs", "--interface 127.0.0.2").status, 200);
}

// ./dev bench --flood measures how much the other clients lose.
TEST(Limits, PeersThatSendAByteNowAndThenKeepNobodyFromAnAnswer) {
  constexpr int kSlow = 500;
  constexpr std::size_t kGood = 50;
  Workshop workshop;
  ServerProcess server(workshop.folder());
  ASSERT_EQ(post(server, "good", kXid).status, 200);
  std::vector<std::unique_ptr<RawClient>> slow;
  for (int i = 0; i < kSlow; ++i) {
    slow.push_back(std::make_unique<RawClient>(server.port()));
    EXPECT_TRUE(slow.back()->say("PUT /api/v1/ingest?job=slow&source=s" + std::to_string(i) +
                                 " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n"));
  }
  std::vector<std::unique_ptr<RawClient>> good;
  for (std::size_t i = 0; i < kGood; ++i)
    good.push_back(std::make_unique<RawClient>(server.port()));
  for (int round = 0; round < 4; ++round) {
    for (const auto& client : slow) EXPECT_TRUE(client->say("x"));
    for (const auto& client : good)
      client->say("GET /api/v1/jobs/good/diagnosis HTTP/1.1\r\nHost: localhost\r\n\r\n");
    std::size_t answered = 0;
    for (const auto& client : good)
      if (client->hear().starts_with("HTTP/1.1 200 ")) ++answered;
    EXPECT_EQ(answered, kGood);
  }
}

// Each is a peer of its own and never silent.
TEST(Limits, WhoDribblesARequestGivesWayToOthers) {
  Workshop workshop;
  ServerProcess server(workshop.folder(), {"--max-connections", "4"});
  const std::string rest = " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  const std::string body = rest + "Content-Length: 9999\r\n\r\n";
  std::vector<std::unique_ptr<RawClient>> slow;
  for (const std::string& begin :
       {"PUT /api/v1/ingest?job=slow" + body, "POST /api/v1/ingest/json?job=slow" + body,
        "POST /mcp" + body, "GET /api/v1/jobs" + rest + "X-Long: "}) {
    const std::string from = "127.0.0." + std::to_string(2 + slow.size());
    slow.push_back(std::make_unique<RawClient>(server.port(), from));
    EXPECT_TRUE(slow.back()->say(begin));
  }
  std::jthread dribbling([&](const std::stop_token& stop) {
    for (; !stop.stop_requested(); std::this_thread::sleep_for(std::chrono::milliseconds(100)))
      for (const auto& client : slow) client->say("x");
  });
  std::vector<std::unique_ptr<RawClient>> good;
  const auto is_answered = [&] {
    const std::string from = "127.0.0." + std::to_string(20 + good.size());
    auto client = std::make_unique<RawClient>(server.port(), from);
    client->say("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    if (!client->hear().starts_with("HTTP/1.1 200 ")) return false;
    good.push_back(std::move(client));  // and it stays
    return true;
  };
  for (std::size_t i = 0; i < slow.size(); ++i) EXPECT_TRUE(eventually(is_answered));
  for (const auto& client : slow) {
    const std::string told = client->hear();
    EXPECT_THAT(told, testing::StartsWith("HTTP/1.1 503 "));
    EXPECT_THAT(told, HasSubstr("many connections are open"));
    EXPECT_THAT(told, HasSubstr("Retry-After: "));
  }
}

TEST(Limits, ABodyInWhichNothingIsKnownIsNotReadToItsEnd) {
  Workshop workshop;
  ServerProcess server(workshop.folder());
  const Reply reply =
      curl(server, "/api/v1/ingest?job=j&source=s", "-H 'Content-Encoding: gzip' --data-binary @-",
           "head -c 200000000 /dev/zero | tr '\\0' '\\n' | gzip -1 |");
  EXPECT_EQ(reply.status, 413);
  EXPECT_THAT(reply.body, HasSubstr("lines has a known form; the rest of the body"));
}

TEST(Limits, AFewOfThousandsOfFaultsAreNamedAndTheRestAreCounted) {
  std::string log;
  for (int i = 0; i < 20'000; ++i) {
    char line[200];
    std::snprintf(
        line, sizeof line,
        "2026-11-22T10:00:00.000000+00:00 node-%d kernel: NVRM: Xid (PCI:0000:1b:00): 79, "
        "pid=77, GPU has fallen off the bus.\n",
        i);
    log += line;
  }
  Workshop workshop;
  ServerProcess server(workshop.folder(), {"--stall-after", "0s"});
  ASSERT_EQ(post(server, "many", log).status, 200);
  const Reply reply = plain_get(server, "/api/v1/jobs/many/diagnosis");
  EXPECT_LT(reply.body.size(), 3'000'000U);
  EXPECT_THAT(reply.body, HasSubstr("node-0 fell off the bus"));
  EXPECT_THAT(reply.body, HasSubstr("others like it"));
}

TEST(Limits, AJobCanBeForgottenAndSentAgain) {
  Workshop workshop;
  ServerProcess server(workshop.folder(), {"--stall-after", "0s"});
  ASSERT_EQ(post(server, "a", kXid).status, 200);
  ASSERT_EQ(post(server, "b", kXid).status, 200);
  EXPECT_EQ(curl(server, "/api/v1/jobs/a", "-X DELETE").status, 204);
  EXPECT_EQ(curl(server, "/api/v1/jobs/a", "-X DELETE").status, 404);
  EXPECT_EQ(plain_get(server, "/api/v1/jobs/a/diagnosis").status, 404);
  EXPECT_EQ(verdict_of(server, "b"), "failed");
  const auto findings = plain_get(server, "/api/v1/findings?job=a").json();
  for (const auto& finding : findings.at("findings").as_array())
    EXPECT_EQ(finding.at("state"), "resolved");
  const Reply again = post(server, "a", kXid);
  EXPECT_EQ(again.json().at("duplicate_bytes"), 0);
  EXPECT_EQ(verdict_of(server, "a"), "failed");
}

// Overwrites a stored line of a job, as a failing disk would.
void damage(const std::filesystem::path& data) {
  int exit = 0;
  const std::string file = (data / "faultline.db").string();
  output_of(
      "f='" + file +
          "'; at=$(grep -abo 'GPU has fallen off the bus' \"$f\" | tail -1 | cut -d: -f1); "
          "[ -n \"$at\" ] && printf Z | dd of=\"$f\" bs=1 seek=\"$at\" conv=notrunc 2>/dev/null",
      &exit);
  ASSERT_EQ(exit, 0) << "nothing to damage was found";
}

TEST(Limits, AJobWhoseBatchesAreDamagedIsSetAsideAndTheOthersAreServed) {
  Workshop workshop;
  {
    ServerProcess server(workshop.folder(), {"--keep-lines", "0"});
    ASSERT_EQ(post(server, "a", kXid).status, 200);
    // Thousands of lines, so that the two jobs share no page.
    std::string calls = "node-1:1:1 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\n";
    for (int i = 0; i < 3000; ++i)
      calls +=
          "node-1:1:1 [0] NCCL INFO Channel " + std::to_string(i) + "/0 : 0[0] -> 1[1] via P2P\n";
    ASSERT_EQ(post(server, "b", calls).status, 200);
    server.ask_to_stop();
    ASSERT_EQ(server.wait_for_end(), 0);
  }
  damage(workshop.folder() / "data");
  ServerProcess server(workshop.folder());
  const Reply diagnosis = plain_get(server, "/api/v1/jobs/a/diagnosis");
  EXPECT_EQ(diagnosis.status, 200);
  EXPECT_EQ(diagnosis.json().at("verdict"), "unknown");
  EXPECT_THAT(diagnosis.body, HasSubstr("This job is set aside, and not judged: "));
  EXPECT_THAT(diagnosis.body, HasSubstr("does not match its checksum"));
  EXPECT_THAT(diagnosis.body, Not(HasSubstr("fell off the bus")));
  const Reply refused = post(server, "a", kXid);
  EXPECT_EQ(refused.status, 409);
  EXPECT_THAT(refused.body, HasSubstr("curl -X DELETE"));
  EXPECT_THAT(plain_get(server, "/metrics").body, HasSubstr("faultline_jobs_set_aside "));
}

TEST(Limits, LinesThatAreKeptAndDamagedChangeNoAnswer) {
  Workshop workshop;
  {
    ServerProcess server(workshop.folder());
    ASSERT_EQ(post(server, "a", kXid).status, 200);
    server.ask_to_stop();
    ASSERT_EQ(server.wait_for_end(), 0);
  }
  damage(workshop.folder() / "data");  // the last occurrence is in the kept lines
  ServerProcess server(workshop.folder(), {"--stall-after", "0s"});
  const Reply told = curl(server, "/api/v1/jobs/a/reanalyze", "-X POST");
  EXPECT_EQ(told.status, 200);
  EXPECT_EQ(told.json().at("damaged"), 1) << told.body;
  EXPECT_EQ(verdict_of(server, "a"), "failed");
  EXPECT_EQ(plain_get(server, "/api/v1/jobs/a/lines?source=log&line=1").status, 200);
}

// A file that takes room on the disk, without being written.
class LargeFile {
 public:
  LargeFile(const std::filesystem::path& path, off_t bytes) : path_(path) {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    EXPECT_EQ(posix_fallocate(file, 0, bytes), 0);
    close(file);
  }
  ~LargeFile() { std::filesystem::remove(path_); }
  LargeFile(const LargeFile&) = delete;
  LargeFile& operator=(const LargeFile&) = delete;

 private:
  std::filesystem::path path_;
};

TEST(Limits, ADiskWithoutRoomIsSaidAndHealsByItself) {
  constexpr off_t kRoom = off_t{512} << 20;  // more than others write to this disk meanwhile
  Workshop workshop;
  const auto free = std::filesystem::space(workshop.folder()).available;
  ASSERT_GT(free, 3 * kRoom);
  ServerProcess server(workshop.folder(), {"--min-free", std::to_string(free - kRoom)});
  {
    const LargeFile large(workshop.folder() / "large", 2 * kRoom);
    const Reply refused = post(server, "a", kXid, "-i");
    EXPECT_EQ(refused.status, 503);
    EXPECT_THAT(refused.body, HasSubstr("\r\nRetry-After: "));
    EXPECT_THAT(refused.body, HasSubstr("MB are free on this disk"));
    EXPECT_EQ(plain_get(server, "/readyz").status, 503);
    EXPECT_EQ(plain_get(server, "/healthz").status, 200);
    EXPECT_EQ(plain_get(server, "/api/v1/jobs").status, 200);
  }
  EXPECT_EQ(plain_get(server, "/readyz").status, 200);
  EXPECT_EQ(post(server, "a", kXid).status, 200);
  EXPECT_EQ(verdict_of(server, "a"), "undecided");
}

TEST(Limits, AServerOfThisMachineAnswersToNoOtherName) {
  Workshop workshop;
  ServerProcess server(workshop.folder(), {"--allow-host", "faultline.example"});
  const auto status = [&](const std::string& host) {
    return curl(server, "/api/v1/jobs", "-H 'Host: " + host + "'").status;
  };
  for (const char* host : {"localhost", "LOCALHOST:8686", "127.0.0.1", "127.0.0.1:1", "[::1]:8686",
                           "faultline.example", "Faultline.Example:443", "faultline.example."})
    EXPECT_EQ(status(host), 200) << host;
  for (const char* host : {"evil.example", "127.0.0.1.evil.example", "localhost.evil.example",
                           "faultline.example.evil.example", "127.0.0.1@evil.example",
                           "[::1].evil.example", "[evil", "[evil.example]:8686", "[::1]:8686.evil"})
    EXPECT_EQ(status(host), 421) << host;
  const std::string refused = curl(server, "/healthz", "-H 'Host: evil.example:80'").body;
  EXPECT_THAT(refused, HasSubstr("Misdirected Request"));
  EXPECT_THAT(refused, HasSubstr("ask for localhost or for its address, or start it with "
                                 "--allow-host evil.example\""));
}

// As in a container whose port is published on the loopback address of its host.
TEST(Limits, AnOpenServerOfAllAddressesAnswersToNoNameOfThePublicInternet) {
  Workshop workshop;
  ServerProcess server(workshop.folder(), {"--listen", "0.0.0.0:0", "--insecure"});
  const auto status = [&](const std::string& host) {
    return curl(server, "/api/v1/jobs", "-H 'Host: " + host + "'").status;
  };
  for (const char* host : {"localhost:8686", "10.0.0.7:8686", "faultline", "faultline:8686"})
    EXPECT_EQ(status(host), 200) << host;
  for (const char* host : {"evil.example", "faultline.evil.example:8686"})
    EXPECT_EQ(status(host), 421) << host;
}

TEST(Limits, NamesThatLookLikeOthersOrThatNoAddressCanHoldAreRefused) {
  Workshop workshop;
  ServerProcess server(workshop.folder());
  for (const char* name :
       {"llama%E2%80%AEx", "llama%E2%80%8B", "%EF%BB%BFllama", "a%E2%80%A8b", ".", "%2E%2E"})
    EXPECT_EQ(post(server, name, kXid).status, 400) << name;
  EXPECT_EQ(post(server, "l%C3%A4rm-%E2%82%AC", kXid).status, 200);
}

}  // namespace
}  // namespace faultline
