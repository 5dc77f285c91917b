// Secrets in lines that are sent to the real server are in none of its files and answers.
#include "rules/knowledge/secrets.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "curl.h"
#include "fake_receiver.h"
#include "mcp_client.h"
#include "model/batch_bytes.h"
#include "model/json.h"
#include "raw_client.h"
#include "rules/knowledge/catalog.h"
#include "server_process.h"
#include "store/store.h"
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

// All kinds of lines that answers quote: an exception, a fault in the kernel log, an unread
// complaint, a setting. Also a communicator, so that its operations can be asked for.
std::string log_of(const std::vector<std::string>& lines) {
  std::string body =
      "gpu-7:42:43 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\n"
      "gpu-7:42:43 [0] NCCL INFO ncclCommInitRank comm 0x55 rank 0 nranks 2 cudaDev 0 nvmlDev 0 "
      "busId 3b000 commId 0xabc - Init COMPLETE\n"
      "gpu-7:42:43 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x7f00 recvbuff 0x7f01 count 4 "
      "datatype 7 op 0 root 0 comm 0x55 [nranks=2] stream 0x9\n";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    body += fmt::format(
        "[rank{0}]: Traceback (most recent call last):\n[rank{0}]:   File \"train.py\", line 3, in "
        "main\n[rank{0}]: RuntimeError: {1}\n",
        i, lines[i]);
    body += "2026-03-05T02:47:10Z gpu-7 kernel: NVRM: Xid (PCI:0000:3b:00): 79, " + lines[i] + "\n";
    body += "ERROR: cannot go on: " + lines[i] + "\n";
    body += "gpu-7:42:43 [0] NCCL INFO NET/Plugin: x = @ " + lines[i] + "\n";
    body += "gpu-7:42:43 [0] NCCL INFO " + lines[i] + "\n";
    body += lines[i] + "\n";
  }
  return body;
}

void send(const ServerProcess& server, const std::string& source, std::string_view body) {
  RawClient client(server.port());
  client.say(
      fmt::format("POST /api/v1/ingest?job=j&source={} HTTP/1.1\r\nHost: "
                  "localhost\r\nContent-Length: {}\r\n\r\n",
                  source, body.size()));
  client.say(body);
  EXPECT_THAT(client.hear(), testing::StartsWith("HTTP/1.1 200 "));
}

// What the page shows, what programs ask for, and the kept lines of these sources.
std::string told_by(const ServerProcess& server, const std::vector<std::string>& sources,
                    std::size_t lines) {
  std::string told;
  const auto ask = [&](const std::string& path) {
    const Reply reply = plain_get(server, path);
    EXPECT_EQ(reply.status, 200) << path << ": " << reply.body;
    told += reply.body;
    return reply;
  };
  for (const char* path :
       {"/api/v1/jobs/j/diagnosis", "/api/v1/jobs/j/diagnosis?explain=1",
        "/api/v1/jobs/j/diagnosis?format=text", "/api/v1/jobs/j/diagnosis?format=markdown",
        "/api/v1/jobs/j/diagnosis?format=html", "/api/v1/jobs/j/ranks", "/api/v1/jobs/j/timeline",
        "/api/v1/jobs/j/findings", "/api/v1/findings", "/api/v1/hosts", "/api/v1/hosts/gpu-7",
        "/api/v1/sources?job=j", "/api/v1/jobs", "/api/v1/jobs?format=text", "/metrics"})
    ask(path);
  const boost::json::object job = ask("/api/v1/jobs/j").json();
  for (const boost::json::value& one : job.at("communicators").as_array())
    ask("/api/v1/jobs/j/communicators/" + std::string(one.at("id").as_string()) + "/operations");
  EXPECT_FALSE(job.at("communicators").as_array().empty());
  told += curl(server, "/api/v1/findings/stream", "--max-time 1").body;

  McpClient agent(server);
  agent.start();
  for (const auto& [tool, arguments] :
       {std::pair{"list_jobs", "{}"},
        {"diagnose", R"({"job":"j"})"},
        {"explain", R"({"job":"j"})"},
        {"list_findings", R"({"job":"j"})"},
        {"evidence_lines", R"({"job":"j","source":"whole","line":9})"}})
    told += boost::json::serialize(agent.call(tool, arguments));

  std::size_t shown = 0;
  for (const std::string& source : sources)
    for (std::size_t line = 150; line < lines + 150; line += 300) {
      const Reply reply =
          ask(fmt::format("/api/v1/jobs/j/lines?around=150&source={}&line={}", source, line));
      const boost::json::object around = reply.json();
      for (const boost::json::value& one : around.at("lines").as_array())
        shown += one.at("text").is_string() ? 1 : 0;
    }
  EXPECT_GT(shown, sources.size() * lines / 2);
  return told;
}

// Most of the database is compressed: a search of its bytes proves little. This is what the store
// reads from it, of each source.
std::map<std::string, std::string> unpacked(const fs::path& data) {
  std::map<std::string, std::string> all;
  Store store(data / "faultline.db");
  const auto damaged = store.replay(
      "j", [&](std::string_view packed) { all["calls"] += packed; },
      [&](const StoredBatch& each) {
        std::string& text = all[each.source.name];
        text += write_batch(each.batch);
        for (const Event& event : each.batch.events)
          text += event.text + '\n' + fact_to_json(event.fact) + '\n';
      });
  EXPECT_TRUE(damaged.empty());
  for (const StoredSource& source : store.sources("j")) {
    std::string& text = all[source.source.name];
    const SourcePosition position = store.source("j", source.source.name)->position;
    text += position.carry + position.recent;
    store.walk_kept_lines(
        "j", source.source.name, [&](const KeptLines& lines) { text += lines.content; },
        [](const StoredBatch&) {});
  }
  return all;
}

std::string in_json(const std::string& text) {
  const std::string quoted = boost::json::serialize(boost::json::string(text));
  return quoted.substr(1, quoted.size() - 2);
}

std::string bytes_in(const fs::path& folder) {
  std::string all;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) all += bytes_of(entry.path());
  return all;
}

TEST(SecretsInLogs, AreInNoFileOfTheServerNoAnswerAndNoAlert) {
  const Hidden all = all_shapes();
  ASSERT_GE(all.secrets.size(), 60U);
  Workshop workshop;
  FakeReceiver hook;
  ServerProcess server(workshop.folder(),
                       {"--stall-after", "0s", "--alert-hold", "0s", "--webhook", hook.url()});
  const std::string body = log_of(all.lines);
  const auto lines = static_cast<std::size_t>(std::ranges::count(body, '\n'));
  send(server, "whole", body);
  // The same text in bodies that end anywhere, mostly inside a line: as files of their own, and as
  // pieces of one file.
  constexpr std::size_t kPiece = 2999;
  std::string behind_cuts;  // a file that begins there does not tell what these bytes are
  for (std::size_t at = 0; at < body.size(); at += kPiece) {
    behind_cuts += body.substr(at, body.find('\n', at) - at) + '\n';
    for (const std::string& source : {std::string("files"), fmt::format("pieces&offset={}", at)})
      send(server, source, std::string_view(body).substr(at, kPiece));
  }
  // Lines of which the end never comes.
  for (std::size_t i = 0; i < all.lines.size(); i += 10)
    send(server, fmt::format("open-{}", i), all.lines[i]);

  std::string told = told_by(server, {"whole", "pieces"}, lines);
  EXPECT_TRUE(hook.await(1));
  std::string alerts;
  for (const FakeReceiver::Heard& heard : hook.heard()) alerts += heard.body;
  EXPECT_NE(alerts.find("***"), std::string::npos);
  told += alerts;
  std::string kept = bytes_in(workshop.folder() / "data");  // with the log of the database
  server.ask_to_stop();
  EXPECT_EQ(server.wait_for_end(), 0);
  const auto stored = unpacked(workshop.folder() / "data");
  kept += bytes_in(workshop.folder() / "data");
  EXPECT_NE(told.find("***"), std::string::npos);
  EXPECT_GT(stored.size(), 3U);
  std::size_t unknowable = 0;
  const std::string messages = server.messages();
  for (const std::string& secret : all.secrets) {
    if (secret.size() < 8) continue;
    EXPECT_EQ(told.find(secret), std::string::npos) << "told: " << secret;
    const bool is_behind_a_cut = behind_cuts.find(secret) != std::string::npos;
    unknowable += is_behind_a_cut ? 1 : 0;
    for (const auto& [source, text] : stored)
      if (source != "files" || !is_behind_a_cut)
        EXPECT_EQ(text.find(secret), std::string::npos) << "stored of " << source << ": " << secret;
    EXPECT_EQ(kept.find(secret), std::string::npos) << "in a file: " << secret;
    EXPECT_EQ(messages.find(secret), std::string::npos) << "logged: " << secret;
  }
  EXPECT_LT(unknowable, all.secrets.size() / 4);
}

// Shows that the test above would find them.
TEST(SecretsInLogs, AreAllStoredAndToldIfTheServerHidesNone) {
  const Hidden all = all_shapes();
  Workshop workshop;
  ServerProcess server(workshop.folder(), {"--stall-after", "0s", "--keep-secrets"});
  const std::string body = log_of(all.lines);
  send(server, "whole", body);
  const std::string told =
      told_by(server, {"whole"}, static_cast<std::size_t>(std::ranges::count(body, '\n')));
  server.ask_to_stop();
  EXPECT_EQ(server.wait_for_end(), 0);
  const std::string stored = unpacked(workshop.folder() / "data")["whole"];
  for (const std::string& secret : all.secrets) {
    if (secret.size() < 8) continue;
    EXPECT_NE(told.find(in_json(secret)), std::string::npos) << "not told: " << secret;
    EXPECT_NE(stored.find(secret), std::string::npos) << "not stored: " << secret;
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
