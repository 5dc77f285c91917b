// Tests under faults that what a server acknowledged is durable. ./dev faults runs it.
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "faults/kinds.h"
#include "faults/summary.h"

namespace {

using namespace faultline::faults;
using SteadyClock = std::chrono::steady_clock;

struct Wishes {
  std::vector<std::string> kinds;
  std::uint64_t rounds = 0;  // 0: each kind's own number
  std::uint64_t seed = 1;
  // Rounds wait more than they work: for disks, and for time to pass.
  std::size_t lanes = 2 * std::max<std::size_t>(1, std::thread::hardware_concurrency());
  bool sample = false;
  bool syncs_lie = false;
  bool tells_choices = false;
  std::filesystem::path folder = std::filesystem::temp_directory_path();
  std::filesystem::path keep;
  std::filesystem::path server;
  std::filesystem::path before_shim;
};

// Only this process sees the small disks that rounds mount, and they go when it ends. Without the
// right to do this it cannot mount them either.
void keep_mounts_to_ourselves() {
  if (unshare(CLONE_NEWNS) == 0) mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
}

// Built beside this program, unless said otherwise.
Programs programs_of(const Wishes& wishes) {
  const auto beside = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  return {.server = wishes.server.empty() ? beside / "faultline" : wishes.server,
          .shim = beside / "libfaultline_faults_shim.so",
          .before_shim = wishes.before_shim};
}

bool is_wanted(const Kind& kind, const Wishes& wishes) {
  if (kind.refuses_memory && !wishes.before_shim.empty()) return false;
  return wishes.kinds.empty() || std::ranges::find(wishes.kinds, kind.name) != wishes.kinds.end();
}

std::uint64_t rounds_of(const Kind& kind, const Wishes& wishes) {
  if (wishes.rounds > 0) return wishes.rounds;
  return wishes.sample ? kind.sample_rounds : kind.rounds;
}

void run_lanes(const Kind& kind, Task& task, std::size_t lanes) {
  std::vector<std::jthread> threads;
  for (std::size_t number = 0; number < lanes; ++number)
    threads.emplace_back([&, number] {
      Lane lane(task, number);
      try {
        kind.run(lane);
      } catch (const std::exception& failure) {
        lane.break_down(failure.what());
      }
    });
}

// Runs kinds one after the other. A sample runs several at once, since each has only a few rounds.
class Run {
 public:
  explicit Run(const Wishes& wishes) : wishes_(wishes), programs_(programs_of(wishes)) {
    // The path as SQLite will use it: the shim compares it with the paths of opened files.
    folder_ =
        std::filesystem::canonical(wishes.folder) / fmt::format("faultline_faults.{}", getpid());
    keep_mounts_to_ourselves();
  }
  ~Run() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // The exit status.
  int run() {
    fmt::print("{}", summary_head());
    std::fflush(stdout);
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < (wishes_.sample ? wishes_.lanes : 1); ++i)
        threads.emplace_back([this] { take_kinds(); });
    }
    if (!failures_.empty()) fmt::print("\n{}", failures_);
    return failures_.empty() ? 0 : 1;
  }

 private:
  void take_kinds() {
    for (std::size_t i = next_++; i < kinds().size(); i = next_++) {
      const Kind& kind = kinds()[i];
      if (is_wanted(kind, wishes_)) run_kind(kind);
    }
  }

  void run_kind(const Kind& kind) {
    Task task{.kind = kind.name,
              .programs = programs_,
              .folder = folder_,
              .keep = wishes_.keep,
              .rounds = rounds_of(kind, wishes_),
              .first_seed = wishes_.seed,
              .syncs_lie = wishes_.syncs_lie};
    const auto begin = SteadyClock::now();
    const std::size_t lanes = wishes_.sample ? 1 : wishes_.lanes;
    run_lanes(kind, task, std::min<std::size_t>(lanes, task.rounds));
    const std::chrono::duration<double> took = SteadyClock::now() - begin;
    const std::string choices =
        wishes_.tells_choices ? choices_of(kind.name, task.tally) : std::string();
    say(summary_row(kind.name, task.tally, took.count()) + choices,
        failures_of(kind.name, task.tally));
  }

  void say(const std::string& row, const std::string& failures) {
    const std::lock_guard lock(mutex_);
    fmt::print("{}", row);
    std::fflush(stdout);
    failures_ += failures;
  }

  const Wishes& wishes_;
  Programs programs_;
  std::filesystem::path folder_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  std::string failures_;
};

std::string list_of_kinds() {
  std::string list = "Kinds:\n";
  for (const Kind& kind : kinds())
    list += fmt::format("  {:<13}{} ({} rounds)\n", kind.name, kind.what, kind.rounds);
  return list;
}

std::string check_kind(const std::string& name) {
  for (const Kind& kind : kinds())
    if (kind.name == name) return {};
  return fmt::format("there is no kind {}; --help lists them", name);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Injects faults into servers under load, and checks that what they acknowledged is there "
      "afterwards, once."};
  app.footer(list_of_kinds());
  Wishes wishes;
  app.add_option("kind", wishes.kinds, "Only these kinds")->check(CLI::Validator(check_kind, ""));
  app.add_option("--rounds", wishes.rounds, "Rounds of each kind (default: see below)");
  app.add_option("--seed", wishes.seed,
                 "Seed of the first round; the next rounds have the next numbers. The same seed "
                 "makes the same choices, however many rounds there are; the times at which "
                 "threads and the clock go on are not repeated")
      ->capture_default_str();
  app.add_option("--lanes", wishes.lanes, "How many rounds run at the same time")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_flag("--sample", wishes.sample, "Run only some rounds of each kind, as the tests do");
  app.add_flag("--choices", wishes.tells_choices,
               "Print what the seeds choose: which bit is flipped, where the power is cut");
  app.add_flag("--syncs-lie", wishes.syncs_lie,
               "Test the harness: cut the power of a disk that never syncs, which must fail");
  app.add_option("--folder", wishes.folder, "Keep the servers' data below this folder")
      ->check(CLI::ExistingDirectory)
      ->capture_default_str();
  app.add_option("--keep", wishes.keep, "Keep the folders of failed rounds in this folder");
  app.add_option("--server", wishes.server,
                 "The faultline binary to test (default: the one beside this program)");
  app.add_option("--before-shim", wishes.before_shim,
                 "Preload this runtime of a sanitizer first. It has its own malloc(), so no round "
                 "refuses memory");
  CLI11_PARSE(app, argc, argv);
  std::signal(SIGPIPE, SIG_IGN);
  return Run(wishes).run();
}
