// Secrets in lines that are sent to the real server are in none of its files and answers.
#include "rules/knowledge/secrets.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "curl.h"
#include "fake_receiver.h"
#include "rules/knowledge/catalog.h"
#include "server_process.h"
#include "workshop.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Puts other letters into each line, so that no two secrets are equal.
std::string made_unlike(std::string line, std::size_t number) {
  const std::string letters = expanded_sample("<8>");
  const std::string own = "N" + std::to_string(10000 + number) + "xQ";
  for (std::size_t at = line.find(letters); at != std::string::npos;
       at = line.find(letters, at + own.size()))
    line.replace(at, letters.size(), own);
  return line;
}

struct Hidden {
  std::vector<std::string> lines;
  std::set<std::string> secrets;
};

Hidden all_shapes() {
  Hidden all;
  const Catalog catalog = load_catalog();
  for (const SecretShape& shape : catalog.secrets->shapes())
    for (const std::string& sample : shape.samples) {
      const std::string line = made_unlike(expanded_sample(sample), all.lines.size());
      std::string shown;
      OpenSecret open;
      if (!catalog.secrets->hide(line, false, open, shown)) ADD_FAILURE() << line;
      all.lines.push_back(line);
      for (std::size_t begin = 0; (begin = shown.find('*', begin)) != std::string::npos;) {
        const std::size_t end = std::min(shown.find_first_not_of('*', begin), shown.size());
        all.secrets.insert(line.substr(begin, end - begin));
        begin = end;
      }
    }
  return all;
}

TEST(SecretsInLogs, AreInNoFileOfTheServerNoAnswerAndNoAlert) {
  const Hidden all = all_shapes();
  ASSERT_GE(all.secrets.size(), 60U);
  Workshop workshop;
  FakeReceiver hook;
  ServerProcess server(workshop.folder(),
                       {"--stall-after", "0s", "--alert-hold", "0s", "--webhook", hook.url()});

  // All kinds of lines that answers quote: an exception, a fault in the kernel log, an unread
  // complaint, a setting.
  std::string body;
  for (std::size_t i = 0; i < all.lines.size(); ++i) {
    body += "[rank" + std::to_string(i) + "]: Traceback (most recent call last):\n[rank" +
            std::to_string(i) + "]:   File \"train.py\", line 3, in main\n[rank" +
            std::to_string(i) + "]: RuntimeError: " + all.lines[i] + "\n";
    body +=
        "2026-03-05T02:47:10Z gpu-7 kernel: NVRM: Xid (PCI:0000:3b:00): 79, " + all.lines[i] + "\n";
    body += "ERROR: cannot go on: " + all.lines[i] + "\n";
    body += "gpu-7:42:43 [0] NCCL INFO NET/Plugin: x = @ " + all.lines[i] + "\n";
    body += "gpu-7:42:43 [0] NCCL INFO " + all.lines[i] + "\n";
    body += all.lines[i] + "\n";
  }
  workshop.write("whole", body);
  EXPECT_EQ(curl(server, "/api/v1/ingest?job=j&source=whole",
                 "--data-binary @" + (workshop.folder() / "whole").string())
                .status,
            200);
  // The same text in bodies that end anywhere, mostly inside a line: as files of their own, and as
  // pieces of one file.
  constexpr std::size_t kPiece = 2999;
  for (std::size_t at = 0; at < body.size(); at += kPiece) {
    workshop.write("piece", body.substr(at, kPiece));
    for (const std::string& source : {std::string("files"), fmt::format("pieces&offset={}", at)})
      EXPECT_EQ(curl(server, "/api/v1/ingest?job=j&source=" + source,
                     "--data-binary @" + (workshop.folder() / "piece").string())
                    .status,
                200);
  }

  std::string told;
  // These answers are what the page shows.
  for (const char* path :
       {"/api/v1/jobs/j/diagnosis", "/api/v1/jobs/j/diagnosis?explain=1",
        "/api/v1/jobs/j/diagnosis?format=text", "/api/v1/jobs/j/diagnosis?format=markdown",
        "/api/v1/jobs/j/diagnosis?format=html", "/api/v1/jobs/j", "/api/v1/jobs/j/ranks",
        "/api/v1/jobs/j/timeline", "/api/v1/findings", "/api/v1/hosts", "/api/v1/hosts/gpu-7",
        "/api/v1/sources?job=j", "/api/v1/jobs", "/metrics"}) {
    const Reply reply = plain_get(server, path);
    EXPECT_EQ(reply.status, 200) << path;
    told += reply.body;
  }
  told += curl(server, "/api/v1/findings/stream", "--max-time 2").body;
  EXPECT_TRUE(hook.await(1));
  std::string alerts;
  for (const FakeReceiver::Heard& heard : hook.heard()) alerts += heard.body;
  EXPECT_NE(alerts.find("***"), std::string::npos);
  told += alerts;
  EXPECT_NE(told.find("***"), std::string::npos);
  // Kept lines are compressed on the disk, so the test asks for them.
  std::size_t shown = 0;
  for (const std::string source : {"whole", "pieces"})
    for (std::size_t line = 150; line < 13 * all.lines.size(); line += 300) {
      const Reply reply = plain_get(server, "/api/v1/jobs/j/lines?around=150&source=" + source +
                                                "&line=" + std::to_string(line));
      EXPECT_EQ(reply.status, 200);
      const boost::json::object around = reply.json();
      for (const boost::json::value& one : around.at("lines").as_array())
        shown += one.at("text").is_string() ? 1 : 0;
      told += reply.body;
    }
  EXPECT_GT(shown, 8 * all.lines.size());

  std::string kept;
  for (const auto& entry : fs::recursive_directory_iterator(workshop.folder() / "data"))
    if (entry.is_regular_file()) kept += bytes_of(entry.path());
  const std::string messages = bytes_of(workshop.folder() / "messages");
  for (const std::string& secret : all.secrets) {
    if (secret.size() < 8) continue;
    EXPECT_EQ(told.find(secret), std::string::npos) << "told: " << secret;
    EXPECT_EQ(kept.find(secret), std::string::npos) << "kept: " << secret;
    EXPECT_EQ(messages.find(secret), std::string::npos) << "logged: " << secret;
  }
}

TEST(SecretsInLogs, AreKeptOnlyByChoice) {
  Workshop workshop;
  ServerProcess server(workshop.folder(), {"--keep-secrets"});
  curl(server, "/api/v1/ingest?job=j&source=s",
       "--data-binary '[rank3]: Traceback (most recent call last):\n[rank3]:   File \"a.py\", line "
       "3, in f\n[rank3]: ValueError: DB_PASSWORD=x7Xm2Kd9\nstep 1\n'");
  EXPECT_NE(plain_get(server, "/api/v1/jobs/j/diagnosis").body.find("x7Xm2Kd9"), std::string::npos);
}

void send_a_fault(Workshop& workshop, const ServerProcess& server) {
  workshop.write("dmesg",
                 "[ 1000.000001] NVRM: Xid (PCI:0000:3b:00): 79, pid=4021, name=python3, GPU has "
                 "fallen off the bus.\n");
  curl(server, "/api/v1/ingest?job=j&source=s&host=gpu-7",
       "--data-binary @" + (workshop.folder() / "dmesg").string());
}

// Whoever knows the path of a hook can write to it.
TEST(SecretsInLogs, OfAHookAreNeitherInMetricsNorInMessages) {
  Workshop workshop;
  ServerProcess server(workshop.folder(), {"--stall-after", "0s", "--webhook",
                                           "http://127.0.0.1:9/hooks/q7Xm2Kd9?token=Rw4Tz6Hb"});
  send_a_fault(workshop, server);
  const std::string metrics = plain_get(server, "/metrics").body;
  EXPECT_NE(metrics.find("receiver=\"http://127.0.0.1:9/#"), std::string::npos) << metrics;
  for (const char* secret : {"q7Xm2Kd9", "Rw4Tz6Hb"}) {
    EXPECT_EQ(metrics.find(secret), std::string::npos);
    EXPECT_EQ(bytes_of(workshop.folder() / "messages").find(secret), std::string::npos);
  }
}

TEST(SecretsInLogs, OfAReviewAreNotKept) {
  Workshop workshop;
  ServerProcess server(workshop.folder(), {"--stall-after", "0s"});
  send_a_fault(workshop, server);
  EXPECT_EQ(plain_get(server, "/api/v1/jobs/j/diagnosis").status, 200);
  const boost::json::object listed = plain_get(server, "/api/v1/findings").json();
  ASSERT_FALSE(listed.at("findings").as_array().empty());
  const std::string id(listed.at("findings").at(0).at("finding").as_string());
  const std::string path = "/api/v1/findings/" + id;
  EXPECT_EQ(curl(server, path + "/review",
                 "-H 'Content-Type: application/json' --data-binary "
                 "'{\"verdict\":\"acknowledged\",\"by\":\"ada token=q7Xm2Kd9Rw4Tz6Hb\","
                 "\"note\":\"see below\\nDB_PASSWORD=x7Xm2Kd9\"}'")
                .status,
            200);
  const boost::json::object review =
      plain_get(server, path).json().at("reviews").as_array().at(0).as_object();
  EXPECT_EQ(review.at("by"), "ada token=****************");
  EXPECT_EQ(review.at("note"), "see below\nDB_PASSWORD=********");
}

}  // namespace
}  // namespace faultline
