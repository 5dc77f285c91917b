#include "simulate/torch_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "simulate/calendar.h"
#include "simulate/chance.h"
#include "simulate/wrapper.h"

namespace faultline::simulation {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kEnoughCalls = 512;
constexpr std::string_view kHint =
    "This is most likely caused by incorrect usages of collectives, e.g., wrong sizes used across "
    "ranks, the order of collectives is not same for all ranks or the scheduled collective, for "
    "some reason, didn't run. Additionally, this can be caused by GIL deadlock or other reasons "
    "such as network errors or bugs in the communications library (e.g. NCCL), etc. ";
constexpr std::string_view kRemote =
    "NCCL error: remote process exited or there was a network error, NCCL version {}\n"
    "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting "
    "prematurely.\nLast error:\n";

class TorchLog {
 public:
  TorchLog(const Attempt& attempt, const TorchHang& hang, int rank)
      : attempt_(attempt),
        version_(*closest_torch(attempt.job.options.torch)),
        hang_(hang),
        rank_(rank),
        calls_(attempt, rank, kEnoughCalls) {
    // Stamps mix two clocks: the fraction of a second comes from the uptime of the host.
    const int host = attempt.job.cluster.host_of(rank);
    boot_ns_ =
        static_cast<std::int64_t>(chance(attempt.job.options.seed, 0xb007, host) % 1'000'000'000);
  }

  std::vector<Utterance> words() {
    for (const std::string& line : attempt_.plan_of(rank_).prints)
      plain(attempt_.begin() + kTraining, line + "\n");
    switch (end_of(attempt_, hang_, calls_, rank_)) {
      case TorchEnd::none:
      case TorchEnd::silent:
        break;
      case TorchEnd::raises:
        raise(stands_since(attempt_, rank_), attempt_.plan_of(rank_).raises);
        break;
      case TorchEnd::no_store:
        nobody_comes();
        break;
      case TorchEnd::cuda_fails:
        die_of(stands_since(attempt_, rank_) + milliseconds(400), calls_.stuck(),
               attempt_.plan_of(rank_).cuda_error + "\n", "CUDAException.cpp:43");
        break;
      case TorchEnd::remote:
        lose_peer();
        break;
      case TorchEnd::times_out:
        time_out();
        break;
      case TorchEnd::told:
        hear();
        break;
    }
    return std::move(words_);
  }

 private:
  // [rank3]:[E305 02:47:11.010634557 ProcessGroupNCCL.cpp:616]
  std::string header(Timestamp time, int line) const {
    std::string header = version_.since(2, 2) ? fmt::format("[rank{}]:", rank_) : std::string();
    if (!version_.since(2, 4)) return header + fmt::format("[E ProcessGroupNCCL.cpp:{}] ", line);
    const std::string stamp = day_and_second(time);  // 2026-03-05 02:46:59
    const std::int64_t ns = time.time_since_epoch().count() * 1'000 + boot_ns_;
    return header + fmt::format("[E{}{} {}.{:09} ProcessGroupNCCL.cpp:{}] ",
                                stamp[5] == '0' ? stamp.substr(6, 1) : stamp.substr(5, 2),
                                stamp.substr(8, 2), stamp.substr(11, 8), ns % 1'000'000'000, line);
  }

  // [PG ID 2 PG GUID 3(DATA_PARALLEL_GROUP) Rank 1]
  std::string group_prefix(const TorchGroupState& group) const {
    if (version_.since(2, 5))
      return fmt::format("[PG ID {} PG GUID {}({}) Rank {}] ", group.id, group.name,
                         group.description, group.rank);
    if (version_.since(2, 4))
      return fmt::format("[PG {} ({}) Rank {}] ", group.id, group.description, group.rank);
    if (version_.since(2, 3)) return fmt::format("[PG {} Rank {}] ", group.id, group.rank);
    return fmt::format("[Rank {}] ", group.rank);
  }

  void say(Timestamp time, int line, std::string_view text) {
    words_.push_back({time, header(time, line) + std::string(text) + "\n"});
  }
  void plain(Timestamp time, std::string_view text) { words_.push_back({time, std::string(text)}); }

  static std::string work_text(const TorchVersion& version, const TorchCall& call, int size) {
    std::string text =
        fmt::format("WorkNCCL(SeqNum={}, OpType={}, ", call.number(), watchdog_name(call));
    if (version.since(2, 2))
      text += fmt::format("NumelIn={}, NumelOut={}, ", elements_in(call, size),
                          elements_out(call, size));
    const milliseconds timeout = version.timeout();
    return text + fmt::format("Timeout(ms)={})", timeout.count());
  }

  std::string completed_text(const TorchGroupState& group) const {
    // If nothing has completed, versions before 2.4 print uninitialised memory.
    if (group.completed < 0 && !version_.since(2, 4)) return "76280750235782912";
    return std::to_string(group.completed);
  }
  std::string standing(const TorchGroupState& group) const {
    return fmt::format("last enqueued NCCL work: {}, last completed NCCL work: {}.", group.enqueued,
                       completed_text(group));
  }

  void time_out() {
    const TorchCall& first = *calls_.stuck();
    const Timestamp begin = timeout_of(version_, first, rank_);
    // Each group has a watchdog of its own, which prints while the process lives.
    const auto lives = version_.since(2, 9)   ? milliseconds(60'000)
                       : version_.since(2, 5) ? milliseconds(1'500)
                                              : milliseconds(200);
    const int told_rank = calls_.groups()[first.call.slot].rank;
    std::string last_text;
    Timestamp last = begin;
    report(begin, first, told_rank, last_text);
    for (const TorchGroupState& group : calls_.groups()) {
      const TorchCall* stuck = calls_.stuck_in(group.id);
      if (stuck == nullptr || stuck == &first) continue;
      const Timestamp at = timeout_of(version_, *stuck, rank_);
      if (at > begin + lives) continue;
      std::string ignored;
      // One text for all groups of a process, from 2.3 on.
      report(at, *stuck, version_.since(2, 3) ? told_rank : group.rank, ignored);
      last = std::max(last, at);
    }
    const Timestamp heard = last + milliseconds(600);
    if (version_.since(2, 3))
      signalled(heard, version_.since(2, 6)
                           ? "Received a dump signal due to a collective timeout from this local "
                             "rank and we will try our best to dump the debug info. "
                       : version_.since(2, 4)
                           ? "Received a dump signal from this local rank and will start to dump "
                             "the debug info. "
                           : "");
    die(process_end(attempt_, hang_, calls_, rank_), first, told_rank, last_text);
  }

  void report(Timestamp at, const TorchCall& call, int told_rank, std::string& text) {
    const TorchGroupState& group = calls_.groups()[call.call.slot];
    const auto ran = std::chrono::duration_cast<milliseconds>(at - call.created).count();
    text = fmt::format(
        "[Rank {}] Watchdog caught collective operation timeout: {} ran for {} milliseconds before "
        "timing out.",
        told_rank, work_text(version_, call, group.communicator->size()), ran);
    say(at, version_.caught_line, text);
    if (version_.since(2, 6)) {
      say(at + microseconds(260), 2'268,
          fmt::format("{} failure detected by watchdog at work sequence id: {} PG status: last "
                      "enqueued work: {}, last completed work: {}",
                      group_prefix(group), call.number(), group.enqueued, group.completed));
      std::string stack = "Stack trace of the failed collective: \n";
      int number = 0;
      for (const ProgramFrame& frame : frames_of(call, group.communicator->group))
        stack +=
            fmt::format("#{} {} from {}:{}\n", number++, frame.function, frame.file, frame.line);
      say(at + microseconds(370), 667, stack);
      if (first_report_)
        say(at + microseconds(400), 2'103,
            group_prefix(group) + "First PG on this rank to signal dumping.");
    } else if (version_.since(2, 4)) {
      say(at + microseconds(260), 1'785,
          fmt::format("{}Exception (either an error or timeout) detected by watchdog at work: {}, "
                      "{}",
                      group_prefix(group), call.number(), standing(group)));
    }
    if (version_.since(2, 2) && !version_.since(2, 6))
      say(at + microseconds(500), 1'834,
          fmt::format("{}Timeout at NCCL work: {}, {}", group_prefix(group), call.number(),
                      standing(group)));
    first_report_ = false;
  }

  // The lines of the heartbeat monitor, which belongs to the first group.
  void signalled(Timestamp at, std::string_view text) {
    const TorchGroupState& world = calls_.groups().front();
    if (!text.empty())
      say(at, 1'743,
          fmt::format("{}{}Last enqueued NCCL work: {}, last completed NCCL work: {}.{}",
                      group_prefix(world), text, world.enqueued, completed_text(world),
                      version_.since(2, 6) ? kHint : ""));
    std::string preparing = group_prefix(world) + "ProcessGroupNCCL preparing to dump debug info.";
    if (version_.since(2, 5)) preparing += " Include stack trace: 1";
    if (version_.since(2, 9)) preparing += ", only active collectives: 0";
    say(at + microseconds(390), 1'533, preparing);
  }

  void hear() {
    if (!version_.since(2, 3)) return;
    const Timestamp at = *hang_.first_timeout + milliseconds(80 + chance(0x4ea4, rank_) % 1'000);
    if (!version_.since(2, 5)) {
      signalled(at,
                "Received a global timeout from another rank and will start to dump the debug "
                "info. ");
      return;
    }
    say(at, 1'682,
        group_prefix(calls_.groups().front()) +
            "Observed flight recorder dump signal from another rank via TCPStore.");
    signalled(at + microseconds(210),
              fmt::format("Received a dump signal due to a collective timeout from  rank {} and we "
                          "will try our best to dump the debug info. ",
                          *hang_.initiator));
  }

  void die(Timestamp at, const TorchCall& call, int told_rank, const std::string& text) {
    const std::string own = version_.since(2, 3) ? fmt::format("[Rank {}] ", told_rank) : "";
    say(at, 684,
        own +
            "Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA "
            "kernels, subsequent GPU operations might run on corrupted/incomplete data. ");
    say(at + microseconds(900), 690,
        own + "To avoid data inconsistency, we are taking the entire process down.");
    terminate(at + milliseconds(2), call, text + "\n", "ProcessGroupNCCL.cpp:632 checkTimeout");
  }

  void terminate(Timestamp at, const TorchCall& call, const std::string& text,
                 std::string_view where) {
    const TorchGroupState& group = calls_.groups()[call.call.slot];
    const std::string full = version_.since(2, 1) ? text + origin(where) : text;
    if (version_.since(2, 1))
      say(at, 1'595,
          fmt::format("{}{} watchdog thread terminated with exception: {}", group_prefix(group),
                      version_.since(2, 3) ? "Process group" : "NCCL", full));
    plain(at + microseconds(300),
          fmt::format("terminate called after throwing an instance of '{}'\n  what():  {}\n",
                      version_.since(2, 2) ? "c10::DistBackendError" : "std::runtime_error", full));
  }

  static std::string origin(std::string_view where) {
    const std::size_t blank = where.find(' ');
    const std::string_view function =
        blank == std::string_view::npos ? "c10_cuda_check_implementation" : where.substr(blank + 1);
    return fmt::format(
        "Exception raised from {} at ../torch/csrc/distributed/c10d/{} (most recent call first):\n"
        "frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x96 (0x7f0a6b36c1b6 in "
        "/usr/local/lib/python3.11/site-packages/torch/lib/libc10.so)\n",
        function, where.substr(0, blank));
  }

  // The watchdog's thread meets an error and ends the process.
  void die_of(Timestamp at, const TorchCall* call, const std::string& text,
              std::string_view where) {
    TorchCall none;
    terminate(at, call == nullptr ? none : *call, text, where);
  }

  void lose_peer() {
    const Cluster& cluster = attempt_.job.cluster;
    const Timestamp at = *hang_.failure + seconds(1) + milliseconds(chance(0x105e, rank_) % 2'500);
    std::string text(kRemote);
    text.replace(text.find("{}"), 2, attempt_.job.version.name);
    text += fmt::format("socketProgress: Connection closed by remote peer {}<{}>\n",
                        cluster.host_name_of(hang_.raiser), 40'000 + rank_ % 20'000);
    const TorchCall* stuck = calls_.stuck();
    if (version_.since(2, 5) && stuck != nullptr) {
      const TorchGroupState& group = calls_.groups()[stuck->call.slot];
      say(at, 552,
          fmt::format("[Rank {}] Collective {} raised the following async exception: {}",
                      group.rank, work_text(version_, *stuck, group.communicator->size()),
                      text + origin("ProcessGroupNCCL.cpp:2027 checkForNCCLErrorsInternal")));
    }
    die_of(at + milliseconds(3), stuck, text,
           "ProcessGroupNCCL.cpp:2027 checkForNCCLErrorsInternal");
  }

  // Python's lines, each with the rank in front from 2.2 on.
  void raise(Timestamp at, const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) {
      if (version_.since(2, 2) && !line.empty()) text += fmt::format("[rank{}]: ", rank_);
      text += line + "\n";
    }
    plain(at, text);
  }

  void nobody_comes() {
    const Timestamp at = attempt_.begin() + version_.timeout() + seconds(1);
    int joined = 0;
    const int ranks = attempt_.job.cluster.ranks();
    for (int rank = 0; rank < ranks; ++rank)
      joined += attempt_.plan_of(rank).init != InitStop::absent ? 1 : 0;
    const std::string_view type =
        version_.since(2, 1) ? "torch.distributed.DistStoreError" : "RuntimeError";
    std::string error =
        rank_ == 0 ? fmt::format(
                         "{}: Timed out after {} seconds waiting for clients. {}/{} clients "
                         "joined.",
                         type, version_.timeout().count() + 1, joined, ranks)
                   : fmt::format("{}: Socket Timeout", type);
    // Lines have no rank in front before all ranks have joined.
    std::string text =
        "Traceback (most recent call last):\n"
        "  File \"/workspace/pretrain_gpt.py\", line 301, in <module>\n    main()\n"
        "  File \"/workspace/pretrain_gpt.py\", line 281, in main\n"
        "    dist.init_process_group(\"nccl\")\n"
        "  File \"/usr/local/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py\", "
        "line 1710, in init_process_group\n"
        "    store, rank, world_size = next(rendezvous_iterator)\n";
    plain(at, text + error + "\n");
  }

  const Attempt& attempt_;
  const TorchVersion& version_;
  const TorchHang& hang_;
  int rank_;
  TorchCalls calls_;
  std::int64_t boot_ns_ = 0;
  bool first_report_ = true;
  std::vector<Utterance> words_;
};

}  // namespace

std::vector<Utterance> torch_words(const Attempt& attempt, const TorchHang& hang, int rank) {
  return TorchLog(attempt, hang, rank).words();
}

void write_torch_log(Output& output, const Attempt& attempt, const TorchHang& hang,
                     const std::vector<int>& ranks) {
  struct Said {
    int rank;
    Utterance utterance;
  };
  std::vector<Said> all;
  for (const int rank : ranks)
    for (Utterance& utterance : torch_words(attempt, hang, rank))
      all.push_back({rank, std::move(utterance)});
  std::ranges::stable_sort(all, {}, [](const Said& said) { return said.utterance.time; });

  const Options& options = attempt.job.options;
  const Cluster& cluster = attempt.job.cluster;
  const auto wrap = wrapper_named(options.wrapper)->wrap;
  std::string text;
  for (const Said& said : all) {
    text.clear();
    if (wrap == nullptr) {
      output.write(said.utterance.lines);
      continue;
    }
    const Speaker speaker{.host = cluster.host_name_of(said.rank),
                          .address = cluster.address(cluster.host_of(said.rank)),
                          .pid = cluster.pid(said.rank, attempt.number),
                          .rank = said.rank,
                          .ranks = cluster.ranks(),
                          .local_rank = cluster.local_of(said.rank)};
    std::string_view rest = said.utterance.lines;
    for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
      wrap(text, rest.substr(0, end), speaker, said.utterance.time);
      rest.remove_prefix(end + 1);
    }
    output.write(text);
  }
}

}  // namespace faultline::simulation
