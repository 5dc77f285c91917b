// What survives kill -9, and how the server stops when it is asked to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <random>
#include <thread>

#include "curl.h"
#include "raw_client.h"
#include "server_process.h"

namespace faultline {
namespace {

using testing::HasSubstr;

constexpr int kRanks = 8;

// The NCCL log of one rank, a few MB: it sets up a communicator, then calls. Rank 5 stops early.
std::string rank_log(int rank) {
  const std::string who = "node" + std::to_string(rank / 4) + ":" + std::to_string(1000 + rank) +
                          ":" + std::to_string(2000 + rank) + " [" + std::to_string(rank % 4) +
                          "] NCCL INFO ";
  const std::string comm = "0x55d06325" + std::to_string(1000 + rank);
  std::string log;
  for (const char* stage : {"START", "COMPLETE"})
    log += who + "ncclCommInitRank comm " + comm + " rank " + std::to_string(rank) + " nranks " +
           std::to_string(kRanks) + " cudaDev " + std::to_string(rank % 4) + " nvmlDev " +
           std::to_string(rank % 4) + " busId " + std::to_string(rank % 4 + 1) +
           "b000 commId 0x9f3c51a07e22d001 - Init " + stage + "\n";
  const int calls = rank == 5 ? 14990 : 15000;
  std::array<char, 17> hex;
  for (int i = 0; i < calls; ++i) {
    std::snprintf(hex.data(), hex.size(), "%x", i);
    log += who + "AllReduce: opCount " + hex.data() +
           " sendbuff 0x7f0e4fb06000 recvbuff 0x7f0e4fb06000 count " + std::to_string(1 + i % 7) +
           " datatype 7 op 0 root 0 comm " + comm + " [nranks=8] stream 0x55e0b2f43d90\n";
  }
  return log;
}

// Removes the times of arrival; all else must be the same.
void forget_arrival(boost::json::value& value) {
  static constexpr std::string_view kArrival[] = {"last_received", "last_activity", "opened"};
  if (auto* array = value.if_array())
    for (auto& element : *array) forget_arrival(element);
  if (auto* object = value.if_object()) {
    for (const std::string_view name : kArrival) object->erase(name);
    for (auto& member : *object) forget_arrival(member.value());
  }
}

std::string answers_of(const ServerProcess& server) {
  std::string all;
  for (const char* path : {"/api/v1/jobs", "/api/v1/jobs/j", "/api/v1/jobs/j/ranks",
                           "/api/v1/jobs/j/diagnosis", "/api/v1/sources?job=j"}) {
    // Commands in an answer contain the Host of the request, and each server has a port of its own.
    boost::json::value answer = curl(server, path, "-H 'Host: localhost'").json();
    forget_arrival(answer);
    all += std::string(path) + " " + boost::json::serialize(answer) + "\n";
  }
  return all;
}

std::string ingest_path(int rank) {
  return "/api/v1/ingest?job=j&source=rank" + std::to_string(rank) + ".log";
}

TEST(Durability, HasTheSameStateAfterTenKillsAndResendsAsWithoutThem) {
  Workshop logs;
  for (int rank = 0; rank < kRanks; ++rank)
    logs.write("rank" + std::to_string(rank), rank_log(rank));
  const auto file = [&](int rank) {
    return (logs.folder() / ("rank" + std::to_string(rank))).string();
  };

  Workshop calm_folder;
  ServerProcess calm(calm_folder.folder(), {"--stall-after", "0s"});
  for (int rank = 0; rank < kRanks; ++rank)
    ASSERT_EQ(curl(calm, ingest_path(rank), "-T " + file(rank)).status, 200);
  const std::string expected = answers_of(calm);
  EXPECT_THAT(expected, HasSubstr("rank_behind")) << "the logs must have something to say";

  Workshop rough_folder;
  std::mt19937 random(20260305);
  for (int round = 0; round < 10; ++round) {
    ServerProcess rough(rough_folder.folder(), {"--stall-after", "0s"});
    std::vector<std::thread> senders;
    for (const int rank : {round % kRanks, (round + 3) % kRanks})
      senders.emplace_back([&rough, &file, rank] {
        curl(rough, ingest_path(rank), "--limit-rate 8M -T " + file(rank));
      });
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 400));
    rough.kill_now();
    for (std::thread& sender : senders) sender.join();
  }
  ServerProcess rough(rough_folder.folder(), {"--stall-after", "0s"});
  for (int rank = 0; rank < kRanks; ++rank)
    ASSERT_EQ(curl(rough, ingest_path(rank), "-T " + file(rank)).status, 200);
  EXPECT_EQ(answers_of(rough), expected);

  rough.ask_to_stop();
  EXPECT_EQ(rough.wait_for_end(), 0);
  ServerProcess again(rough_folder.folder(), {"--stall-after", "0s"});
  EXPECT_EQ(answers_of(again), expected);
}

TEST(Durability, HoldsWhatItAcknowledgedWhenItIsKilledRightAfter) {
  Workshop workshop;
  {
    ServerProcess server(workshop.folder());
    ASSERT_EQ(curl(server, "/api/v1/ingest?job=j&source=s", "--data-binary 'one\ntwo\n'").status,
              200);
    server.kill_now();
  }
  ServerProcess server(workshop.folder());
  EXPECT_EQ(plain_get(server, "/api/v1/sources?job=j").json().at("sources").at(0).at("next_offset"),
            8);
}

TEST(Durability, DoesNotAccuseARankWhoseUploadWasCutOffByARestart) {
  Workshop logs;
  for (int rank = 0; rank < kRanks; ++rank)
    logs.write("rank" + std::to_string(rank), rank_log(rank == 5 ? 4 : rank));
  Workshop workshop;
  const auto verdict = [](const ServerProcess& server) {
    return std::string(
        plain_get(server, "/api/v1/jobs/j/diagnosis").json().at("verdict").as_string());
  };
  const std::string log = rank_log(3);
  {
    ServerProcess server(workshop.folder());
    for (const int rank : {0, 1, 2, 4, 6, 7})
      curl(server, ingest_path(rank),
           "-T " + (logs.folder() / ("rank" + std::to_string(rank))).string());
    RawClient upload(server.port());
    upload.say("PUT " + ingest_path(3) + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
               std::to_string(log.size()) + "\r\n\r\n" + log.substr(0, log.size() / 2));
    await(server, "/api/v1/sources?job=j",
          [](const Reply& reply) { return reply.body.find("rank3.log") != std::string::npos; });
    server.kill_now();
  }
  {
    ServerProcess server(workshop.folder());
    EXPECT_EQ(verdict(server), "undecided");
  }
  ServerProcess server(workshop.folder(), {"--stall-after", "0s"});
  EXPECT_EQ(verdict(server), "unknown");
  EXPECT_THAT(plain_get(server, "/api/v1/jobs/j/diagnosis").body,
              HasSubstr("the rest of rank3.log"));
  EXPECT_EQ(curl(server, ingest_path(3), "-T " + (logs.folder() / "rank3").string()).status, 200);
  EXPECT_EQ(verdict(server), "unknown") << "rank 5 was not heard";
  EXPECT_THAT(plain_get(server, "/api/v1/jobs/j/diagnosis").body,
              testing::Not(HasSubstr("the rest of rank3.log")));
}

// As a process does that has no memory left.
void be_killed_reading(const std::filesystem::path& folder, const std::string& job) {
  ServerProcess server(folder);
  EXPECT_TRUE(eventually([&] {
    return read_file(folder / "data" / "faultline.reading").find("reading " + job + "\n") !=
           std::string::npos;
  }));
  server.kill_now();
}

TEST(Durability, AJobOfWhichTheServerDiesAtEachStartIsSetAsideAndTheOthersAreServed) {
  Workshop workshop;
  std::string log;
  for (int i = 0; i < 12'000; ++i)
    log += "2026-11-22T10:00:00.000000+00:00 node-" + std::to_string(i) +
           " kernel: NVRM: Xid (PCI:0000:1b:00): 79, pid=77, GPU has fallen off the bus.\n";
  workshop.write("large", log);
  workshop.write("small", log.substr(0, log.find('\n') + 1));
  const auto body = [&](const std::string& job) {
    return "--data-binary @" + (workshop.folder() / job).string();
  };
  {
    ServerProcess server(workshop.folder());
    for (const char* job : {"small", "large"})
      ASSERT_EQ(curl(server, std::string("/api/v1/ingest?source=s&job=") + job, body(job)).status,
                200);
    server.kill_now();
  }
  be_killed_reading(workshop.folder(), "large");
  be_killed_reading(workshop.folder(), "large");
  ServerProcess server(workshop.folder());
  const std::string diagnosis = plain_get(server, "/api/v1/jobs/large/diagnosis").body;
  EXPECT_THAT(diagnosis, HasSubstr("This job is set aside, and not judged: the server died twice"));
  EXPECT_EQ(curl(server, "/api/v1/ingest?source=s&job=large", body("small")).status, 409);
  EXPECT_EQ(curl(server, "/api/v1/ingest?source=t&job=small", body("small")).status, 200);
}

TEST(Stopping, KeepsWhatAnOpenUploadSentAndTellsItWhereToGoOn) {
  Workshop workshop;
  {
    ServerProcess server(workshop.folder());
    RawClient idle(server.port());
    idle.say("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    idle.hear();
    RawClient upload(server.port());
    upload.say(
        "PUT /api/v1/ingest?job=j&source=s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
        "chunked\r\n\r\n"
        "b\r\nwhole\ntorn \r\n");
    await(server, "/metrics", [](const Reply& reply) {
      return reply.body.find("faultline_streams_open 1") != std::string::npos;
    });
    server.ask_to_stop();
    const std::string answer = upload.hear();
    EXPECT_THAT(answer, testing::StartsWith("HTTP/1.1 503 Service Unavailable\r\n"));
    EXPECT_THAT(answer, HasSubstr("\"next_offset\":6"));
    EXPECT_THAT(answer, HasSubstr("Retry-After: "));
    EXPECT_TRUE(upload.hears_the_end());
    EXPECT_TRUE(idle.hears_the_end());
    EXPECT_EQ(server.wait_for_end(), 0) << server.messages();
  }
  ServerProcess server(workshop.folder());
  EXPECT_EQ(plain_get(server, "/api/v1/sources?job=j").json().at("sources").at(0).at("next_offset"),
            6);
}

}  // namespace
}  // namespace faultline
