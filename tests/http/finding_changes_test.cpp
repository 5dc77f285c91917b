// Findings for clients that poll and clients that listen, and what operators say about them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "curl.h"
#include "raw_client.h"
#include "server_process.h"
#include "workshop.h"

namespace faultline {
namespace {

using testing::HasSubstr;
using testing::Not;

class FindingChanges : public testing::Test {
 protected:
  // A kernel's line that says that a GPU fell off the bus.
  Reply send(const std::string& host, const std::string& job = "llama") {
    workshop.write("dmesg",
                   "[ 1000.000001] NVRM: Xid (PCI:0000:3b:00): 79, pid=4021, name=python3, "
                   "GPU has fallen off the bus.\n");
    return curl(server, "/api/v1/ingest?job=" + job + "&host=" + host + "&source=" + host,
                "--data-binary @'" + (workshop.folder() / "dmesg").string() + "'");
  }
  boost::json::object list(const std::string& query = "") {
    return plain_get(server, "/api/v1/findings" + query).json();
  }
  std::string first_id() {
    return std::string(list().at("findings").at(0).at("finding").as_string());
  }
  Reply review(const std::string& id, const std::string& query) {
    return curl(server, "/api/v1/findings/" + id + "/review?" + query, "-X POST");
  }

  Workshop workshop;
  // Findings are reported at once.
  ServerProcess server{workshop.folder(), {"--stall-after", "0s"}};
};

TEST_F(FindingChanges, AreListedAcrossJobsFromWhereOneWas) {
  send("n1");
  send("n2", "gpt");
  const auto all = list();
  ASSERT_EQ(all.at("findings").as_array().size(), 2U);
  EXPECT_EQ(all.at("findings").at(0).at("job"), "llama");
  EXPECT_EQ(all.at("findings").at(1).at("job"), "gpt");
  EXPECT_TRUE(all.at("findings").at(0).at("incident").is_string());
  const std::string resume(all.at("resume").as_string());
  EXPECT_TRUE(list("?since=" + resume).at("findings").as_array().empty());
  EXPECT_EQ(list("?since=" + resume).at("resume"), all.at("resume")) << "nothing to go on from yet";
  send("n3");
  const auto fresh = list("?since=" + resume);
  ASSERT_GE(fresh.at("findings").as_array().size(), 1U);
  for (const auto& finding : fresh.at("findings").as_array()) EXPECT_EQ(finding.at("job"), "llama");
  EXPECT_EQ(list("?job=gpt").at("findings").as_array().size(), 1U);
  EXPECT_EQ(list("?since=2099-01-01T00:00:00Z").at("findings").as_array().size(), 0U);
  EXPECT_EQ(plain_get(server, "/api/v1/findings?since=yesterday").status, 400);
  const auto page = list("?limit=1");
  const auto next = list("?limit=1&cursor=" + std::string(page.at("next_cursor").as_string()));
  EXPECT_EQ(next.at("findings").at(0), all.at("findings").at(1));
}

TEST_F(FindingChanges, AreStreamedAndTheStreamGoesOnWhereItEnded) {
  RawClient client(server.port());
  client.say("GET /api/v1/findings/stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(client.hear_until("retry: 3000\n\n"),
              HasSubstr("Content-Type: text/event-stream\r\n"));
  send("n1");
  const std::string event = client.hear_until("}\n\n");
  EXPECT_THAT(event, testing::StartsWith("id: "));
  EXPECT_THAT(event, HasSubstr("\nevent: finding\ndata: {"));
  EXPECT_THAT(event, HasSubstr("\"class\":\"gpu.off_bus\""));
  RawClient again(server.port());
  again.say("GET /api/v1/findings/stream HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: 0\r\n\r\n");
  again.hear_until("retry: 3000\n\n");
  EXPECT_EQ(again.hear_until("}\n\n"), event) << "what it missed comes first";
  EXPECT_EQ(plain_get(server, "/api/v1/findings/stream?after=x").status, 400);
}

TEST_F(FindingChanges, AreJudgedByOperators) {
  send("n1");
  const std::string id = first_id();
  const Reply known = review(id, "verdict=acknowledged&by=ann&note=on%20it");
  EXPECT_EQ(known.status, 200);
  EXPECT_EQ(known.json().at("review"), "acknowledged");
  EXPECT_EQ(known.json().at("state"), "open");
  const auto said = plain_get(server, "/api/v1/findings/" + id).json().at("reviews").as_array();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].at("verdict"), "acknowledged");
  EXPECT_EQ(said[0].at("by"), "ann");
  EXPECT_EQ(said[0].at("note"), "on it");
  EXPECT_TRUE(said[0].at("time").is_string());
  const Reply wrong = review(id, "verdict=wrong&by=ann");
  EXPECT_EQ(wrong.json().at("state"), "resolved");
  EXPECT_EQ(wrong.json().at("reason"), "wrong");
  send("n1-again");
  EXPECT_EQ(plain_get(server, "/api/v1/findings/" + id).json().at("state"), "resolved")
      << "it stays so";
  EXPECT_EQ(review(id, "verdict=reopened").json().at("state"), "open");
  EXPECT_EQ(review(id, "verdict=perhaps").status, 400);
  EXPECT_EQ(review(id, "by=ann").status, 400);
  EXPECT_EQ(review(id, "verdict=wrong,closed").status, 400);
  EXPECT_EQ(review("nobody", "verdict=wrong").status, 404);
  EXPECT_THAT(
      plain_get(server, "/metrics").body,
      HasSubstr("faultline_finding_reviews_total{class=\"gpu.off_bus\",verdict=\"wrong\"} 1\n"));
}

TEST_F(FindingChanges, AreJudgedInJsonAsWell) {
  send("n1");
  const std::string id = first_id();
  const auto say = [&](const std::string& body, const std::string& query = "") {
    return curl(server, "/api/v1/findings/" + id + "/review" + query,
                "-H 'Content-Type: application/json' -d '" + body + "'");
  };
  const Reply known = say(R"({"verdict": "acknowledged", "by": "ann", "note": "on it"})");
  EXPECT_EQ(known.status, 200) << known.body;
  EXPECT_EQ(known.json().at("review"), "acknowledged");
  EXPECT_EQ(say(R"({"by": "ann"})", "?verdict=wrong").json().at("reason"), "wrong");
  EXPECT_EQ(say(R"({"verdict": "reopened"})").json().at("state"), "open");
  struct Case {
    const char* why;
    std::string body;
    std::string query;
    const char* detail;
  };
  const Case cases[] = {
      {"no JSON", "verdict=wrong", "", "the body must be a JSON object with verdict, by, note"},
      {"a list", "[]", "", "the body must be a JSON object"},
      {"no verdict", "{}", "", "verdict is missing"},
      {"a verdict that is none", R"({"verdict": "perhaps"})", "", "verdict must be one of"},
      {"another member", R"({"verdict": "wrong", "why": "x"})", "", "unknown member"},
      {"a number", R"({"verdict": 1})", "", "verdict must be a text"},
      {"said twice", R"({"verdict": "wrong"})", "?verdict=wrong", "is given twice"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    const Reply reply = say(c.body, c.query);
    EXPECT_EQ(reply.status, 400);
    EXPECT_THAT(reply.body, HasSubstr(c.detail));
  }
  EXPECT_EQ(curl(server, "/api/v1/findings/" + id + "/review", "-X POST --data-binary @-",
                 "head -c 100000 /dev/zero |")
                .status,
            413);
}

}  // namespace
}  // namespace faultline
