// The files with which Prometheus and Grafana watch a server, compared with a running server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <re2/re2.h>
#include <boost/json.hpp>

#include <set>
#include <string>
#include <vector>

#include "certificates.h"
#include "curl.h"
#include "raw_client.h"
#include "server_process.h"
#include "workshop.h"

namespace faultline {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kRules = TESTS_DIR "/../packaging/prometheus/faultline.rules.yml";
constexpr const char* kDashboard = TESTS_DIR "/../packaging/grafana/faultline.json";

std::set<std::string> all_of(const std::string& text, const std::string& pattern) {
  const RE2 regex(pattern);
  std::set<std::string> found;
  re2::StringPiece rest(text);
  for (std::string one; RE2::FindAndConsume(&rest, regex, &one);) found.insert(one);
  return found;
}

// The names of series. The pattern leaves out the names of recorded rules, which contain colons.
std::set<std::string> series_named_in(const std::string& text) {
  return all_of(text, "\\b((?:faultline_|process_)[a-z0-9_]+)");
}

boost::json::object dashboard() { return boost::json::parse(read_file(kDashboard)).as_object(); }

std::vector<std::string> expressions_of(const boost::json::object& board) {
  std::vector<std::string> all;
  for (const auto& panel : board.at("panels").as_array())
    if (const auto* targets = panel.as_object().if_contains("targets"))
      for (const auto& target : targets->as_array())
        all.emplace_back(target.at("expr").as_string());
  return all;
}

// Has certificates, because only a server with TLS has all series.
class Monitoring : public testing::Test {
 protected:
  void SetUp() override {
    certificates.authority("ca");
    certificates.issue("server", "ca");
  }

  std::string metrics(const ServerProcess& server) {
    return curl(server, "/metrics", certificates.as()).body;
  }

  Certificates certificates;
};

TEST_F(Monitoring, OfRulesAndTheDashboardNamesOnlySeriesThatAServerHas) {
  ServerProcess server(certificates.workshop().folder(),
                       certificates.server_flags({"--webhook", "http://127.0.0.1:9/"}));
  const std::string answer = metrics(server);
  std::set<std::string> known = all_of(answer, "# TYPE ([a-z_]+) (?:counter|gauge)\n");
  for (const std::string& histogram : all_of(answer, "# TYPE ([a-z_]+) histogram\n"))
    for (const char* suffix : {"_bucket", "_sum", "_count"}) known.insert(histogram + suffix);
  std::vector<std::string> strangers;
  for (const std::string& name : series_named_in(read_file(kRules)))
    if (!known.contains(name)) strangers.push_back("faultline.rules.yml: " + name);
  for (const std::string& expression : expressions_of(dashboard()))
    for (const std::string& name : series_named_in(expression))
      if (!known.contains(name)) strangers.push_back("faultline.json: " + name);
  EXPECT_THAT(strangers, IsEmpty());
  // The page that lists the series leaves none out.
  const std::string page = read_file(TESTS_DIR "/../docs/operations.md");
  for (const std::string& name : all_of(answer, "# TYPE ([a-z_]+) [a-z]+\n"))
    EXPECT_THAT(page, HasSubstr("`" + name + "`"));
}

TEST_F(Monitoring, CountsWhatIsRefusedByItsReason) {
  ServerProcess server(certificates.workshop().folder());
  EXPECT_THAT(plain_get(server, "/metrics").body,
              HasSubstr("faultline_http_requests_refused_total{reason=\"host_name\"} 0\n"))
      << "what begins at 1 shows no increase";
  EXPECT_EQ(curl(server, "/api/v1/jobs", "-H 'Host: evil.example'").status, 421);
  EXPECT_EQ(curl(server, "/api/v1/ingest", "-d x").status, 400);
  EXPECT_EQ(plain_get(server, "/api/v1/jobs/none/diagnosis").status, 404);
  RawClient malformed(server.port());
  malformed.say("nonsense\r\n\r\n");
  EXPECT_THAT(malformed.hear(), testing::StartsWith("HTTP/1.1 400"));
  const std::string answer = plain_get(server, "/metrics").body;
  EXPECT_THAT(answer, HasSubstr("faultline_http_requests_refused_total{reason=\"host_name\"} 1\n"));
  EXPECT_THAT(answer,
              HasSubstr("faultline_http_requests_refused_total{reason=\"bad_request\"} 2\n"));
}

TEST_F(Monitoring, TellsOfEachStageOfAJobThatWasSent) {
  ServerProcess server(certificates.workshop().folder());
  certificates.workshop().write(
      "dmesg",
      "[ 1000.000001] NVRM: Xid (PCI:0000:3b:00): 79, pid=4021, name=python3, GPU has fallen off "
      "the bus.\n");
  ASSERT_EQ(curl(server, "/api/v1/ingest?job=llama&host=n1&final=true",
                 "--data-binary @" + certificates.path("dmesg"))
                .status,
            200);
  const auto verdict = plain_get(server, "/api/v1/jobs/llama/diagnosis").json().at("verdict");
  RawClient listener(server.port());
  listener.say("GET /api/v1/findings/stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const Reply reply = await(server, "/metrics", [](const Reply& metrics) {
    return metrics.body.find("\nfaultline_event_streams_open 1\n") != std::string::npos;
  });
  EXPECT_THAT(reply.body, HasSubstr(fmt::format("faultline_jobs_by_verdict{{verdict=\"{}\"}} 1\n",
                                                std::string(verdict.as_string()))));
  EXPECT_THAT(reply.body, HasSubstr("faultline_jobs_by_verdict{verdict=\"corrupt\"} 0\n"));
  const auto value = [&](const std::string& name) {
    double found = 0;
    EXPECT_TRUE(RE2::PartialMatch(reply.body, "\n" + name + " (.*)\n", &found)) << name;
    return found;
  };
  for (const char* name :
       {"faultline_diagnosis_duration_seconds_count", "faultline_fold_duration_seconds_count",
        "faultline_ingest_kept_lines_bytes_total", "faultline_disk_free_bytes",
        "faultline_disk_size_bytes", "faultline_io_longest_seconds", "process_cpu_seconds_total",
        "process_virtual_memory_bytes"})
    EXPECT_GT(value(name), 0) << name;
  EXPECT_EQ(value("faultline_disk_min_free_bytes"), 128 << 20);
  EXPECT_GT(value("process_resident_memory_bytes"), 5e6);
  EXPECT_LT(value("process_resident_memory_bytes"), 4e9);
  EXPECT_GE(value("process_open_fds"), 5);
  EXPECT_GT(value("process_max_fds"), value("process_open_fds"));
}

TEST(AlertRules, FireAtWhatTheyAreForAndAtNothingElse) {
  int exit = -1;
  const std::string said =
      output_of("promtool test rules " TESTS_DIR "/http/alert_rules.yml 2>&1", &exit);
  EXPECT_EQ(exit, 0) << said;
  const std::string tried = read_file(TESTS_DIR "/http/alert_rules.yml");
  for (const std::string& alert : all_of(read_file(kRules), "- alert: ([A-Za-z]+)"))
    EXPECT_THAT(tried, HasSubstr("alertname=\"" + alert + "\""));
}

struct GridPlace {
  std::int64_t x = 0, y = 0, width = 0, height = 0;

  bool overlaps(const GridPlace& other) const {
    return x < other.x + other.width && other.x < x + width && y < other.y + other.height &&
           other.y < y + height;
  }
};

TEST(Dashboard, HasPanelsThatGrafanaTakesAndNoTwoInOnePlace) {
  const boost::json::object board = dashboard();
  EXPECT_EQ(board.at("uid"), "faultline");
  EXPECT_EQ(board.at("title"), "Faultline");
  EXPECT_GE(board.at("schemaVersion").as_int64(), 36);
  EXPECT_TRUE(board.at("templating").at("list").is_array());
  std::set<std::int64_t> ids;
  std::vector<GridPlace> taken;
  for (const auto& value : board.at("panels").as_array()) {
    const boost::json::object& panel = value.as_object();
    SCOPED_TRACE(panel.at("title").as_string());
    EXPECT_TRUE(ids.insert(panel.at("id").as_int64()).second);
    const boost::json::object& grid = panel.at("gridPos").as_object();
    const GridPlace place{grid.at("x").as_int64(), grid.at("y").as_int64(), grid.at("w").as_int64(),
                          grid.at("h").as_int64()};
    EXPECT_GT(place.width, 0);
    EXPECT_GT(place.height, 0);
    EXPECT_LE(place.x + place.width, 24) << "columns of Grafana";
    for (const GridPlace& other : taken) EXPECT_FALSE(place.overlaps(other));
    taken.push_back(place);
    const boost::json::string& type = panel.at("type").as_string();
    EXPECT_THAT((std::set<std::string>{"row", "stat", "table", "timeseries"}),
                testing::Contains(std::string(type)));
    if (type == "row") continue;
    EXPECT_FALSE(panel.at("description").as_string().empty());
    EXPECT_TRUE(panel.at("fieldConfig").at("defaults").is_object());
    EXPECT_FALSE(panel.at("targets").as_array().empty());
    std::set<std::string> references;
    for (const auto& target : panel.at("targets").as_array()) {
      EXPECT_EQ(target.at("datasource").at("uid"), "${datasource}");
      EXPECT_TRUE(references.emplace(target.at("refId").as_string()).second);
    }
  }
}

TEST(Dashboard, AsksPrometheusInItsLanguage) {
  Workshop workshop;
  std::string rules = "groups: [{name: dashboard, rules: [";
  for (std::string expression : expressions_of(dashboard())) {
    for (const auto& [variable, value] :
         {std::pair<std::string, std::string>{"$instance", ".*"}, {"$__rate_interval", "5m"}})
      for (std::size_t at; (at = expression.find(variable)) != std::string::npos;)
        expression.replace(at, variable.size(), value);
    rules += fmt::format("\n  {{record: 'a:b{}', expr: '{}'}},", rules.size(), expression);
  }
  workshop.write("dashboard.yml", rules + "\n]}]\n");
  int exit = -1;
  const std::string said = output_of(
      "promtool check rules '" + (workshop.folder() / "dashboard.yml").string() + "' 2>&1", &exit);
  EXPECT_EQ(exit, 0) << said;
}

}  // namespace
}  // namespace faultline
