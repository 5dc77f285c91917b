// Findings that are sent to the real Alertmanager and the real Prometheus.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "curl.h"
#include "fake_receiver.h"
#include "real_program.h"
#include "sampled.h"
#include "server_process.h"
#include "workshop.h"

namespace faultline {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// All waits are shortened: one second stands for minutes.
class Alerting : public testing::Test {
 protected:
  void SetUp() override {
    alertmanager_path = program_path("prometheus-alertmanager");
    amtool = program_path("amtool");
    prometheus_path = program_path("prometheus");
    if (alertmanager_path.empty() || amtool.empty() || prometheus_path.empty())
      GTEST_SKIP() << "no prometheus or prometheus-alertmanager here; ./dev test fetches them";
  }

  std::string file(const std::string& name) { return (workshop.folder() / name).string(); }

  // The shipped example configuration, which notifies `hook` of causes.
  void write_alertmanager_config() {
    std::string text = read_file(TESTS_DIR "/../packaging/prometheus/alertmanager.example.yml");
    const auto replace = [&](const std::string& from, const std::string& to) {
      for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from))
        text.replace(at, from.size(), to);
    };
    replace("http://127.0.0.1:9999", "http://127.0.0.1:" + std::to_string(hook.port()));
    replace("group_wait: 10s", "group_wait: 2s");
    replace("group_interval: 5m", "group_interval: 3s");
    workshop.write("alertmanager.yml", text);
  }

  void start_alertmanager() {
    alertmanager.emplace(
        workshop.folder() / "alertmanager.log",
        std::vector<std::string>{alertmanager_path, "--config.file=" + file("alertmanager.yml"),
                                 "--storage.path=" + file("alertmanager"),
                                 "--web.listen-address=127.0.0.1:" + std::to_string(port),
                                 "--cluster.listen-address="},
        port);
  }
  std::string alertmanager_url() const { return "http://127.0.0.1:" + std::to_string(port); }

  // `flags` are passed to `amtool alert query`.
  boost::json::array alerts(const std::string& flags) {
    const std::string text = output_of(amtool + " --alertmanager.url=" + alertmanager_url() +
                                       " alert query -o json " + flags + " 2>&1");
    boost::system::error_code error;
    const auto value = boost::json::parse(text, error);
    EXPECT_FALSE(error) << text;
    return error || !value.is_array() ? boost::json::array{} : value.as_array();
  }

  // Sends all files below a folder as one body.
  Reply upload(const ServerProcess& server, const std::string& folder, const std::string& job) {
    return curl(server, "/api/v1/ingest?job=" + job + "&source=logs", "--data-binary @-",
                "tar -C '" + folder + "' -c . |");
  }

  std::vector<boost::json::object> pages() {
    std::vector<boost::json::object> all;
    for (const auto& heard : hook.heard())
      if (heard.head.find("/page") != std::string::npos) all.push_back(heard.json());
    return all;
  }
  bool await_pages(std::size_t count, std::chrono::milliseconds limit = 45s) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (pages().size() < count && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(50ms);
    return pages().size() >= count;
  }

  Workshop workshop;
  FakeReceiver hook;
  int port = free_port();
  std::string alertmanager_path;
  std::string amtool;
  std::string prometheus_path;
  std::optional<RealProgram> alertmanager;
};

// Long enough to read a job of a thousand ranks; with sanitizers that takes many times longer.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::chrono::seconds kHold = 40s;
#else
constexpr std::chrono::seconds kHold = 8s;
#endif

TEST_F(Alerting, PagesOnceForACrashOfAThousandRanks) {
  write_alertmanager_config();
  start_alertmanager();
  ServerProcess server(workshop.folder(), {"--alertmanager", alertmanager_url(), "--alert-hold",
                                           std::to_string(kHold.count()) + "s"});
  workshop.make(FAULTLINE_BINARY
                " simulate --scenario gpu_off_bus --nodes 128 --out sim >/dev/null && touch out");
  ASSERT_EQ(upload(server, file("sim/logs"), "llama").status, 200);
  ASSERT_TRUE(await_pages(1, 4 * kHold + 45s));
  std::this_thread::sleep_for(8s);
  ASSERT_EQ(pages().size(), 1U);
  const boost::json::object page = pages()[0];
  ASSERT_EQ(page.at("alerts").as_array().size(), 1U);
  const boost::json::object& alert = page.at("alerts").at(0).as_object();
  const boost::json::object& labels = alert.at("labels").as_object();
  EXPECT_EQ(labels.at("alertname"), "gpu.off_bus");
  EXPECT_EQ(labels.at("job"), "llama");
  EXPECT_TRUE(labels.contains("host"));
  EXPECT_TRUE(labels.contains("gpu"));
  const std::string url(alert.at("generatorURL").as_string());
  ASSERT_TRUE(url.starts_with(server.url("/findings/"))) << url;
  const std::string page_of_it = url.substr(server.url("").size());
  EXPECT_THAT(plain_get(server, page_of_it).body, HasSubstr("<title>Faultline</title>"));
  const Reply finding = plain_get(server, "/api/v1" + page_of_it);
  EXPECT_EQ(finding.json().at("class"), "gpu.off_bus");
  const auto inhibited = alerts("--inhibited");
  ASSERT_GE(inhibited.size(), 1U);
  for (const auto& symptom : inhibited)
    EXPECT_EQ(symptom.at("labels").at("incident"), labels.at("incident"));
}

TEST_F(Alerting, LosesAndDoublesNothingWhenAllIsDownInTurn) {
  write_alertmanager_config();
  workshop.write("faultline.toml",
                 "[[receiver]]\nname = \"am\"\ntype = \"alertmanager\"\nurl = \"" +
                     alertmanager_url() +
                     "\"\nallow_private = true\nhold = \"1s\"\n"
                     "retry_max = \"500ms\"\nresend = \"1s\"\n");
  workshop.make(FAULTLINE_BINARY
                " simulate --scenario gpu_off_bus --nodes 4 --out sim >/dev/null && touch out");
  const std::vector<std::string> flags{"--config", file("faultline.toml"), "--alert-keep", "2s"};
  {
    ServerProcess server(workshop.folder(), flags);
    ASSERT_EQ(upload(server, file("sim/logs"), "llama").status, 200);
    await(server, "/metrics", [](const Reply& metrics) {
      return metrics.body.find(
                 "faultline_alert_messages_total{receiver=\"am\",outcome=\"failed\"} "
                 "0\n") == std::string::npos;
    });
    server.kill_now();
  }
  {
    ServerProcess server(workshop.folder(), flags);
    std::this_thread::sleep_for(1s);
    server.kill_now();
  }
  ServerProcess server(workshop.folder(), flags);
  std::this_thread::sleep_for(1s);
  start_alertmanager();
  ASSERT_TRUE(await_pages(1));
  std::this_thread::sleep_for(8s);
  ASSERT_EQ(pages().size(), 1U) << boost::json::serialize(pages().back());
  EXPECT_EQ(pages()[0].at("status"), "firing");
  const auto open = plain_get(server, "/api/v1/findings?state=open&class=gpu.off_bus").json();
  ASSERT_EQ(open.at("findings").as_array().size(), 1U);
  const std::string id(open.at("findings").at(0).at("finding").as_string());
  EXPECT_EQ(
      curl(server, "/api/v1/findings/" + id + "/review?verdict=closed&by=ann", "-X POST").status,
      200);
  ASSERT_TRUE(await_pages(2));
  std::this_thread::sleep_for(4s);
  ASSERT_EQ(pages().size(), 2U) << boost::json::serialize(pages().back());
  EXPECT_EQ(pages()[1].at("status"), "resolved");
}

TEST_F(Alerting, ShowsPrometheusWhatItsRulesGoBy) {
  ServerProcess server(workshop.folder());
  workshop.make(FAULTLINE_BINARY
                " simulate --scenario gpu_off_bus --nodes 4 --out sim >/dev/null && touch out");
  workshop.write("prometheus.yml",
                 "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
                 "rule_files: ['" TESTS_DIR
                 "/../packaging/prometheus/faultline.rules.yml']\n"
                 "scrape_configs: [{job_name: faultline, static_configs: [{targets: ['127.0.0.1:" +
                     std::to_string(server.port()) + "']}]}]\n");
  int exit = -1;
  const std::string promtool = program_path("promtool");
  const std::string said = output_of(
      promtool + " check rules " TESTS_DIR "/../packaging/prometheus/faultline.rules.yml 2>&1",
      &exit);
  EXPECT_EQ(exit, 0) << said;
  const RealProgram prometheus(workshop.folder() / "prometheus.log",
                               {prometheus_path, "--config.file=" + file("prometheus.yml"),
                                "--storage.tsdb.path=" + file("tsdb"),
                                "--web.listen-address=127.0.0.1:" + std::to_string(port)},
                               port);
  ASSERT_EQ(upload(server, file("sim/logs"), "llama").status, 200);
  const std::string url = "http://127.0.0.1:" + std::to_string(port);
  std::string firing;
  for (int tries = 0; tries < 300; ++tries) {
    firing = output_of("curl -sS '" + url + "/api/v1/alerts'");
    if (firing.find("FaultlineFindingOpened") != std::string::npos) break;
    std::this_thread::sleep_for(200ms);
  }
  EXPECT_THAT(firing, HasSubstr("FaultlineFindingOpened"));
  EXPECT_THAT(firing, HasSubstr("gpu.off_bus"));
  const std::string targets = output_of("curl -sS '" + url + "/api/v1/targets'");
  EXPECT_THAT(targets, HasSubstr("\"health\":\"up\"")) << targets;
  EXPECT_THAT(output_of("curl -sS '" + url + "/api/v1/rules'"),
              testing::Not(HasSubstr("\"health\":\"err\"")));
  output_of("curl -sS '" + server.url("/metrics") + "' >'" + file("metrics") + "'");
  EXPECT_EQ(output_of(promtool + " check metrics <'" + file("metrics") + "' 2>&1", &exit), "");
  EXPECT_EQ(exit, 0);
}

TEST_F(Alerting, SpeaksOpenMetricsToThoseWhoAsk) {
  ServerProcess server(workshop.folder());
  const Reply open =
      curl(server, "/metrics", "-H 'Accept: application/openmetrics-text;version=1.0.0'");
  EXPECT_TRUE(open.body.ends_with("# EOF\n"));
  EXPECT_THAT(open.body, HasSubstr("# TYPE faultline_ingest_lines counter\n"));
  EXPECT_THAT(open.body, HasSubstr("\nfaultline_ingest_lines_total "));
  EXPECT_THAT(plain_get(server, "/metrics").body,
              HasSubstr("# TYPE faultline_ingest_lines_total counter\n"));
}

// Jobs whose logs are posted file by file, as a loop of curl does. FAULTLINE_EVERY=1 runs all
// scenarios.
TEST_F(Alerting, TellsTheTrueCausesOfJobsThatArriveFileByFileAndTakesNoneBack) {
  write_alertmanager_config();
  start_alertmanager();
  ServerProcess server(workshop.folder(), {"--alertmanager", alertmanager_url(), "--alert-hold",
                                           "0s", "--stall-after", "8s"});
  const std::size_t step = every(11);
  const auto list =
      boost::json::parse(output_of(FAULTLINE_BINARY " simulate --list --format json")).as_object();
  std::map<std::string, std::string> truth;  // class by job
  std::size_t number = 0;
  for (const auto& row : list.at("scenarios").as_array()) {
    if (number++ % step != 0) continue;
    const std::string scenario(row.at("scenario").as_string());
    const std::string folder = file(scenario);
    output_of(
        fmt::format("{} simulate --scenario {} --nodes 2 --gpus-per-node 4 --steps 10 --seed "
                    "{} --out '{}'",
                    FAULTLINE_BINARY, scenario, number, folder));
    truth[scenario] = row.at("class").as_string();
    output_of(
        fmt::format("cd '{}/logs' && for f in */*; do curl -sS -o /dev/null --data-binary @$f "
                    "\"{}/api/v1/ingest?job={}&host=${{f%%/*}}&source=$f\"; done",
                    folder, server.url(""), scenario));
  }
  ASSERT_GE(truth.size(), 8U);

  std::map<std::string, std::set<std::string>> told;
  const auto ask = [&] {
    told.clear();
    for (const auto& alert : alerts("role=cause")) {
      const auto& labels = alert.at("labels").as_object();
      told[std::string(labels.at("job").as_string())].emplace(labels.at("alertname").as_string());
      EXPECT_GE(std::stod(std::string(alert.at("annotations").at("confidence").as_string())), 0.8);
    }
  };
  std::this_thread::sleep_for(10s);
  ask();
  for (auto before = told; std::this_thread::sleep_for(3s), ask(), told != before; before = told) {
  }
  EXPECT_GE(told.size() * 4, truth.size()) << "many of these jobs have a fault that is told";
  for (const auto& [job, cause] : truth) {
    const auto answer = plain_get(server, "/api/v1/jobs/" + job + "/diagnosis").json();
    std::set<std::string> sure;
    for (const auto& finding : answer.at("root_causes").as_array())
      if (finding.at("confidence").to_number<double>() >= 0.8)
        sure.emplace(finding.at("class").as_string());
    EXPECT_EQ(told[job], sure) << job;
    for (const std::string& one : told[job]) EXPECT_EQ(one, cause) << job;
  }
  const auto over = plain_get(server, "/api/v1/findings?state=resolved&limit=1000").json();
  for (const auto& finding : over.at("findings").as_array())
    EXPECT_NE(finding.at("role"), "cause") << finding.at("job") << ' ' << finding.at("title");
}

TEST_F(Alerting, PagesForTenGpusAmongAHundredAndSixtyThousandTeardowns) {
  workshop.write("faultline.toml", "[[receiver]]\nname = \"hook\"\ntype = \"webhook\"\nurl = \"" +
                                       hook.url() +
                                       "\"\nallow_private = true\nhold = \"1s\"\n"
                                       "group_wait = \"1s\"\n"
                                       // The confidence is low because the job itself sent no line.
                                       "min_confidence = 0.7\n");
  ServerProcess server(workshop.folder(), {"--config", file("faultline.toml")});
  const std::string folder = file("kernel");
  std::filesystem::create_directories(folder);
  // Ten GPUs on ten hosts fall off the bus while other processes are cleaned up.
  int left = 168'924;
  for (int host = 0; host < 100; ++host) {
    const std::string name = "gpu-node-" + std::to_string(host);
    std::filesystem::create_directories(folder + "/" + name);
    std::ofstream out(folder + "/" + name + "/messages");
    const int lines = host == 99 ? left : 168'924 / 100;
    left -= lines;
    for (int line = 0; line < lines; ++line) {
      const std::string prefix =
          fmt::format("2026-03-05T{:02}:{:02}:{:02}.000000+00:00 {} kernel: [{}.000001] ",
                      line / 3600, line / 60 % 60, line % 60, name, 1000 + line);
      if (line == 800 && host % 10 == 0)
        out << prefix << "NVRM: Xid (PCI:0000:3b:00): 79, pid=4021, name=python3, GPU has fallen "
            << "off the bus.\n";
      out << prefix
          << fmt::format("NVRM: Xid (PCI:0000:{:x}:00): 45, pid={}, name=python3, Ch 00000008\n",
                         16 + line % 8, 5000 + line % 8);
    }
  }
  ASSERT_EQ(upload(server, folder, "llama").status, 200);
  std::set<std::string> hosts;
  std::set<std::string> classes;
  for (int tries = 0; tries < 600 && hosts.size() < 10; ++tries) {
    std::this_thread::sleep_for(100ms);
    for (const auto& heard : hook.heard()) {
      const boost::json::object message = heard.json();
      for (const auto& alert : message.at("alerts").as_array()) {
        classes.emplace(alert.at("labels").at("alertname").as_string());
        if (const auto* host = alert.at("labels").as_object().if_contains("host"))
          hosts.emplace(host->as_string());
      }
    }
  }
  EXPECT_EQ(hosts.size(), 10U);
  EXPECT_THAT(classes, testing::ElementsAre("gpu.off_bus"));
}

TEST_F(Alerting, TriesAReceiverByItsName) {
  workshop.write("c.toml", "[[receiver]]\nname = \"chat\"\ntype = \"slack\"\nurl_file = \"" +
                               file("url") + "\"\nallow_private = true\n");
  workshop.write("url", hook.url("/chat") + "\n");
  int exit = -1;
  const std::string test =
      FAULTLINE_BINARY " alerts test chat --config '" + file("c.toml") + "' 2>&1";
  EXPECT_EQ(output_of(test, &exit), "chat: accepted\n");
  EXPECT_EQ(exit, 0);
  ASSERT_EQ(hook.heard().size(), 1U);
  EXPECT_THAT(std::string(hook.heard()[0].json().at("text").as_string()), HasSubstr("A test"));
  hook.behave(FakeReceiver::answer("404 Not Found", "", "no_team"));
  EXPECT_EQ(output_of(test, &exit), "faultline: chat: answers 404: no_team\n");
  EXPECT_EQ(exit, 2);
  EXPECT_THAT(
      output_of(FAULTLINE_BINARY " alerts test pager --config '" + file("c.toml") + "' 2>&1"),
      HasSubstr("no receiver is named \"pager\"; there are chat"));
}

TEST_F(Alerting, RefusesReceiversThatCannotWorkWithOneLine) {
  struct Case {
    const char* table;
    const char* says;
  };
  const Case cases[] = {
      {"type = \"webhook\"\nurl = \"http://x\"",
       "bad.toml: line 1: receiver 1: name is missing; give it one"},
      {"name = \"a\"\nurl = \"http://x\"",
       "bad.toml: line 1: receiver \"a\": type is missing; give one of alertmanager, "},
      {"name = \"a\"\ntype = \"pigeon\"", "type must be one of alertmanager, webhook, pagerduty"},
      {"name = \"a\"\ntype = \"webhook\"", "url is missing"},
      {"name = \"a\"\ntype = \"webhook\"\nurl = \"x\"", "url must begin with http:// or https://"},
      {"name = \"a\"\ntype = \"webhook\"\nurl = \"http://x\"\ncolour = \"red\"",
       "bad.toml: line 5: receiver \"a\": colour is not known; the keys are "},
      {"name = \"a\"\ntype = \"webhook\"\nulr = \"http://x\"", "ulr is not known; did you mean"},
      {"name = \"a\"\ntype = \"webhook\"\nurl = \"http://x\"\nhold = 30",
       "line 5: receiver \"a\": hold must be a duration with a unit: 30s, 30m, 30h or 30d"},
      {"name = 7\ntype = \"webhook\"\nurl = \"http://x\"", "name must be a text in quotes"},
      {"name = \"a\"\ntype = \"webhook\"\nurl = \"http://x\"\nhold = \"soon\"",
       "hold must be a duration"},
      {"name = \"a\"\ntype = \"webhook\"\nurl = \"http://x\"\nsecret_file = \"absent\"",
       "secret_file absent: cannot be read"},
      {"name = \"a\"\ntype = \"webhook\"\nurl = \"https://x\"\nca_file = \"absent\"",
       "ca_file absent: No such file or directory"},
      {"name = \"a\"\ntype = \"webhook\"\nurl = \"https://x\"\nca_file = \"bad.toml\"",
       "ca_file bad.toml: holds no certificate in PEM"},
      {"name = \"a\"\ntype = \"webhook\"\nurl = \"http://x\"\nquiet = [\"at night\"]",
       "quiet must be times of the day"},
      {"name = \"a\"\ntype = \"pagerduty\"", "routing_key_file is missing"},
      {"name = \"a\"\ntype = \"command\"", "command is missing"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.table);
    workshop.write("bad.toml", std::string("[[receiver]]\n") + c.table + "\n");
    int exit = -1;
    const std::string said = output_of("cd '" + workshop.folder().string() +
                                           "' && timeout 20 " FAULTLINE_BINARY
                                           " serve --listen 127.0.0.1:0 --config bad.toml 2>&1",
                                       &exit);
    EXPECT_EQ(exit, 2);
    EXPECT_THAT(said, HasSubstr(c.says));
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  }
}

}  // namespace
}  // namespace faultline
