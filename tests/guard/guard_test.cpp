// `faultline guard` and the scripts of packaging/slurm as they run on a cluster: with a real
// server, and stand-ins for Slurm and for the API of Kubernetes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "curl.h"
#include "eventually.h"
#include "fake_kubernetes.h"
#include "program.h"
#include "server_process.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kScontrol = R"sh(#!/bin/sh
# Knows the nodes of the file "nodes" beside it, in the form of scontrol --oneliner.
cd "$(dirname "$0")" || exit 1
echo "$*" >>calls
case "$1 $2 $3" in
  '--oneliner show nodes') cat nodes ;;
  '--oneliner show node') grep "^NodeName=$4 " nodes ;;
  update*)
    node=${2#NodeName=}
    case $3 in
      State=DRAIN) sed -i "/^NodeName=$node /s/State=.*/State=IDLE+DRAIN $4 [root@2026-11-29T08:00:00]/" nodes ;;
      State=UNDRAIN) sed -i "/^NodeName=$node /s/State=.*/State=IDLE/" nodes ;;
      *) exit 1 ;;
    esac ;;
  *) exit 1 ;;
esac
)sh";

class GuardProgram : public ProgramTest {
 protected:
  void SetUp() override {
    server.emplace(workshop.folder());
    workshop.write("bin/scontrol", kScontrol);
    for (int i = 1; i <= 8; ++i) nodes += fmt::format("NodeName=gpu-node-{} State=IDLE\n", i);
    workshop.write("bin/nodes", nodes);
    workshop.make("chmod +x bin/scontrol; ln -s '" FAULTLINE_BINARY "' bin/faultline; echo >out");
  }

  // The job whose GPU on gpu-node-3 fell off the bus, so long ago.
  void send_the_job(std::chrono::seconds ago = std::chrono::minutes{10}) {
    const std::chrono::seconds uptime{41281};  // that of the last line
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto boot = std::chrono::floor<std::chrono::seconds>(now) - ago - uptime;
    const std::string logs = TESTS_DIR "/scenarios/gpu_off_bus/logs";
    EXPECT_EQ(curl(*server, "/api/v1/ingest?job=slurm-4711&source=nccl&final=true", "-T -",
                   "cat " + logs + "/*/nccl.log |")
                  .status,
              200);
    EXPECT_EQ(curl(*server,
                   fmt::format("/api/v1/ingest?job=slurm-4711&host=gpu-node-3&source=dmesg&"
                               "boot_time={}&final=true",
                               boot.count()),
                   "-T " + logs + "/gpu-node-3/dmesg.txt")
                  .status,
              200);
  }

  std::string finding() {
    const boost::json::object answer =
        plain_get(*server, "/api/v1/findings?class=gpu.off_bus").json();
    return std::string(
        answer.at("findings").as_array().at(0).as_object().at("finding").as_string());
  }

  Outcome guard(const std::string& flags) {
    return run(fmt::format("PATH=$PWD/bin:$PATH; timeout 60 $F guard --from {} {}", server->url(""),
                           flags));
  }
  Outcome guard_slurm(const std::string& flags) {
    return guard("--slurm --state state --hold 0 " + flags);
  }

  std::string state_of(const std::string& node) {
    return run("grep -o '^NodeName=" + node + " .*' bin/nodes").out;
  }

  // A script of packaging/slurm, with settings for this test, as Slurm runs it on a node. `edit` is
  // a command that changes the scripts before.
  Outcome script(const std::string& name, const std::string& arguments = "",
                 const std::string& edit = ":") {
    const std::string folder = workshop.folder().string();
    workshop.make(
        fmt::format("rm -rf slurm; cp -r '{}/../packaging/slurm' slurm; sed -i -e "
                    "'s#^FAULTLINE_URL=.*#FAULTLINE_URL={}#' "
                    "-e 's#^FAULTLINE_LOGS=.*#FAULTLINE_LOGS={}/logs#' -e 's#^PATH=#PATH={}/bin:#' "
                    "slurm/settings.sh; {}; echo >out",
                    TESTS_DIR, server->url(""), folder, folder, edit));
    return run(
        "SLURM_JOB_ID=4712 SLURM_JOB_UID=$(id -u) SLURMD_NODENAME=gpu-node-3 timeout 120 "
        "slurm/" +
        name + " " + arguments);
  }
  static std::string with_guard_flags(const std::string& flags) {
    return "sed -i 's#^FAULTLINE_GUARD_FLAGS=.*#FAULTLINE_GUARD_FLAGS=(" + flags +
           ")#' slurm/settings.sh";
  }

  std::optional<ServerProcess> server;
  std::string nodes;
};

TEST_F(GuardProgram, SaysWhatItWouldDoAndDoesNothing) {
  send_the_job();
  const Outcome outcome = guard_slurm("");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.err, HasSubstr("would take node gpu-node-3 out of scheduling: GPU"));
  EXPECT_EQ(read_file(workshop.folder() / "bin/nodes"), nodes);
  EXPECT_FALSE(fs::exists(workshop.folder() / "state"));
}

TEST_F(GuardProgram, DrainsTheNodeThatIsBlamedAndNoOther) {
  send_the_job();
  EXPECT_EQ(guard_slurm("--act").status, 0);
  EXPECT_THAT(state_of("gpu-node-3"),
              HasSubstr("DRAIN Reason=faultline: gpu.off_bus (finding=" + finding()));
  const std::string after = read_file(workshop.folder() / "bin/nodes");
  EXPECT_EQ(after.find("DRAIN"), after.rfind("DRAIN"));
  // A second look changes nothing.
  EXPECT_EQ(guard_slurm("--act").status, 0);
  EXPECT_EQ(read_file(workshop.folder() / "bin/nodes"), after);
}

TEST_F(GuardProgram, WaitsUntilAFindingHasStood) {
  send_the_job();
  const Outcome outcome = guard("--slurm --state state --act");
  EXPECT_THAT(outcome.err, HasSubstr("it has not stood for long enough yet"));
  EXPECT_EQ(read_file(workshop.folder() / "bin/nodes"), nodes);
}

TEST_F(GuardProgram, ResumesANodeWhoseFindingIsReviewedAsWrong) {
  send_the_job();
  EXPECT_EQ(guard_slurm("--act").status, 0);
  curl(*server, "/api/v1/findings/" + finding() + "/review?verdict=wrong&by=ann", "-X POST");
  const Outcome outcome = guard_slurm("--act");
  EXPECT_THAT(outcome.err, HasSubstr("gives node gpu-node-3 back"));
  EXPECT_EQ(state_of("gpu-node-3"), "NodeName=gpu-node-3 State=IDLE\n");
}

TEST_F(GuardProgram, DoesNotTakeANodeAgainThatAPersonResumed) {
  send_the_job();
  EXPECT_EQ(guard_slurm("--act").status, 0);
  workshop.write("bin/nodes", nodes);
  const Outcome outcome = guard_slurm("--act");
  EXPECT_THAT(outcome.err, HasSubstr("it took the node once, and the node was given back"));
  EXPECT_EQ(read_file(workshop.folder() / "bin/nodes"), nodes);
}

TEST_F(GuardProgram, TakesNoNodeForLogsOfLongAgo) {
  send_the_job(std::chrono::hours{25});
  const Outcome outcome = guard_slurm("--act");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.err, HasSubstr("it was last seen at"));
  EXPECT_EQ(read_file(workshop.folder() / "bin/nodes"), nodes);
}

TEST_F(GuardProgram, DoesNotTakeANodeThatAPersonDrainedFirst) {
  send_the_job();
  run("sed -i '/gpu-node-3 /s/$/+DRAIN Reason=repair/' bin/nodes");
  EXPECT_THAT(guard_slurm("--act").err,
              HasSubstr("takes node gpu-node-3 no more for what was found until now"));
  workshop.write("bin/nodes", nodes);
  EXPECT_THAT(guard_slurm("--act").err, HasSubstr("the node was given back or was out of"));
  EXPECT_EQ(read_file(workshop.folder() / "bin/nodes"), nodes);
}

TEST_F(GuardProgram, TriesAgainIfTheNodeCouldNotBeDrained) {
  send_the_job();
  run("sed -i 's/State=DRAIN)/& echo refused; exit 1;/' bin/scontrol");
  const Outcome refused = guard_slurm("--act");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("refused"));
  workshop.write("bin/scontrol", kScontrol);
  EXPECT_EQ(guard_slurm("--act").status, 0);
  EXPECT_THAT(state_of("gpu-node-3"), HasSubstr("DRAIN"));
}

TEST_F(GuardProgram, ChangesNothingIfItsStateIsDamagedOrInUse) {
  send_the_job();
  workshop.write("state/slurm.json", R"({"gpu-node-1":"finding=f1)");
  Outcome outcome = guard_slurm("--act");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("slurm.json cannot be read"));
  EXPECT_THAT(read_file(workshop.folder() / "state/slurm.json"), HasSubstr("finding=f1"));
  fs::remove(workshop.folder() / "state/slurm.json");
  outcome = run(fmt::format(
      "PATH=$PWD/bin:$PATH; flock state/lock timeout 60 $F guard --from {} --slurm --state state "
      "--hold 0 --act",
      server->url("")));
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("another faultline uses"));
  EXPECT_EQ(read_file(workshop.folder() / "bin/nodes"), nodes);
}

TEST_F(GuardProgram, ChangesNothingIfTheServerIsAway) {
  send_the_job();
  EXPECT_EQ(guard_slurm("--act").status, 0);
  const std::string drained = read_file(workshop.folder() / "bin/nodes");
  server->kill_now();
  const Outcome outcome = guard_slurm("--act");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("no node changes"));
  EXPECT_EQ(read_file(workshop.folder() / "bin/nodes"), drained);
}

TEST_F(GuardProgram, ChangesNothingIfSlurmIsAway) {
  send_the_job();
  workshop.write("bin/scontrol", "#!/bin/sh\necho 'Unable to contact slurm controller'; exit 1\n");
  const Outcome outcome = guard_slurm("--act");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("Unable to contact slurm controller"));
}

TEST_F(GuardProgram, OfOneNodeAsksSlurmOnlyIfThatNodeIsAccused) {
  send_the_job();
  EXPECT_EQ(guard_slurm("--act --node gpu-node-4").status, 0);
  EXPECT_FALSE(fs::exists(workshop.folder() / "bin/calls"));
  EXPECT_EQ(guard_slurm("--act --node gpu-node-3").status, 0);
  EXPECT_THAT(state_of("gpu-node-3"), HasSubstr("DRAIN"));
}

TEST_F(GuardProgram, GoesOnUntilItIsEnded) {
  send_the_job();
  const Outcome outcome = run(fmt::format(
      "PATH=$PWD/bin:$PATH; timeout --preserve-status 4 $F guard --from {} --slurm --state state "
      "--hold 0 --every 1s",
      server->url("")));
  EXPECT_EQ(outcome.status, 0);
  // What does not change is said once.
  const std::size_t first = outcome.err.find("would take node gpu-node-3");
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(outcome.err.find("would take node gpu-node-3", first + 1), std::string::npos);
}

TEST_F(GuardProgram, TaintsAndUntaintsANodeOfKubernetes) {
  FakeKubernetes api;
  for (int i = 1; i <= 8; ++i) api.add_node(fmt::format("gpu-node-{}.example.org", i));
  send_the_job();
  const std::string flags = "--kubernetes --hold 0 --api " + api.url();
  EXPECT_THAT(guard(flags).err, HasSubstr("would take node gpu-node-3.example.org"));
  EXPECT_EQ(api.patches(), 0);
  EXPECT_EQ(guard(flags + " --act").status, 0);
  EXPECT_THAT(api.taints("gpu-node-3.example.org"), HasSubstr("faultline/hardware"));
  EXPECT_EQ(api.patches(), 1);
  EXPECT_EQ(guard(flags + " --act").status, 0);
  EXPECT_EQ(api.patches(), 1);
  curl(*server, "/api/v1/findings/" + finding() + "/review?verdict=wrong&by=ann", "-X POST");
  EXPECT_EQ(guard(flags + " --act").status, 0);
  EXPECT_EQ(api.taints("gpu-node-3.example.org"), "[]");
  EXPECT_EQ(api.events().size(), 2U);
}

TEST_F(GuardProgram, NeedsToKnowTheScheduler) {
  expect_refused("$F guard --from http://127.0.0.1:1", "--slurm or --kubernetes");
  expect_refused("$F guard --from http://127.0.0.1:1 --slurm --kubernetes",
                 "--slurm or --kubernetes");
  expect_refused("$F guard --slurm", "--from is required");
}

TEST_F(GuardProgram, HealthCheckDrainsItsNodeOnlyWhenToldTo) {
  send_the_job();
  const std::string flags = "--hold 0 --state " + (workshop.folder() / "state").string();
  EXPECT_EQ(script("health-check.sh", "", with_guard_flags(flags)).status, 0);
  EXPECT_THAT(read_file(workshop.folder() / "logs/.guard"),
              HasSubstr("would take node gpu-node-3"));
  EXPECT_EQ(read_file(workshop.folder() / "bin/nodes"), nodes);
  EXPECT_EQ(script("health-check.sh", "", with_guard_flags(flags + " --act")).status, 0);
  EXPECT_THAT(state_of("gpu-node-3"), HasSubstr("DRAIN"));
}

TEST_F(GuardProgram, HealthCheckSucceedsIfTheServerIsAway) {
  server->kill_now();
  EXPECT_EQ(script("health-check.sh", "", with_guard_flags("--act --hold 0")).status, 0);
  EXPECT_EQ(read_file(workshop.folder() / "bin/nodes"), nodes);
}

TEST_F(GuardProgram, TaskPrologNamesTheJobAndKeepsWhatIsSet) {
  const std::string out = script("task-prolog.sh").out;
  EXPECT_THAT(out, HasSubstr("export FAULTLINE_JOB=slurm-4712\n"));
  EXPECT_THAT(out, HasSubstr("export NCCL_DEBUG=INFO\n"));
  EXPECT_THAT(out, HasSubstr("/logs/4712/nccl.%h.%p.log\n"));
  const std::string kept = run("NCCL_DEBUG=WARN SLURM_JOB_ID=4712 slurm/task-prolog.sh").out;
  EXPECT_THAT(kept, Not(HasSubstr("NCCL_DEBUG=")));
}

TEST_F(GuardProgram, EpilogSendsTheLogsOfTheJobAsComplete) {
  EXPECT_EQ(script("prolog.sh").status, 0);
  workshop.make("cp '" TESTS_DIR
                "/scenarios/gpu_off_bus/logs/gpu-node-3/nccl.log' logs/4712/; echo >out");
  EXPECT_EQ(script("epilog.sh").status, 0);
  const Reply reply = plain_get(*server, "/api/v1/sources?job=slurm-4712");
  ASSERT_EQ(reply.status, 200) << read_file(workshop.folder() / "logs/.epilog");
  const boost::json::object answer = reply.json();
  for (const auto& source : answer.at("sources").as_array()) {
    SCOPED_TRACE(boost::json::serialize(source));
    EXPECT_TRUE(source.as_object().at("complete").as_bool());
    EXPECT_EQ(source.as_object().at("host"), "gpu-node-3");
  }
  EXPECT_FALSE(fs::exists(workshop.folder() / "logs/.kernel.4712"));
}

TEST_F(GuardProgram, PrologAndEpilogSucceedIfTheServerIsAway) {
  server->kill_now();
  EXPECT_EQ(script("prolog.sh").status, 0);
  EXPECT_EQ(script("epilog.sh", "", "sed -i s/45s/1s/ slurm/epilog.sh").status, 0);
}

TEST_F(GuardProgram, EpilogHoldsTheNodeOnlyForSomeTimeIfTheServerIsAway) {
  server->kill_now();
  EXPECT_EQ(script("prolog.sh").status, 0);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(script("epilog.sh", "", "sed -i -e s/45s/8s/ -e 's/{1..200}/{1..20}/' slurm/epilog.sh")
                .status,
            0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{7});
  // What was left to do is done.
  EXPECT_TRUE(eventually([&] { return !fs::exists(workshop.folder() / "logs/.kernel.4712"); }));
}

TEST_F(GuardProgram, PrologDeletesOnlyTheLogsOfJobsThatEndedLongAgo) {
  // 1 ended long ago, 2 ended today, 3 runs and is quiet, 4 ran when the node went down, 4712 is
  // started again.
  run("mkdir -p logs/1 logs/2 logs/3 logs/4 logs/.kernel.4; touch logs/.ended.2; "
      "touch -d '9 days ago' logs/1 logs/2 logs/3 logs/.ended.1 logs/.ended.4712; "
      "touch -d @1 logs/.kernel.4");
  EXPECT_EQ(script("prolog.sh").status, 0);
  EXPECT_FALSE(fs::exists(workshop.folder() / "logs/1"));
  EXPECT_FALSE(fs::exists(workshop.folder() / "logs/.ended.1"));
  for (const char* kept : {"2", "3", "4", "4712", ".ended.4", ".kernel.4712"})
    EXPECT_TRUE(fs::exists(workshop.folder() / "logs" / kept)) << kept;
  for (const char* gone : {".kernel.4", ".ended.4712"})
    EXPECT_FALSE(fs::exists(workshop.folder() / "logs" / gone)) << gone;
  // The agent of job 4712 runs, so it did not end.
  run("touch -d '9 days ago' logs/.ended.4712; "
      "SLURM_JOB_ID=4713 SLURM_JOB_UID=$(id -u) SLURMD_NODENAME=gpu-node-3 "
      "timeout 60 slurm/prolog.sh");
  EXPECT_TRUE(fs::exists(workshop.folder() / "logs/4712"));
  EXPECT_EQ(fs::status(workshop.folder() / "logs/.kernel.4712").permissions(),
            fs::perms::owner_all);
  for (const char* job : {"4712", "4713"}) run(fmt::format("kill $(cat logs/.kernel.{}/pid)", job));
}

TEST_F(GuardProgram, ExcludePrintsTheOptionForSbatch) {
  send_the_job();
  EXPECT_EQ(script("exclude.sh", "4711").out, "--exclude=gpu-node-3\n");
  EXPECT_EQ(script("exclude.sh", "x").status, 2);
  EXPECT_NE(script("exclude.sh", "4799").status, 0);
}

}  // namespace
}  // namespace faultline
