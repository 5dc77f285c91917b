// What the server's log says about refused requests, with the reason, and about what operators did.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "curl.h"
#include "eventually.h"
#include "http/refusal_limit.h"
#include "http/tokens.h"
#include "raw_client.h"
#include "server_process.h"
#include "workshop.h"

namespace faultline {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

constexpr SteadyTime kStart{std::chrono::hours(1)};

TEST(RefusalLimit, LetsAFewOfAPeerThroughForEachReasonAndCountsTheOthers) {
  RefusalLimit limit;
  for (const char* peer : {"a", "b"})
    for (const char* reason : {"host", "token"}) {
      int said = 0;
      for (int i = 0; i < 40; ++i) said += limit.may_say(reason, peer, kStart) ? 1 : 0;
      EXPECT_EQ(said, RefusalLimit::kMostOfAPeer) << reason << ' ' << peer;
    }
  EXPECT_TRUE(limit.take_unsaid(kStart + seconds(59)).empty()) << "their minute is not over";
  const auto unsaid = limit.take_unsaid(kStart + seconds(60));
  ASSERT_EQ(unsaid.size(), 4U);
  EXPECT_EQ(unsaid.front().count, 40 - RefusalLimit::kMostOfAPeer);
  EXPECT_TRUE(limit.take_unsaid(kStart + seconds(60)).empty()) << "it is told once";
  EXPECT_TRUE(limit.may_say("host", "a", kStart + seconds(60)));
}

TEST(RefusalLimit, SaysNothingLaterOfWhatItSaidAtOnce) {
  RefusalLimit limit;
  EXPECT_TRUE(limit.may_say("host", "a", kStart));
  EXPECT_TRUE(limit.take_all_unsaid().empty());
}

TEST(RefusalLimit, IsOneForAllTogetherAndRemembersSoManyPeersOnly) {
  RefusalLimit limit;
  int said = 0;
  constexpr int kPeers = 100'000;
  for (int i = 0; i < kPeers; ++i)
    said += limit.may_say("host", "peer-" + std::to_string(i), kStart) ? 1 : 0;
  EXPECT_EQ(said, RefusalLimit::kMost);
  const auto unsaid = limit.take_all_unsaid();
  EXPECT_LE(unsaid.size(), RefusalLimit::kMostPeers + 1);
  std::int64_t count = said;
  for (const auto& one : unsaid) count += one.count;
  EXPECT_EQ(count, kPeers) << "none is lost";
}

std::string last_line_of(const ServerProcess& server) {
  std::istringstream said(server.messages());
  std::string last;
  for (std::string line; std::getline(said, line);) last = line;
  return last;
}

class Audit : public testing::Test {
 protected:
  explicit Audit(const std::vector<std::string>& flags = {"--body-idle-timeout", "1s"})
      : server(workshop.folder(), flags) {}

  std::string last_line() const { return last_line_of(server); }

  Workshop workshop;
  ServerProcess server;
};

TEST_F(Audit, TellsOfEachRefusalWhoWasRefusedWhatAndWhy) {
  const std::string local = " HTTP/1.1\r\nHost: localhost\r\n";
  const auto chunked = "PUT /api/v1/ingest?job=j" + local + "Transfer-Encoding: chunked\r\n";
  struct Row {
    std::string about;
    std::string sent;
    std::string reason;  // reason and status
    std::string asked;   // the request, as far as it is known
  };
  const std::vector<Row> rows{
      {"DNS rebinding", "GET /api/v1/jobs HTTP/1.1\r\nHost: evil.example\r\n\r\n",
       "reason=host status=421", "method=GET path=/api/v1/jobs why="},
      {"DNS rebinding by the target", "GET HTTP://evil.example/api/v1/jobs" + local + "\r\n",
       "reason=host status=421", "method=GET path=/api/v1/jobs why="},
      {"a page of another origin", "DELETE /api/v1/jobs/a" + local + "Origin: http://b\r\n\r\n",
       "reason=origin status=403", "method=DELETE path=/api/v1/jobs/a why="},
      {"two hosts", "GET /metrics HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
       "reason=malformed status=400", "method=GET path=/metrics why="},
      {"smuggling: two lengths", chunked + "Content-Length: 9\r\n\r\n0\r\n\r\n",
       "reason=malformed status=400", "why="},
      {"smuggling: no chunk", chunked + "\r\nxyz\r\n", "reason=malformed status=400",
       "method=PUT path=/api/v1/ingest why="},
      {"no HTTP", "\x16\x03\x01\r\n\r\n", "reason=malformed status=400", "why="},
      {"a long target", "GET /" + std::string(9000, 'a') + local + "\r\n",
       "reason=long-target status=414", "why="},
      {"a long head", "GET /b" + local + "X: " + std::string(40000, 'x') + "\r\n\r\n",
       "reason=long-head status=431", "why="},
      {"a method of no standard", "BREW /pot" + local + "\r\n", "reason=unsupported status=501",
       "method=BREW path=/pot why="},
      {"a path that goes up", "GET /api/../../etc/shadow" + local + "\r\n",
       "reason=path status=404", "method=GET path=/api/../../etc/shadow why="},
      {"the same, encoded, as the name of a job",
       "GET /api/v1/jobs/..%2f%2E%2e%5Cetc/diagnosis" + local + "\r\n", "reason=path status=404",
       "method=GET path=/api/v1/jobs/..%2f%2E%2e%5Cetc/diagnosis why="},
      {"a body that is too large",
       "POST /api/v1/findings/f/review" + local + "Content-Length: 70000\r\n\r\n" +
           std::string(70000, ' '),
       "reason=too-large status=413", "method=POST path=/api/v1/findings/f/review why="},
      {"a body that does not come",
       "PUT /api/v1/ingest?job=j" + local + "Content-Length: 9\r\n\r\n", "reason=slow status=408",
       "method=PUT path=/api/v1/ingest why="},
  };
  for (const Row& row : rows) {
    RawClient client(server.port());
    client.say(row.sent);
    client.hear();
    const std::string line = last_line();
    EXPECT_THAT(line, HasSubstr("level=warning event=audit audit=refused " + row.reason +
                                " peer=127.0.0.1"))
        << row.about;
    EXPECT_THAT(line, HasSubstr(row.asked)) << row.about;
  }
  EXPECT_THAT(server.messages(), Not(HasSubstr("audit=did"))) << "what was refused was not done";
}

TEST_F(Audit, TellsOfABodyThatUnpacksToMoreThanAnyLog) {
  Workshop bomb;
  bomb.make(
      "yes '[   12.345678] INFO: task python:123 blocked for more than 120 seconds.' | "
      "head -c 8M | gzip -1 | gzip -9 > bomb.gz; : > out");
  EXPECT_EQ(
      curl(server, "/api/v1/ingest?job=j&source=s", "-T " + (bomb.folder() / "bomb.gz").string())
          .status,
      413);
  EXPECT_THAT(last_line(), HasSubstr("audit=refused reason=too-large status=413 peer=127.0.0.1 "
                                     "method=PUT path=/api/v1/ingest why="));
  EXPECT_THAT(last_line(), HasSubstr("bytes unpack to more than"));
}

TEST(AuditOfTokens, TellsWhoHadNoneWhoMayNotAndWhoAskedTooOften) {
  Workshop workshop;
  NewToken shipper = new_token("shipper", {Scope::ingest});
  shipper.token.jobs = "llama-";
  NewToken hasty = new_token("hasty", {Scope::read});
  hasty.token.rate = 1;
  NewToken past = new_token("past", {Scope::admin});
  past.token.until = parse_rfc3339("2020-01-01T00:00:00Z");
  std::string tokens;
  for (const NewToken& token : {shipper, hasty, past}) tokens += line_of(token.token) + "\n";
  workshop.write("tokens", tokens);
  const ServerProcess server(workshop.folder(),
                             {"--tokens", (workshop.folder() / "tokens").string()});
  struct Row {
    std::string about;
    std::string method;
    std::string path;
    std::string secret;
    std::string told;
  };
  const std::vector<Row> rows{
      {"no token", "GET", "/api/v1/jobs", "",
       "reason=token status=401 peer=127.0.0.1 method=GET path=/api/v1/jobs why="},
      {"a token that nobody has", "GET", "/metrics", "flt_" + std::string(40, '0'),
       "reason=token status=401 peer=127.0.0.1 method=GET path=/metrics why="},
      {"a token that is over", "DELETE", "/api/v1/jobs/a", past.secret,
       "reason=token status=401 peer=127.0.0.1 by=past method=DELETE path=/api/v1/jobs/a why="},
      {"the wrong scope", "GET", "/api/v1/jobs/llama-7/diagnosis", shipper.secret,
       "reason=rights status=403 peer=127.0.0.1 by=shipper method=GET "
       "path=/api/v1/jobs/llama-7/diagnosis why="},
      {"the wrong job", "POST", "/api/v1/ingest?job=qwen-1", shipper.secret,
       "reason=rights status=403 peer=127.0.0.1 by=shipper method=POST path=/api/v1/ingest why="},
  };
  for (const Row& row : rows) {
    plain_request(server, row.method, row.path, row.secret);
    EXPECT_THAT(last_line_of(server), HasSubstr("audit=refused " + row.told)) << row.about;
    if (!row.secret.empty()) EXPECT_THAT(server.messages(), Not(HasSubstr(row.secret)));
  }
  EXPECT_TRUE(eventually(
      [&] { return plain_request(server, "GET", "/api/v1/jobs", hasty.secret).status == 429; }));
  EXPECT_THAT(last_line_of(server),
              HasSubstr("audit=refused reason=rate status=429 peer=127.0.0.1 by=hasty method=GET "
                        "path=/api/v1/jobs why="));
}

class AuditOfAFullDisk : public Audit {
 protected:
  AuditOfAFullDisk() : Audit({"--min-free", "1000GB"}) {}
};

TEST_F(AuditOfAFullDisk, TellsOfLogsThatTheStoreDoesNotTake) {
  EXPECT_EQ(curl(server, "/api/v1/ingest?job=a&source=s", "--data-binary x").status, 503);
  EXPECT_THAT(last_line(), HasSubstr("audit=refused reason=store status=503 peer=127.0.0.1 "
                                     "method=POST path=/api/v1/ingest why="));
}

TEST_F(Audit, TellsWhatWasDoneAndWhatCameOfItAlsoWhereNobodyIsAskedForATokens) {
  EXPECT_EQ(curl(server, "/api/v1/jobs/none", "-X DELETE").status, 404);
  EXPECT_THAT(last_line(), HasSubstr("level=info event=audit audit=did status=404 peer=127.0.0.1 "
                                     "method=DELETE path=/api/v1/jobs/none"));
  EXPECT_EQ(curl(server, "/api/v1/ingest?job=a&source=s", "--data-binary x").status, 200);
  EXPECT_THAT(last_line(), HasSubstr("status=404")) << "to send logs is no operator's act";
  EXPECT_EQ(curl(server, "/api/v1/jobs/a/reanalyze", "-X POST").status, 200);
  EXPECT_THAT(last_line(), HasSubstr("audit=did status=200 peer=127.0.0.1 method=POST "
                                     "path=/api/v1/jobs/a/reanalyze"));
  EXPECT_EQ(curl(server, "/api/v1/jobs/a", "-X DELETE").status, 204);
  EXPECT_THAT(last_line(), HasSubstr("audit=did status=204"));
}

TEST_F(Audit, AFloodOfRefusalsIsAFewLinesAndACount) {
  constexpr int kFlood = 300;
  RawClient client(server.port());
  for (int i = 0; i < kFlood; ++i) {
    client.say("GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    client.hear();
  }
  server.ask_to_stop();
  EXPECT_EQ(server.wait_for_end(), 0);
  std::istringstream said(server.messages());
  int lines = 0;
  for (std::string line; std::getline(said, line);)
    if (line.find("audit=refused reason=host") != std::string::npos) ++lines;
  EXPECT_EQ(lines, RefusalLimit::kMostOfAPeer + 1);
  EXPECT_THAT(last_line(), HasSubstr("audit=refused reason=host peer=127.0.0.1 more=" +
                                     std::to_string(kFlood - RefusalLimit::kMostOfAPeer)));
}

TEST_F(Audit, APathThatHoldsALinesEndWritesNoLine) {
  const std::string forged = "GET /a%0Alevel=error\" why=\" HTTP/1.1\r\nHost: evil\r\n\r\n";
  RawClient client(server.port());
  client.say(forged);
  client.hear();
  const Reply refused = curl(server, "/api/v1/jobs/a%0Aevent=forged", "-X DELETE");
  EXPECT_THAT(server.messages(), Not(HasSubstr("\nlevel")));
  EXPECT_THAT(server.messages(), Not(HasSubstr("\nevent")));
}

class AuditOfFew : public Audit {
 protected:
  AuditOfFew() : Audit({"--max-connections", "4", "--log-format", "json"}) {}
};

TEST_F(AuditOfFew, TellsOfConnectionsThatFindNoRoomAndEachLineIsJsonIfAskedFor) {
  std::vector<std::unique_ptr<RawClient>> all;
  for (int i = 0; i < 6; ++i) all.push_back(std::make_unique<RawClient>(server.port()));
  EXPECT_THAT(all.back()->hear(), testing::StartsWith("HTTP/1.1 503 "));
  std::istringstream said(server.messages());
  boost::json::value last;
  for (std::string line; std::getline(said, line);) {
    last = boost::json::parse(line);
    for (const char* name : {"time", "level", "event"})
      EXPECT_TRUE(last.at(name).is_string()) << line;
  }
  EXPECT_EQ(last.at("audit"), "refused");
  EXPECT_EQ(last.at("reason"), "connections");
  EXPECT_EQ(last.at("status"), 503);
  EXPECT_EQ(last.at("peer"), "127.0.0.1");
}

TEST(ServerLog, OfAStartThatFailsIsForPeopleForJsonAndForTheJournal) {
  Workshop workshop;
  const std::string serve = std::string(FAULTLINE_BINARY) + " serve --listen 192.0.2.1:0 --data d ";
  EXPECT_THAT(workshop.make(serve + "2>out || true"), testing::StartsWith("faultline: listen "));
  const std::string json = workshop.make(serve + "--log-format json 2>out || true");
  EXPECT_EQ(boost::json::parse(json).at("event").as_string(), "not-started");
  EXPECT_THAT(workshop.make(": >out; JOURNAL_STREAM=$(stat -c %d:%i out) " + serve + "2>out || :"),
              testing::StartsWith("<3>faultline: listen "));
}

}  // namespace
}  // namespace faultline
