#include "simulate/launcher_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "simulate/calendar.h"

namespace faultline::simulation {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRound{100};  // the interval in which the agent looks at its workers

struct Worker {
  int rank = 0;
  int local = 0;
  std::int64_t pid = 0;
  int code = 0;
  Timestamp end;
};

int code_of(TorchEnd end) {
  switch (end) {
    case TorchEnd::none:
      return 0;
    case TorchEnd::silent:
      return -9;
    case TorchEnd::raises:
    case TorchEnd::no_store:
      return 1;
    case TorchEnd::cuda_fails:
    case TorchEnd::remote:
    case TorchEnd::times_out:
    case TorchEnd::told:
      return -6;
  }
  return 0;
}

class Agent {
 public:
  Agent(const Attempt& attempt, int host)
      : version_(*closest_torch(attempt.job.options.torch)),
        host_(Cluster::host_name(host)),
        pid_(attempt.job.cluster.pid(host * attempt.job.cluster.gpus_per_host(), attempt.number) -
             7) {}

  std::string write(const std::vector<Worker>& failed, const std::vector<Worker>& stopped) {
    const Worker& first = failed.front();
    const Timestamp at = first.end + kRound;
    for (const Worker& worker : stopped)
      say(at, 'W', 897, fmt::format("Sending process {} closing signal SIGTERM", worker.pid));
    say(at + milliseconds(1'450), 'E', 869,
        fmt::format("failed (exitcode: {}) local_rank: {} (pid: {}) of binary: /usr/bin/python3",
                    first.code, first.local, first.pid));
    out_ +=
        "Traceback (most recent call last):\n"
        "  File \"/usr/local/bin/torchrun\", line 8, in <module>\n    sys.exit(main())\n"
        "  File "
        "\"/usr/local/lib/python3.11/site-packages/torch/distributed/elastic/multiprocessing/"
        "errors/__init__.py\", line 355, in wrapper\n    return f(*args, **kwargs)\n"
        "  File \"/usr/local/lib/python3.11/site-packages/torch/distributed/launcher/api.py\", "
        "line 269, in launch_agent\n    raise ChildFailedError(\n"
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n";
    const std::string broad(60, '=');
    const std::string thin(60, '-');
    out_ += fmt::format("{}\npretrain_gpt.py FAILED\n{}\nFailures:\n", broad, thin);
    for (std::size_t i = 1; i < failed.size(); ++i) entry(failed[i], i);
    if (failed.size() == 1) out_ += "  <NO_OTHER_FAILURES>\n";
    out_ += fmt::format("{}\nRoot Cause (first observed failure):\n", thin);
    entry(first, 0);
    out_ += broad + "\n";
    return std::move(out_);
  }

 private:
  void say(Timestamp time, char level, int line, std::string_view text) {
    constexpr std::string_view kModule = "torch.distributed.elastic.multiprocessing.api";
    const std::string_view word = level == 'W' ? "WARNING" : "ERROR";
    const std::string stamp = day_and_second(time);
    const auto us = static_cast<int>(time.time_since_epoch().count() % 1'000'000);
    if (version_.since(2, 3))
      out_ += fmt::format(
          "{}{}{} {}.{:06} {} torch/distributed/elastic/multiprocessing/api.py:{}] "
          "{}\n",
          level, stamp.substr(5, 2), stamp.substr(8, 2), stamp.substr(11), us, pid_, line, text);
    else if (version_.since(2, 0))
      out_ += fmt::format("[{},{:03}] {}: [{}] {}\n", stamp, us / 1'000, kModule, word, text);
    else
      out_ += fmt::format("{}:{}:{}\n", word, kModule, text);
  }

  void entry(const Worker& worker, std::size_t number) {
    std::string stamp = day_and_second(worker.end + kRound);
    stamp[10] = '_';
    out_ += fmt::format(
        "[{}]:\n  time      : {}\n  host      : {}\n  rank      : {} (local_rank: {})\n"
        "  exitcode  : {} (pid: {})\n  error_file: <N/A>\n  traceback : {}\n",
        number, stamp, host_, worker.rank, worker.local, worker.code, worker.pid,
        worker.code == -6   ? fmt::format("Signal 6 (SIGABRT) received by PID {}", worker.pid)
        : worker.code == -9 ? fmt::format("Signal 9 (SIGKILL) received by PID {}", worker.pid)
                            : "To enable traceback see: "
                              "https://pytorch.org/docs/stable/elastic/errors.html");
  }

  const TorchVersion& version_;
  std::string host_;
  std::int64_t pid_;
  std::string out_;
};

}  // namespace

std::string torchrun_log(const Attempt& attempt, const TorchHang& hang, int host) {
  constexpr std::size_t kEnoughCalls = 512;
  const Cluster& cluster = attempt.job.cluster;
  const TorchVersion& version = *closest_torch(attempt.job.options.torch);
  std::vector<Worker> failed;
  std::vector<Worker> waiting;
  for (int local = 0; local < cluster.gpus_per_host(); ++local) {
    const int rank = host * cluster.gpus_per_host() + local;
    if (attempt.plan_of(rank).init == InitStop::absent) continue;
    const TorchCalls calls(attempt, rank, kEnoughCalls);
    const TorchEnd end = end_of(attempt, hang, calls, rank);
    const Worker worker{rank, local, cluster.pid(rank, attempt.number), code_of(end),
                        process_end(attempt, hang, calls, rank)};
    if (attempt.stands[static_cast<std::size_t>(rank)].finished) continue;
    // Before 2.3 no monitor ended the ranks that hung outside of a collective.
    const bool goes_on = end == TorchEnd::none || (end == TorchEnd::told && !version.since(2, 3));
    (goes_on ? waiting : failed).push_back(worker);
  }
  if (failed.empty()) return {};
  std::ranges::stable_sort(failed, {}, &Worker::end);
  const Timestamp seen = failed.front().end + kRound;
  while (failed.back().end > seen) {
    waiting.push_back(failed.back());
    failed.pop_back();
  }
  std::ranges::sort(waiting, {}, &Worker::local);
  return Agent(attempt, host).write(failed, waiting);
}

}  // namespace faultline::simulation
