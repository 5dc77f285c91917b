// What a person on call asks first: which jobs are in trouble, and what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "curl.h"
#include "workshop.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

class Jobs : public testing::Test {
 protected:
  void send(const std::string& job, const std::string& line) {
    workshop.write("log", line + "\n");
    EXPECT_EQ(curl(server, "/api/v1/ingest?final=true&job=" + job + "&host=n1&source=" + job,
                   "--data-binary @'" + (workshop.folder() / "log").string() + "'")
                  .status,
              200);
  }
  // Two jobs that failed and one of which nothing is known; the latest is "beta".
  void send_three() {
    send("gamma", "hello");
    send("alpha", kOffBus);
    send("beta", kOffBus);
  }
  boost::json::object list(const std::string& query = "") {
    return plain_get(server, "/api/v1/jobs" + query).json();
  }
  std::vector<std::string> names(const std::string& query = "") {
    std::vector<std::string> names;
    const boost::json::object answer = list(query);
    for (const auto& job : answer.at("jobs").as_array())
      names.emplace_back(job.at("job").as_string());
    return names;
  }

  static constexpr const char* kOffBus =
      "[ 1000.000001] NVRM: Xid (PCI:0000:3b:00): 79, pid=4021, name=python3, GPU has fallen off "
      "the bus.";
  Workshop workshop;
  ServerProcess server{workshop.folder(),
                       {"--stall-after", "0s", "--allow-host", "faultline.example"}};
};

TEST_F(Jobs, AreListedWithTheirCause) {
  send_three();
  const auto jobs = list().at("jobs").as_array();
  ASSERT_EQ(jobs.size(), 3U);
  EXPECT_EQ(jobs[0].at("cause"), "GPU 0000:3b:00.0 on n1 fell off the bus (Xid 79)");
  EXPECT_TRUE(jobs[0].at("confidence").is_number());
  EXPECT_TRUE(jobs[0].at("since").is_null()) << "its only line has the uptime of a host";
  EXPECT_EQ(jobs[2].at("job"), "gamma");
  EXPECT_EQ(jobs[2].at("cause"), "");
  EXPECT_TRUE(jobs[2].at("confidence").is_null());
}

TEST_F(Jobs, TellSinceWhenTheyAreInTrouble) {
  send("alpha",
       "2026-03-05T02:47:10Z n1 kernel: NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen "
       "off the bus.");
  EXPECT_EQ(list().at("jobs").at(0).at("since"), "2026-03-05T02:47:10Z");
  EXPECT_EQ(plain_get(server, "/api/v1/jobs/alpha").json().at("since"), "2026-03-05T02:47:10Z");
}

TEST_F(Jobs, AreChosenByVerdictAndTime) {
  send_three();
  const std::string verdict(list().at("jobs").at(0).at("verdict").as_string());
  EXPECT_THAT(names("?verdict=" + verdict), ElementsAre("alpha", "beta"));
  EXPECT_THAT(names("?verdict=unknown"), ElementsAre("gamma"));
  EXPECT_THAT(names("?verdict=unknown," + verdict), ElementsAre("alpha", "beta", "gamma"));
  EXPECT_THAT(names("?verdict=corrupt"), ElementsAre());
  EXPECT_THAT(names("?since=2099-01-01T00:00:00Z"), ElementsAre());
  for (const char* query : {"verdict=ill", "verdict=", "verdict=hang,,failed", "since=yesterday",
                            "sort=size", "format=xml"}) {
    SCOPED_TRACE(query);
    const Reply reply = plain_get(server, std::string("/api/v1/jobs?") + query);
    EXPECT_EQ(reply.status, 400);
    EXPECT_THAT(reply.body, HasSubstr(" must be "));
  }
}

TEST_F(Jobs, ComeInTheOrderThatIsAskedForOverAllPages) {
  send_three();
  EXPECT_THAT(names("?sort=severity").back(), "gamma");
  for (const std::string sort : {"", "sort=activity&", "sort=severity&"}) {
    SCOPED_TRACE(sort);
    const std::vector<std::string> all = names("?" + sort + "limit=1000");
    std::vector<std::string> paged;
    std::string cursor;
    for (std::size_t page = 0; page < 5; ++page) {
      const auto answer = list("?" + sort + "limit=1" + cursor);
      for (const auto& job : answer.at("jobs").as_array())
        paged.emplace_back(job.at("job").as_string());
      if (answer.at("next_cursor").is_null()) break;
      cursor = "&cursor=" + std::string(answer.at("next_cursor").as_string());
    }
    EXPECT_EQ(paged, all);
  }
  const std::string by_name(list("?limit=1").at("next_cursor").as_string());
  EXPECT_EQ(plain_get(server, "/api/v1/jobs?sort=activity&cursor=" + by_name).status, 400);
}

TEST_F(Jobs, AreATableForATerminal) {
  send_three();
  const Reply reply = plain_get(server, "/api/v1/jobs?sort=severity&format=text");
  std::istringstream in(reply.body);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 4U) << reply.body;
  EXPECT_THAT(lines[0], MatchesRegex("VERDICT +JOB +RANKS +LAST ACTIVITY +CAUSE"));
  EXPECT_THAT(lines[1], HasSubstr("GPU 0000:3b:00.0 on n1 fell off the bus (Xid 79)"));
  EXPECT_THAT(lines[3], StartsWith("unknown"));
  EXPECT_THAT(lines[3], HasSubstr("gamma"));
  EXPECT_THAT(plain_get(server, "/api/v1/jobs?format=text&limit=1").body,
              HasSubstr("\nmore with cursor="));
}

TEST_F(Jobs, AnAnswerNamesTheServerAsItsAskerReachesIt) {
  send("alpha", kOffBus);
  const Reply text = plain_get(server, "/api/v1/jobs/alpha/diagnosis?format=text");
  const std::string url = server.url("");
  EXPECT_THAT(text.body, HasSubstr("curl -X POST '" + url + "/api/v1/findings/f"));
  const std::size_t at = text.body.find("curl -X POST");
  ASSERT_NE(at, std::string::npos);
  const std::string command = text.body.substr(at, text.body.find('\n', at) - at);
  EXPECT_THAT(output_of(command + " 2>/dev/null"), HasSubstr("\"review\":\"acknowledged\""));
  const Reply named =
      curl(server, "/api/v1/jobs/alpha/diagnosis?format=text", "-H 'Host: faultline.example'");
  EXPECT_THAT(named.body, HasSubstr("'http://faultline.example/api/v1/findings/"));
  // A Host that is no host name must not get into commands that people paste.
  const Reply hostile =
      curl(server, "/api/v1/jobs/alpha/diagnosis?format=text", "-H \"Host: a\\$(reboot)\"");
  EXPECT_EQ(hostile.status, 421);
  for (const char* format : {"json", "text", "markdown", "html"})
    EXPECT_THAT(
        plain_get(server, std::string("/api/v1/jobs/alpha/diagnosis?format=") + format).body,
        Not(HasSubstr("FAULTLINE")));
}

TEST_F(Jobs, TextTellsWhatPassedToThoseWhoAsk) {
  send("alpha", kOffBus);
  const std::string path = "/api/v1/jobs/alpha/diagnosis?format=text";
  EXPECT_THAT(plain_get(server, path).body, Not(HasSubstr("\nnot known: ")));
  EXPECT_THAT(plain_get(server, path + "&verbose=true").body, HasSubstr("\nnot known: "));
  EXPECT_EQ(plain_get(server, path + "&verbose=perhaps").status, 400);
}

}  // namespace
}  // namespace faultline
