// What an agent collects, and what it refuses to collect: real commands, processes and pipes.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "eventually.h"
#include "fake_receiver.h"
#include "ras_service.h"
#include "ship/agent.h"
#include "ship/collect/collector.h"
#include "ship/collect/kernel_buffer.h"
#include "ship/collect/ras_client.h"
#include "ship/small_file.h"
#include "workshop.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Other tests may run beside these, and agents look at all processes.
const std::string kJob = fmt::format("llama-{}", getpid());

// A process of a job, as far as its environment says.
class ProcessOfJob {
 public:
  explicit ProcessOfJob(std::vector<std::string> variables, unsigned user = geteuid()) {
    std::string program = "/bin/sleep";
    std::string seconds = "100";
    std::string setpriv = "/usr/bin/setpriv";
    std::string of_user = fmt::format("--reuid={0}", user);
    std::string of_group = fmt::format("--regid={0}", user);
    std::string no_groups = "--clear-groups";
    char* words[] = {setpriv.data(), of_user.data(), of_group.data(), no_groups.data(),
                     program.data(), seconds.data(), nullptr};
    char** from = user == geteuid() ? words + 4 : words;
    std::vector<char*> environment;
    for (std::string& variable : variables) environment.push_back(variable.data());
    environment.push_back(nullptr);
    EXPECT_EQ(posix_spawn(&id_, from[0], nullptr, nullptr, from, environment.data()), 0);
    // The kernel shows the environment a moment later.
    EXPECT_TRUE(eventually([&] {
      return read_small_file(fmt::format("/proc/{}/comm", id_)) == "sleep\n" &&
             !read_small_file(fmt::format("/proc/{}/environ", id_)).empty() &&
             state_of_process("/proc", id_) == 'S';
    }));
  }
  ~ProcessOfJob() {
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
  }
  ProcessOfJob(const ProcessOfJob&) = delete;
  ProcessOfJob& operator=(const ProcessOfJob&) = delete;

  int id() const { return id_; }

 private:
  pid_t id_ = -1;
};

class Collecting : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(state);
    fs::create_directories(bin);
    settings.kinds = choose_kinds("all").names;
    settings.path = bin.string();
    settings.command = {.time = milliseconds{300}, .grace = milliseconds{50}, .bytes = 2000};
    settings.stacks.of_each = settings.command;
    settings.between_counters = milliseconds{10};
    settings.pace.same_again = std::chrono::seconds{0};
    settings.wait_for_room = milliseconds{150};
  }

  void program(const std::string& name, const std::string& script) {
    workshop.write("bin/" + name, "#!/bin/sh\n" + script + "\n");
    fs::permissions(bin / name, fs::perms::owner_all);
  }

  EvidenceCollector& collector() {
    if (!collector_) {
      collector_.emplace(settings, "gpu-7", state, [this](const CollectedText& evidence) {
        if (has_room) found.push_back(evidence);
        return has_room;
      });
      collector_->know_logs({{kJob, logs}});
    }
    return *collector_;
  }
  void restart() { collector_.reset(); }

  CollectOutcome collect(const CollectRequest& wanted) {
    found.clear();
    return collector().collect(wanted);
  }
  CollectOutcome collect(const std::string& kind, std::set<int> ranks = {}) {
    return collect({.id = fmt::format("q{}", ++asked_),
                    .job = kJob,
                    .kind = kind,
                    .ranks = std::move(ranks),
                    .why = {},
                    .fault = {}});
  }
  std::string text() const { return found.size() == 1 ? found[0].text : "not one"; }

  Workshop workshop;
  const fs::path state = workshop.folder() / "state";
  const fs::path bin = workshop.folder() / "bin";
  CollectSettings settings;
  std::vector<CollectedText> found;
  bool has_room = true;
  LogsOfJob logs;  // of the job

 private:
  std::optional<EvidenceCollector> collector_;
  int asked_ = 0;
};

TEST_F(Collecting, GivesWhatACommandPrintsAsASourceOfItsOwn) {
  program("dmesg", R"(echo "$*, $LC_ALL, $HOME, $PWD"; read line; echo "and $line"; echo hm >&2)");
  const CollectOutcome outcome = collect("kernel_log");
  EXPECT_EQ(outcome.outcome, "sent") << outcome.detail;
  EXPECT_EQ(text(), "$ dmesg -T\n-T, C, , /\nand \nhm\n");
  EXPECT_EQ(found[0].target,
            (LogTarget{.job = kJob, .host = "gpu-7", .source = "gpu-7/collected/kernel_log/q1"}));
  EXPECT_TRUE(is_collected(found[0].target));
}

TEST_F(Collecting, AsksTheKernelItselfIfThereIsNoProgramForIt) {
  std::string failure;
  if (read_kernel_buffer(failure).empty()) GTEST_SKIP() << "the kernel tells nothing: " << failure;
  const CollectOutcome outcome = collect("kernel_log");
  EXPECT_EQ(outcome.outcome, "sent");
  EXPECT_THAT(outcome.detail, HasSubstr("the kernel: answered"));
  EXPECT_THAT(text(), testing::ContainsRegex("\n20..-..-..T..:..:..,......\\+00:00 [^<]"));
}

TEST(KernelBuffer, DatesTheLinesThatHaveAStamp) {
  const std::int64_t booted_us = 1'772'000'000'000'000;  // 2026-02-25T06:13:20Z
  EXPECT_EQ(with_dates("<6>[    0.000000] Linux version 6.1\n<3>[   12.345678] NVRM: Xid\n"
                       "[ 1.000001] a\n<4>no stamp\n[x] y\n[1.2000000] z\n<",
                       booted_us),
            "2026-02-25T06:13:20,000000+00:00 Linux version 6.1\n"
            "2026-02-25T06:13:32,345678+00:00 NVRM: Xid\n"
            "2026-02-25T06:13:21,000001+00:00 a\n<4>no stamp\n[x] y\n[1.2000000] z\n<\n");
}

TEST_F(Collecting, TakesTheNextCommandIfThereIsNoneOrItFails) {
  program("journalctl", "echo \"journal $*\"");
  EXPECT_EQ(collect("kernel_log").outcome, "sent");
  EXPECT_THAT(text(), EndsWith("$ journalctl -k -b --no-pager\njournal -k -b --no-pager\n"));
  program("dmesg", "echo no right; exit 1");
  EXPECT_EQ(collect("kernel_log").outcome, "sent");
  EXPECT_THAT(text(), HasSubstr("no right\nfaultline: dmesg -T: exit status 1\n$ journalctl"));
  EXPECT_EQ(collect("gpu_report").outcome, "failed");
  EXPECT_THAT(found, testing::IsEmpty());
}

TEST_F(Collecting, RefusesWhatNobodySwitchedOn) {
  program("dmesg", "echo run >> " + (workshop.folder() / "trace").string());
  settings.kinds = {"shm"};
  for (const std::string& kind :
       {std::string("kernel_log"), std::string("../x"), std::string("stacks; rm -rf /"),
        std::string("dmesg"), std::string(), std::string(1 << 20, 'k')}) {
    const CollectOutcome outcome = collect(kind);
    EXPECT_EQ(outcome.outcome, "refused") << in_log(kind);
    EXPECT_LT(outcome.detail.size(), 200U);
  }
  EXPECT_FALSE(fs::exists(workshop.folder() / "trace"));
}

TEST_F(Collecting, RefusesJobsThatAreNotOnThisHost) {
  program("dmesg", "echo line");
  CollectRequest wanted{
      .id = "a", .job = "other", .kind = "kernel_log", .ranks = {}, .why = {}, .fault = {}};
  EXPECT_EQ(collect(wanted).outcome, "refused");
  const ProcessOfJob process({"FAULTLINE_JOB=other"});
  EXPECT_EQ(collect(wanted).outcome, "sent");
}

TEST_F(Collecting, RefusesAnIdThatItSawAlsoAfterARestart) {
  program("dmesg", "echo line");
  const CollectRequest wanted{
      .id = "a", .job = kJob, .kind = "kernel_log", .ranks = {}, .why = {}, .fault = {}};
  EXPECT_EQ(collect(wanted).outcome, "sent");
  EXPECT_EQ(collect(wanted).outcome, "refused");
  restart();
  EXPECT_EQ(collect(wanted).outcome, "refused");
  EXPECT_EQ(collect("kernel_log").outcome, "sent");
}

TEST_F(Collecting, RefusesTheSameTooSoonAndTooMuchInAnHour) {
  program("dmesg", "echo line");
  program("df", "echo df");
  program("ip", "echo ip");
  settings.pace = {.same_again = std::chrono::seconds{300}, .most_in_an_hour = 2};
  EXPECT_EQ(collect("kernel_log").outcome, "sent");
  restart();
  EXPECT_THAT(collect("kernel_log").detail, HasSubstr("less than 300 s ago"));
  EXPECT_EQ(collect("shm").outcome, "sent");
  EXPECT_THAT(collect("interfaces").detail, HasSubstr("in the last hour"));
}

TEST_F(Collecting, CollectsNothingIfItCannotRememberIt) {
  program("dmesg", "echo line");
  collector();
  fs::remove_all(state);
  EXPECT_EQ(collect("kernel_log").outcome, "failed");
  EXPECT_THAT(found, testing::IsEmpty());
}

TEST_F(Collecting, SaysSoIfTheSpoolHasNoRoom) {
  program("dmesg", "echo line");
  has_room = false;
  EXPECT_EQ(collect("kernel_log").outcome, "failed");
}

// Any user can name the job in an environment.
TEST_F(Collecting, LooksAtNoProcessIfSeveralUsersSayThatTheyAreOfTheJob) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can run processes of other users";
  program("py-spy", "echo 'Thread 1 (idle)'");
  const ProcessOfJob of_root({"FAULTLINE_JOB=" + kJob, "FAULTLINE_RANK=0"});
  const ProcessOfJob rank({"FAULTLINE_JOB=" + kJob, "FAULTLINE_RANK=1"}, 1001);
  EXPECT_EQ(collect("stacks").outcome, "sent");
  EXPECT_EQ(found.size(), 2U);
  const ProcessOfJob other({"FAULTLINE_JOB=" + kJob, "FAULTLINE_RANK=2"}, 1002);
  const CollectOutcome outcome = collect("stacks");
  EXPECT_EQ(outcome.outcome, "failed");
  EXPECT_THAT(outcome.detail, HasSubstr("processes of several users"));
}

TEST_F(Collecting, RunsTheDebuggerAsTheUserOfTheProcess) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can run processes of other users";
  program("py-spy", "exec /usr/bin/id -u");
  program("gdb", "echo 'Thread 1'; echo '#0  0x1 in main ()'; exec /usr/bin/id -u");
  fs::permissions(workshop.folder(), fs::perms(0755));
  fs::permissions(bin / "gdb", fs::perms(0755));
  settings.path = bin.string() + ":/usr/bin:/bin";
  const ProcessOfJob rank({"FAULTLINE_JOB=" + kJob, "FAULTLINE_RANK=1"}, 1001);
  EXPECT_EQ(collect("stacks").outcome, "sent");
  EXPECT_THAT(text(), EndsWith("main ()\n1001\n"));
}

// Real gdb. Its frames have names only if it finds the files of the process.
TEST_F(Collecting, TellsByGdbWhereAProcessStands) {
  settings.path = "/usr/bin:/bin";
  settings.stacks.of_each = {.time = milliseconds{60'000}};
  const ProcessOfJob rank({"FAULTLINE_JOB=" + kJob, "FAULTLINE_RANK=1"},
                          geteuid() == 0 ? 1001 : geteuid());
  EXPECT_EQ(collect("stacks").outcome, "sent");
  EXPECT_THAT(text(), HasSubstr("nanosleep"));
}

// The process may have put files where a debugger looks for scripts.
TEST_F(Collecting, LetsTheDebuggerRunNoScript) {
  program("gdb", "echo 'Thread 1'; echo '#0  0x1 in main ()'; echo \"$*\"");
  const ProcessOfJob rank({"FAULTLINE_JOB=" + kJob, "FAULTLINE_RANK=1"});
  EXPECT_EQ(collect("stacks").outcome, "sent");
  EXPECT_THAT(text(), HasSubstr("-nx -iex set auto-load off -iex set sysroot "));
}

// Whose files cannot be read, gdb shows addresses of.
TEST_F(Collecting, ReadsThreadsFromProcIfTheDebuggerFindsNoNames) {
  program("gdb", "echo 'Thread 1 (process 7):'; echo '#0  0x00007fb16f9d0503 in ?? ()'");
  const ProcessOfJob process({"FAULTLINE_JOB=" + kJob, "FAULTLINE_RANK=0"});
  EXPECT_EQ(collect("stacks").outcome, "sent");
  EXPECT_THAT(text(), StartsWith("process "));
  EXPECT_THAT(text(), HasSubstr("faultline: gdb: found no names\nThread 1"));
}

TEST_F(Collecting, RunsAsRootNothingThatAnotherUserCouldHavePutThere) {
  if (geteuid() != 0) GTEST_SKIP() << "for root only";
  program("dmesg", "echo line");
  EXPECT_NE(find_program(bin.string(), "dmesg"), "");
  ASSERT_EQ(chown((bin / "dmesg").c_str(), 1001, 0), 0);
  EXPECT_EQ(find_program(bin.string(), "dmesg"), "");
  ASSERT_EQ(chown((bin / "dmesg").c_str(), 0, 0), 0);
  fs::permissions(bin, fs::perms(0777));
  EXPECT_EQ(find_program(bin.string(), "dmesg"), "");
}

// A process can make its environment as large as it likes, and can put any bytes into it.
TEST(LabelsOfAProcess, AreOnlyNamesThatAServerTakes) {
  const auto job = [](const std::string& name) {
    return labels_in({{"FAULTLINE_JOB", name}, {"SLURM_JOB_ID", "17"}}).job;
  };
  EXPECT_EQ(job("llama"), "llama");
  EXPECT_EQ(job("\xff"), "17");
  EXPECT_EQ(job("a\nb"), "17");
  EXPECT_EQ(job(std::string(100'000, 'a')), "17");
}

TEST_F(Collecting, OnlySaysWhatItWouldRunInADryRun) {
  program("dmesg", "echo run >> " + (workshop.folder() / "trace").string());
  settings.dry_run = true;
  const CollectOutcome outcome = collect("kernel_log");
  EXPECT_EQ(outcome.outcome, "dry_run");
  EXPECT_THAT(outcome.detail, StartsWith("dmesg -T"));
  EXPECT_THAT(found, testing::IsEmpty());
  EXPECT_FALSE(fs::exists(workshop.folder() / "trace"));
}

TEST_F(Collecting, KeepsTheBeginningOrTheEndOfTooMuch) {
  program("nvidia-smi", "i=0; while :; do i=$((i+1)); echo \"line $i\"; done");
  EXPECT_EQ(collect("gpu_report").outcome, "sent");
  EXPECT_THAT(text(), StartsWith("$ nvidia-smi -q\nline 1\n"));
  EXPECT_THAT(text(), EndsWith("\nfaultline: cut, only the first 2000 bytes are here\n"));
  EXPECT_LT(text().size(), 2200U);
  program("dmesg", "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo \"line $i\"; done");
  EXPECT_EQ(collect("kernel_log").outcome, "sent");
  EXPECT_THAT(text(), EndsWith("\nline 2000\nfaultline: cut, only the last 2000 bytes are here\n"));
  EXPECT_THAT(text(), Not(HasSubstr("line 1\n")));
  EXPECT_LT(text().size(), 2200U);
}

TEST_F(Collecting, EndsCommandsAfterTheirTime) {
  struct Case {
    const char* reason;
    const char* script;
    const char* printed;
  };
  const Case cases[] = {
      {"it sleeps", "echo $$ > PIDS; echo first; exec /bin/sleep 100", "first\n"},
      {"it takes no SIGTERM", "echo $$ > PIDS; trap '' TERM; while :; do /bin/sleep 1; done", ""},
      {"a child keeps the pipe", "/bin/sleep 100 & echo $! > PIDS; echo last", "last\n"},
  };
  const fs::path ids = workshop.folder() / "ids";
  for (const Case& c : cases) {
    SCOPED_TRACE(c.reason);
    std::string script = c.script;
    script.replace(script.find("PIDS"), 4, ids.string());
    program("ibstat", script);
    const auto began = std::chrono::steady_clock::now();
    collect("port_states");
    EXPECT_LT(std::chrono::steady_clock::now() - began, milliseconds{1500});
    if (c.printed[0] != '\0') {
      EXPECT_THAT(text(), StartsWith(std::string("$ ibstat\n") + c.printed));
    }
    const int id = std::stoi(read_file(ids));
    EXPECT_TRUE(eventually([&] {
      const char now = state_of_process("/proc", id);
      return now == 'X' || now == 'Z';
    }));
  }
}

TEST_F(Collecting, PassesNoDescriptorToCommands) {
  const int ours = fcntl(STDERR_FILENO, F_DUPFD, 57);
  program("ip", "for file in /proc/$$/fd/*; do echo $file; done");
  EXPECT_EQ(collect("interfaces").outcome, "sent");
  EXPECT_THAT(text(), HasSubstr("/fd/2\n"));
  EXPECT_THAT(text(), Not(HasSubstr(fmt::format("/fd/{}\n", ours))));
  close(ours);
}

TEST_F(Collecting, ReadsTheCountersOfPortsTwice) {
  workshop.write("sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error", "5\n");
  workshop.write("sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence", "7\n");
  workshop.write("sys/class/net/bonding_masters", "bond0\n");
  fs::create_directories(workshop.folder() / "sys/class/net/ens1f0np0");
  fs::create_directories(workshop.folder() / "sys/class/net/lo");
  program("ethtool", "echo \"NIC statistics:\"; echo \"     of: $2\"");
  settings.sys = (workshop.folder() / "sys").string();
  EXPECT_EQ(collect("port_counters").outcome, "sent");
  const std::string sample = fmt::format(
      "{0}/counters/symbol_error:5\n{0}/hw_counters/out_of_sequence:7\n"
      "$ ethtool -S ens1f0np0\nNIC statistics:\n     of: ens1f0np0\n",
      settings.sys + "/class/infiniband/mlx5_0/ports/1");
  const std::string all = text();
  const std::size_t first = all.find(sample);
  ASSERT_NE(first, std::string::npos) << all;
  EXPECT_NE(all.find(sample, first + 1), std::string::npos) << all;
  EXPECT_THAT(all, Not(HasSubstr("lo\n")));
}

TEST_F(Collecting, DumpsTheProcessesOfTheRanksOfTheJob) {
  program("py-spy", R"(echo "Thread $3 (idle): \"MainThread\""; echo "$*")");
  const ProcessOfJob third({"FAULTLINE_JOB=" + kJob, "FAULTLINE_RANK=3"});
  const ProcessOfJob fourth({"FAULTLINE_JOB=" + kJob, "FAULTLINE_RANK=4"});
  const ProcessOfJob other({"FAULTLINE_JOB=other", "FAULTLINE_RANK=3"});
  EXPECT_EQ(collect("stacks", {3}).outcome, "sent");
  EXPECT_EQ(text(), fmt::format("Thread {0} (idle): \"MainThread\"\ndump --pid {0}\n", third.id()));
  EXPECT_EQ(found[0].target,
            (LogTarget{.job = kJob,
                       .host = "gpu-7",
                       .source = fmt::format("gpu-7/collected/stacks/q1/{}", third.id()),
                       .rank = 3}));
  EXPECT_EQ(collect("stacks").outcome, "sent");
  EXPECT_EQ(found.size(), 2U);
  EXPECT_EQ(collect("stacks", {5}).outcome, "failed");
}

// Whoever names the job on the agent's command line need not name it in every environment.
TEST_F(Collecting, DumpsTheProcessThatWritesALogOfTheJob) {
  program("py-spy", "echo \"Thread $3 (idle)\"");
  workshop.write("rank3.log", "");
  logs = {{(workshop.folder() / "rank3.log").string(), 3}};
  // What is started meanwhile has it open for writing, too.
  const int log = open((workshop.folder() / "rank3.log").c_str(), O_WRONLY);
  const ProcessOfJob writer({"SLURM_JOB_ID=17"});
  fcntl(log, F_SETFD, FD_CLOEXEC);
  const ProcessOfJob other({"SLURM_JOB_ID=17"});
  EXPECT_EQ(collect("stacks", {4}).outcome, "failed");
  EXPECT_EQ(collect("stacks", {3}).outcome, "sent");
  EXPECT_EQ(text(), fmt::format("Thread {} (idle)\n", writer.id()));
  EXPECT_EQ(found[0].target.rank, 3);
  close(log);
}

TEST_F(Collecting, DumpsFewEnoughProcessesAndThoseOfRanksFirst) {
  program("py-spy", "echo 'Thread 1 (idle)'");
  settings.stacks.most_processes = 1;
  const ProcessOfJob launcher({"FAULTLINE_JOB=" + kJob});
  const ProcessOfJob rank({"FAULTLINE_JOB=" + kJob, "FAULTLINE_RANK=0"});
  const CollectOutcome outcome = collect("stacks");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].target.rank, 0);
  EXPECT_THAT(outcome.detail, HasSubstr("1 processes are left out"));
}

TEST_F(Collecting, ReadsThreadsFromProcWithoutADebugger) {
  const ProcessOfJob process({"FAULTLINE_JOB=" + kJob, "LOCAL_RANK=1", "RANK=9"});
  EXPECT_EQ(collect("stacks").outcome, "sent");
  EXPECT_THAT(text(), StartsWith(fmt::format("process {0} thread {0} comm \"sleep\" state S wchan ",
                                             process.id())));
  EXPECT_EQ(found[0].target.rank, 9);
}

// A debugger that is killed may leave its process stopped.
TEST_F(Collecting, LetsAProcessGoOnThatADebuggerLeftStopped) {
  program("gdb", "kill -STOP $3; exec /bin/sleep 100");
  const ProcessOfJob process({"FAULTLINE_JOB=" + kJob});
  EXPECT_EQ(collect("stacks").outcome, "sent");
  EXPECT_THAT(text(), HasSubstr("faultline: gdb: ended after 300 ms"));
  EXPECT_TRUE(eventually([&] { return state_of_process("/proc", process.id()) == 'S'; }));
}

TEST_F(Collecting, GivesTheReportOfNcclsRasService) {
  RasService service("SERVER PROTOCOL 2\n", "NCCL version 2.28.7\nJob summary\n");
  settings.ras_port = service.port();
  EXPECT_THAT(collect("ras").detail, HasSubstr("no process of the job listens at port"));
  // A process that holds the socket, as far as this /proc tells.
  const std::string proc = (workshop.folder() / "proc").string();
  const fs::path holder = fs::path(proc) / "4711";
  fs::create_directories(holder / "fd");
  fs::create_directories(fs::path(proc) / "net");
  workshop.write("proc/4711/stat", "4711 (python) S 1 4711\n");
  workshop.write("proc/4711/environ", std::string("FAULTLINE_JOB=") + kJob + '\0');
  const std::string table = read_small_file("/proc/net/tcp", std::size_t{16} << 20);
  workshop.write("proc/net/tcp", table);
  settings.proc = proc;
  restart();
  EXPECT_EQ(collect("ras").outcome, "failed");
  const std::size_t row = table.find(fmt::format(":{:04X} 00000000:0000 0A", service.port()));
  std::istringstream words(table.substr(row));
  std::string word;
  for (int i = 0; i < 9; ++i) words >> word;
  fs::create_symlink("socket:[" + word + "]", holder / "fd" / "5");
  EXPECT_EQ(collect("ras").outcome, "sent");
  EXPECT_EQ(text(), "NCCL version 2.28.7\nJob summary\n");
  EXPECT_EQ(service.heard(), "client protocol 2\ntimeout 10\nverbose status\n");
}

TEST_F(Collecting, GivesNoReportOfAnythingElseThanRas) {
  struct Case {
    const char* greeting;
    const char* why;
  };
  const Case cases[] = {{"", "gave no answer in time"},
                        {"HTTP/1.1 400 Bad Request\n", "is not NCCL's RAS service"}};
  const std::atomic<bool> stopped = false;
  for (const Case& c : cases) {
    const RasService service(c.greeting, "");
    const RasReport report = ask_ras_service(service.port(), milliseconds{200}, 1000, stopped);
    EXPECT_EQ(report.text, "");
    EXPECT_THAT(report.failure, EndsWith(c.why));
  }
  EXPECT_THAT(ask_ras_service(1, milliseconds{200}, 1000, stopped).failure, HasSubstr("refused"));
  const RasService much("SERVER PROTOCOL 2\n",
                        std::string(100, 'x') + "\n" + std::string(100, 'y'));
  EXPECT_EQ(ask_ras_service(much.port(), milliseconds{2000}, 150, stopped).text,
            std::string(100, 'x') + "\nfaultline: cut, only the first 101 bytes are here\n");
}

TEST_F(Collecting, AsksTheFlightRecorderThroughItsPipe) {
  const std::string prefix = (workshop.folder() / "recorder_").string();
  const std::string pipe = prefix + "3.pipe";
  const ProcessOfJob process(
      {"FAULTLINE_JOB=" + kJob, "FAULTLINE_RANK=3", "TORCH_NCCL_DEBUG_INFO_PIPE_FILE=" + prefix});
  EXPECT_THAT(collect("flight_recorder").detail, HasSubstr("No such file"));
  workshop.write("recorder_3.pipe", "a file\n");
  EXPECT_THAT(collect("flight_recorder").detail, HasSubstr("is not a pipe"));
  EXPECT_EQ(read_file(pipe), "a file\n");
  fs::remove(pipe);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(collect("flight_recorder").detail, HasSubstr("nobody reads it"));
  const int reading = open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  EXPECT_EQ(collect("flight_recorder", {2}).outcome, "failed");
  EXPECT_EQ(collect("flight_recorder", {3}).outcome, "sent");
  char bytes[8] = {};
  EXPECT_EQ(read(reading, bytes, sizeof bytes), 2);
  EXPECT_STREQ(bytes, "1\n");
  close(reading);
}

TEST(WantedAnswers, AreReadAndNothingElseIs) {
  const WantedAnswer good = read_wanted(
      R"({"wanted":[{"id":"a/1","job":"llama","kind":"stacks","ranks":[3,5],"why":"w","new":1}]})");
  ASSERT_EQ(good.wanted.size(), 1U);
  EXPECT_EQ(good.wanted[0].id, "a/1");
  EXPECT_EQ(good.wanted[0].job, "llama");
  EXPECT_EQ(good.wanted[0].kind, "stacks");
  EXPECT_THAT(good.wanted[0].ranks, ElementsAre(3, 5));
  EXPECT_EQ(good.wanted[0].fault + good.fault, "");
  EXPECT_EQ(read_wanted(R"({"wanted":[]})").fault, "");
}

TEST(WantedAnswers, AreRefusedIfTheyAreMalformed) {
  const auto with = [](const std::string& id, const std::string& job, const std::string& kind,
                       const std::string& more) {
    return fmt::format(R"({{"wanted":[{{"id":"{}","job":"{}","kind":"{}"{}}}]}})", id, job, kind,
                       more);
  };
  struct Case {
    const char* reason;
    std::string body;
  };
  const Case of_one[] = {
      {"no id", R"({"wanted":[{"job":"llama","kind":"shm"}]})"},
      {"a long id", with(std::string(65, 'i'), "llama", "shm", "")},
      {"an id that is not ASCII", with("\xc3\xa9", "llama", "shm", "")},
      {"a blank in an id", with("a b", "llama", "shm", "")},
      {"control characters", with("a", "lla\\nma", "shm", "")},
      {"an empty kind", with("a", "llama", "", "")},
      {"a kind of 50 KB", with("a", "llama", std::string(50'000, 'k'), "")},
      {"a rank below 0", with("a", "llama", "stacks", R"(,"ranks":[-1])")},
      {"a rank that is text", with("a", "llama", "stacks", R"(,"ranks":["1; ls"])")},
      {"ranks that are no list", with("a", "llama", "stacks", R"(,"ranks":3)")},
      {"a reason that is no text", with("a", "llama", "shm", R"(,"why":[])")},
  };
  for (const Case& c : of_one) {
    SCOPED_TRACE(c.reason);
    const WantedAnswer answer = read_wanted(c.body);
    ASSERT_EQ(answer.wanted.size(), 1U);
    EXPECT_NE(answer.wanted[0].fault, "");
  }
  const Case of_all[] = {
      {"no JSON", "<html>"},
      {"no object", "[]"},
      {"no list", R"({"wanted":{}})"},
      {"an entry that is no object", R"({"wanted":["stacks"]})"},
      {"1 MB", with("a", "llama", std::string(1 << 20, 'k'), "")},
      {"deep", std::string(60'000, '[')},
  };
  for (const Case& c : of_all) {
    SCOPED_TRACE(c.reason);
    EXPECT_NE(read_wanted(c.body).fault, "");
    EXPECT_THAT(read_wanted(c.body).wanted, testing::IsEmpty());
  }
  std::string many = R"({"wanted":[)";
  for (int i = 0; i < 100; ++i) many += R"({"id":"a","job":"b","kind":"c"},)";
  many.back() = ']';
  EXPECT_EQ(read_wanted(many + "}").wanted.size(), 16U);
}

// The answer to each request: also to those that bring logs.
std::string answer_that_wants(const std::string& kind) {
  return fmt::format(R"({{"next_offset":1000000,"wanted":[{{"id":"q7","job":"{}","kind":"{}"}}]}})",
                     kJob, kind);
}

TEST_F(Collecting, AsksAServerAndSendsItWhatItWants) {
  program("dmesg", "echo line");
  const ProcessOfJob process({"FAULTLINE_JOB=" + kJob});
  FakeReceiver server(FakeReceiver::answer("200 OK", "", answer_that_wants("kernel_log")));
  settings.kinds = {"kernel_log"};
  ShipAgent agent({.server = {.url = *parse_url(server.url("/")), .ca_file = {}, .token_file = {}},
                   .follow = true,
                   .job = {},
                   .host = "gpu-7",
                   .source = {},
                   .state = state,
                   .spool = {},
                   .collect = settings});
  std::jthread running([&] { agent.run(); });
  const auto heard = [&](const std::string& head, const std::string& body) {
    return std::ranges::any_of(server.heard(), [&](const FakeReceiver::Heard& request) {
      return request.head.starts_with(head) && request.body.find(body) != std::string::npos;
    });
  };
  EXPECT_TRUE(eventually([&] {
    return heard("GET /api/v1/wanted?host=gpu-7&kinds=kernel_log&wait=25 ", "") &&
           heard(
               "PUT /api/v1/ingest?source=gpu-7/collected/kernel_log/"
               "q7&offset=0&job=" +
                   kJob + "&host=gpu-7&final=true ",
               "") &&
           heard("POST /api/v1/wanted/outcome?host=gpu-7 ", R"("id":"q7","outcome":"sent")") &&
           // The server repeats itself.
           heard("POST /api/v1/wanted/outcome?host=gpu-7 ", R"("id":"q7","outcome":"refused")");
  }));
  agent.stop();
}

TEST_F(Collecting, DoesNotAskAnOlderServerAgainSoon) {
  FakeReceiver server(FakeReceiver::answer("404 Not Found"));
  settings.kinds = {"kernel_log"};
  EvidenceCollector asked(settings, "gpu-7", state, [](const CollectedText&) { return true; });
  WantedLoop loop({.url = *parse_url(server.url("/")), .ca_file = {}, .token_file = {}}, "gpu-7",
                  asked);
  std::jthread running([&] { loop.run(); });
  EXPECT_TRUE(server.await(1));
  EXPECT_FALSE(server.await(2, milliseconds{300}));
  loop.stop();
}

}  // namespace
}  // namespace faultline
