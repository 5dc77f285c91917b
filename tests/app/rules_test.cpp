// Signatures as users meet them: the command, the page of the docs that explains them, and a
// service that loads them again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "curl.h"
#include "server_process.h"
#include "workshop.h"

namespace faultline {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kOurs = R"(
- id: ours.quota
  class: host.storage_stall
  title: "{path} is over its quota"
  literals: ["quota exceeded on"]
  pattern: 'quota exceeded on (?P<path>\S+)'
  matches: ["quota exceeded on /data"]
)";

class Rules : public testing::Test {
 protected:
  struct Outcome {
    int exit = -1;
    std::string text;  // stdout and stderr
  };

  Outcome run(const std::string& words) const {
    Outcome outcome;
    outcome.text = output_of(
        "cd '" + workshop.folder().string() + "' && " FAULTLINE_BINARY " " + words + " 2>&1",
        &outcome.exit);
    return outcome;
  }

  Workshop workshop;
};

TEST_F(Rules, AreListedOneInALine) {
  const Outcome listed = run("rules list");
  EXPECT_EQ(listed.exit, 0);
  EXPECT_THAT(listed.text, HasSubstr("\nnccl.shm.full  "));
  EXPECT_THAT(listed.text, HasSubstr("  host.shm_full  "));
  EXPECT_THAT(listed.text, HasSubstr("/dev/shm of {host} is full\n"));
  const auto all = boost::json::parse(run("rules list --format json").text).as_array();
  EXPECT_EQ(static_cast<std::size_t>(std::count(listed.text.begin(), listed.text.end(), '\n')),
            all.size());
}

TEST_F(Rules, AreShownWithAllTheyHave) {
  const Outcome shown = run("rules show nccl.shm.full");
  EXPECT_EQ(shown.exit, 0);
  for (const char* part : {"host.shm_full", "critical", "blames       host", "df -h /dev/shm",
                           "failed to extend /dev/shm/nccl-", "matches not"})
    EXPECT_THAT(shown.text, HasSubstr(part));
  const auto json = boost::json::parse(run("rules show nccl.shm.full --format json").text);
  EXPECT_EQ(json.at("class").as_string(), "host.shm_full");
  EXPECT_EQ(json.at("blames").as_string(), "host");
  EXPECT_GT(json.at("matches").as_array().size(), 1u);
  const Outcome unknown = run("rules show nccl.nothing");
  EXPECT_EQ(unknown.exit, 2);
  EXPECT_EQ(
      unknown.text,
      "faultline: no signature has the id \"nccl.nothing\"; faultline rules list names all\n");
}

TEST_F(Rules, OfAUserStandBeforeTheBuiltInOnesAndReplaceThoseOfTheirId) {
  workshop.write("mine/b.yaml", kOurs);
  std::string replaced = kOurs;
  replaced.replace(replaced.find("ours.quota"), 10, "nccl.shm.full");
  workshop.write("mine/a.yaml", replaced);
  workshop.write("mine/.a.yaml.swp", "what an editor leaves");
  const Outcome listed = run("rules list --rules mine");
  EXPECT_EQ(listed.exit, 0);
  EXPECT_THAT(listed.text, StartsWith("nccl.shm.full"));
  EXPECT_LT(listed.text.find("nccl.shm.full"), listed.text.find("ours.quota"));
  EXPECT_LT(listed.text.find("ours.quota"), listed.text.find("nccl.cuda.oom"));
  EXPECT_THAT(listed.text, Not(HasSubstr("/dev/shm of {host} is full")));
}

TEST_F(Rules, AreCheckedToTheEndOfEveryFile) {
  workshop.write("good.yaml", kOurs);
  EXPECT_EQ(run("rules check good.yaml").exit, 0);
  EXPECT_EQ(run("rules check good.yaml").text, "");
  std::string wrong = kOurs;
  wrong.replace(wrong.find("[\"quota exceeded on /data\"]"), 27, "[\"quota on /data\"]");
  workshop.write("bad.yaml", "- id: full\n- nonsense" + wrong);
  workshop.write("advice.yaml", "pcie.slow: {}\n");
  workshop.write("xids.csv", "");
  const Outcome checked = run("rules check good.yaml bad.yaml advice.yaml xids.csv");
  EXPECT_EQ(checked.exit, 1);
  EXPECT_EQ(checked.text,
            "advice.yaml:1: class \"pcie.slow\" is unknown; use pcie.error or pcie.degraded\n"
            "xids.csv: no file of the catalog has this name; use advice.yaml, causality.yaml, "
            "conditions.yaml, counters.yaml, evidence.yaml, frames.yaml, grounds.yaml, hints.yaml, "
            "performance.yaml, "
            "secrets.yaml, settings.yaml, sxid.csv, trouble.yaml, "
            "xid.csv or xid_details.csv\n"
            "bad.yaml:1: id \"full\" is not a dotted name; write one such as ours.disk_full\n"
            "bad.yaml:2: this is not a mapping; a signature has the fields id, class, title, "
            "severity, weight, blames, confidence, dialect, levels, place, literals, pattern, "
            "versions, storm, recovers, excuses, lasts, marks, actions, matches, matches_not\n"
            "bad.yaml:3: ours.quota: the sample \"quota on /data\" holds none of the literals; add "
            "one that it holds\n"
            "bad.yaml:3: ours.quota is also in good.yaml:2; rename one of the two\n");
  EXPECT_EQ(run("rules check absent.yaml").exit, 2);
  EXPECT_EQ(run("rules check").exit, 2);
}

TEST_F(Rules, StopADiagnosisThatAsksForBrokenOnes) {
  workshop.write("mine/ours.yaml", "- id: ours.half\n");
  workshop.write("log", "x\n");
  const Outcome outcome = run("diagnose --rules mine log");
  EXPECT_EQ(outcome.exit, 2);
  EXPECT_EQ(outcome.text,
            "faultline: mine/ours.yaml:1: class is missing; add \"class:\" to this entry\n");
}

// The first block of YAML in docs/rules.md.
std::string worked_example() {
  const std::string page = read_file(std::filesystem::path(TESTS_DIR) / "../docs/rules.md");
  const std::string fence = "```yaml\n";
  const std::size_t begin = page.find(fence) + fence.size();
  return page.substr(begin, page.find("```", begin) - begin);
}

TEST_F(Rules, AreTaughtByAnExampleThatWorks) {
  workshop.write("mine/ours.yaml", worked_example());
  const Outcome checked = run("rules check mine/ours.yaml");
  EXPECT_EQ(checked.text, "");
  EXPECT_EQ(checked.exit, 0);
  const Outcome shown = run("rules show ours.checkpoint_quota --rules mine");
  EXPECT_EQ(shown.exit, 0);
  EXPECT_THAT(shown.text, HasSubstr("host.storage_stall"));
  EXPECT_THAT(shown.text, HasSubstr("step-1200 failed: Disk quota exceeded"));
}

std::string first_id(const Reply& reply) {
  const auto rules = reply.json();
  return std::string(rules.at("rules").as_array().at(0).at("id").as_string());
}

TEST(ServedRules, ComeInPages) {
  Workshop workshop;
  ServerProcess server(workshop.folder());
  std::size_t count = 0;
  std::string more;
  do {
    const auto page = plain_get(server, "/api/v1/rules" + more).json();
    count += page.at("rules").as_array().size();
    const auto& next = page.at("next_cursor");
    more = next.is_null() ? "" : "?cursor=" + std::string(next.as_string());
  } while (!more.empty());
  EXPECT_GT(count, 100u);
  const auto some = plain_get(server, "/api/v1/rules?class=host.shm_full&limit=1").json();
  EXPECT_EQ(some.at("rules").as_array().at(0).at("id").as_string(), "nccl.shm.full");
  const std::string cursor(some.at("next_cursor").as_string());
  const auto next = plain_get(server, "/api/v1/rules?class=host.shm_full&limit=1&cursor=" + cursor);
  EXPECT_EQ(first_id(next), "nccl.shm.segment_failed");
  EXPECT_EQ(plain_get(server, "/api/v1/rules?color=red").status, 400);
}

TEST(ServedRules, AreReadAgainWhileAnUploadGoesOn) {
  Workshop workshop;
  workshop.write("mine/ours.yaml", kOurs);
  ServerProcess server(workshop.folder(), {"--rules", workshop.folder() / "mine"});
  EXPECT_EQ(first_id(plain_get(server, "/api/v1/rules?limit=1")), "ours.quota");

  Reply upload;
  std::thread sender([&] {
    upload = curl(server, "/api/v1/ingest?job=j&source=s", "-T - -X POST",
                  "(echo one; while ! test -e '" + workshop.folder().string() +
                      "/go'; do sleep 0.05; done; echo two) |");
  });
  std::string other = kOurs;
  other.replace(other.find("ours.quota"), 10, "ours.limit");
  workshop.write("mine/ours.yaml", other);
  server.ask_to_reload();
  await(server, "/api/v1/rules?limit=1",
        [](const Reply& reply) { return first_id(reply) == "ours.limit"; });

  workshop.write("mine/ours.yaml", "- id: ours.half\n");
  server.ask_to_reload();
  for (int tries = 0; tries < 600 && server.messages().find("stay") == std::string::npos; ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_THAT(
      server.messages(),
      AllOf(HasSubstr("msg=\"rules read again\" signatures="),
            HasSubstr(
                "level=error event=rules-not-read msg=\"settings and rules stay as they were\""),
            HasSubstr("mine/ours.yaml:1: class is missing")));
  EXPECT_EQ(first_id(plain_get(server, "/api/v1/rules?limit=1")), "ours.limit");

  workshop.write("go", "");
  sender.join();
  EXPECT_EQ(upload.status, 200) << upload.body;
  EXPECT_EQ(upload.json().at("lines").as_int64(), 2);
}

}  // namespace
}  // namespace faultline
