// faultline_day FILE [RANKS [HOURS [BATCHES_AN_HOUR [CALLS_A_BATCH]]]]: stores what a job of many
// ranks with COLL logging sends in a day, without waiting for the day to pass. Prints for each hour
// what is on the disk and in memory, and then how long a restart takes until the job is diagnosed.
// Exits with 1 if one of these is over its limit. With 0 hours it only restarts.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>

#include "rules/knowledge/live_catalog.h"
#include "service/live_jobs.h"
#include "service/process_use.h"
#include "store/store.h"

namespace faultline {
namespace {

constexpr int kGpusOfHost = 8;
constexpr std::uint64_t kBytesOfLine = 190;
constexpr std::uint64_t kWorld = 0x7f0000000000;
constexpr std::uint64_t kGroup = 0x7f0000100000;
constexpr std::size_t kMostPending = 512;

// What is promised of a day of 1,024 ranks with COLL logging.
constexpr std::uint64_t kMostStoredMb = 2048;
constexpr double kMostSecondsOfRestart = 2;
// Memory is flat: at the end it is about what it was after the first hours. The rest is for the
// allocator.
constexpr int kHoursUntilFlat = 4;
constexpr double kMostGrowth = 1.2;

struct Day {
  std::filesystem::path file;
  int ranks = 1024;
  int hours = 24;
  int batches = 60;  // of each rank in an hour
  int calls = 340;   // in a batch
};

double seconds_since(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

std::uint64_t memory_mb() { return process_use().resident_bytes >> 20U; }

class Limits {
 public:
  void at_most(double most, double measured, std::string_view what) {
    if (measured <= most) return;
    fmt::print("OVER THE LIMIT: {}: {:.2f}, at most {:.2f}\n", what, measured, most);
    kept_ = false;
  }
  bool are_kept() const { return kept_; }

 private:
  bool kept_ = true;
};

// One rank's log: a step calls 40 collectives in the communicator of its host and one in that of
// all ranks.
class RankLog {
 public:
  RankLog(int rank, int ranks) : rank_(rank), ranks_(ranks) {}

  Commit next(int calls, Timestamp received) {
    Commit commit;
    commit.source = {.job = "day", .name = fmt::format("rank-{}.log", rank_)};
    Batch& batch = commit.batch;
    batch.from_offset = offset_;
    batch.first_line = lines_ + 1;
    batch.speakers = {{.host = fmt::format("n{}", rank_ / kGpusOfHost),
                       .pid = 1000 + rank_,
                       .device = rank_ % kGpusOfHost}};
    if (lines_ == 0) begin(batch);
    call(batch, static_cast<std::uint32_t>(calls));
    batch.recognized = batch.lines;
    batch.dialects = {{"nccl", batch.lines}};
    offset_ = batch.to_offset = batch.from_offset + batch.lines * kBytesOfLine;
    lines_ += batch.lines;
    commit.position = {.offset = offset_, .lines = lines_};
    commit.fingerprint = {batch.from_offset, batch.to_offset, random_(), random_(), true};
    commit.received = received;
    return commit;
  }

 private:
  void begin(Batch& batch) const {
    const int first = rank_ / kGpusOfHost * kGpusOfHost;
    for (const auto& [pointer, rank, nranks, id] :
         {std::tuple(kWorld, rank_, ranks_, std::string("0xaaaa")),
          std::tuple(kGroup, rank_ - first, kGpusOfHost, fmt::format("0xb{:04x}", first))})
      batch.events.push_back({.order = static_cast<std::uint32_t>(batch.events.size()),
                              .line = ++batch.lines,
                              .fact = CommunicatorInit{.communicator = pointer,
                                                       .rank = rank,
                                                       .nranks = nranks,
                                                       .communicator_id = id,
                                                       .complete = true}});
  }

  void call(Batch& batch, std::uint32_t calls) {
    constexpr std::uint64_t kCallsOfStep = 41;
    batch.signatures = {
        {.function = "AllGather", .count = 1 << 20, .datatype = 9},
        {.function = "ReduceScatter", .count = 1 << 20, .datatype = 9},
        {.function = "AllReduce", .count = 4 << 20, .datatype = 7},
    };
    const auto order = static_cast<std::uint32_t>(batch.events.size());
    CallRun group{.order = order, .communicator = kGroup, .nranks = kGpusOfHost};
    CallRun world{.order = order + 1, .communicator = kWorld, .nranks = ranks_};
    for (std::uint32_t i = 0; i < calls; ++i, ++called_) {
      const std::uint64_t in_step = called_ % kCallsOfStep;
      const auto line = static_cast<std::uint32_t>(batch.lines++);
      const auto offset = static_cast<std::uint32_t>(line * kBytesOfLine);
      if (in_step == kCallsOfStep - 1)
        world.calls.push_back({called_ / kCallsOfStep, 2, line, offset});
      else
        group.calls.push_back({called_, in_step % 2 == 0 ? 0U : 1U, line, offset});
    }
    for (CallRun* run : {&group, &world}) {
      if (run->calls.empty()) continue;
      run->last_text = std::string(kBytesOfLine - 1, 'x');
      batch.runs.push_back(std::move(*run));
    }
  }

  int rank_;
  int ranks_;
  std::uint64_t offset_ = 0;
  std::uint64_t lines_ = 0;
  std::uint64_t called_ = 0;
  std::mt19937_64 random_{static_cast<std::uint64_t>(rank_)};
};

class Server {
 public:
  explicit Server(const std::filesystem::path& file)
      : store(file), catalog(load_catalog()), jobs(store, catalog, metrics) {
    jobs.start(stop);
  }

  // Waits while many commits are pending.
  void commit(Commit commit) {
    while (store.pending() > kMostPending)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    jobs.commit(std::move(commit), [](const std::exception_ptr& failure) {
      if (failure) std::abort();
    });
  }

  Store store;
  LiveCatalog catalog;
  Metrics metrics;
  std::atomic<bool> stop{false};
  LiveJobs jobs;
};

void print_hour(const Day& day, int hour, Server& server) {
  const std::uint64_t calls = static_cast<std::uint64_t>(hour) *
                              static_cast<std::uint64_t>(day.ranks) *
                              static_cast<std::uint64_t>(day.batches * day.calls);
  fmt::print("{:>4} {:>14} {:>9} {:>9} {:>9}\n", hour, calls, calls * kBytesOfLine >> 20U,
             server.store.bytes_on_disk() >> 20U, memory_mb());
  std::fflush(stdout);
}

void live_through(const Day& day, Limits& limits) {
  Server server(day.file);
  std::vector<RankLog> logs;
  for (int rank = 0; rank < day.ranks; ++rank) logs.emplace_back(rank, day.ranks);
  const Timestamp begun = Timestamp(std::chrono::hours(24 * 21'000));
  fmt::print("hour          calls   logs MB  store MB memory MB\n");
  std::uint64_t flat_mb = 0;
  for (int hour = 0; hour < day.hours; ++hour) {
    for (int batch = 0; batch < day.batches; ++batch) {
      for (RankLog& log : logs)
        server.commit(log.next(day.calls, begun + std::chrono::hours(hour) +
                                              std::chrono::seconds(batch * 3600 / day.batches)));
      // A server shortens calls every few seconds; do not let a simulated day outrun that.
      server.store.drain();
      server.jobs.shorten_stored();
    }
    print_hour(day, hour + 1, server);
    if (hour < kHoursUntilFlat) flat_mb = std::max(flat_mb, memory_mb());
  }
  limits.at_most(kMostStoredMb, static_cast<double>(server.store.bytes_on_disk() >> 20U),
                 "MB on the disk");
  limits.at_most(kMostGrowth * static_cast<double>(flat_mb), static_cast<double>(memory_mb()),
                 "MB in memory");
}

void restart(const Day& day, Limits& limits) {
  const auto begun = std::chrono::steady_clock::now();
  Server server(day.file);
  const auto diagnosis = server.jobs.diagnosis("day");
  const double seconds = seconds_since(begun);
  fmt::print("restart until the job is diagnosed: {:.2f} s; memory {} MB; {}\n", seconds,
             memory_mb(), diagnosis->summary);
  limits.at_most(kMostSecondsOfRestart, seconds, "seconds of a restart");
}

}  // namespace
}  // namespace faultline

int main(int count, char** values) {
  if (count < 2) {
    fmt::print(stderr,
               "usage: faultline_day FILE [RANKS [HOURS [BATCHES_AN_HOUR [CALLS_A_BATCH]]]]\n");
    return 2;
  }
  faultline::Day day{.file = values[1]};
  int* const numbers[] = {&day.ranks, &day.hours, &day.batches, &day.calls};
  for (int i = 2; i < count && i < 6; ++i) *numbers[i - 2] = std::atoi(values[i]);
  faultline::Limits limits;
  if (day.hours > 0) faultline::live_through(day, limits);
  faultline::restart(day, limits);
  return limits.are_kept() ? 0 : 1;
}
