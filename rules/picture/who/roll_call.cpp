#include "rules/picture/who/roll_call.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "model/ranks.h"

namespace faultline {
namespace {

int number_in(const std::string* text) {
  int number = 0;
  if (text == nullptr) return 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  return error == std::errc() && end == text->data() + text->size() && number > 0 ? number : 0;
}

class Expected {
 public:
  explicit Expected(int by_nccl) : expected_(by_nccl) {}

  // The largest number counts: groups are parts of the job, and old scripts may have started fewer
  // ranks.
  void tell(std::int64_t ranks, const LineRef* line) {
    if (ranks <= expected_ || ranks > kMaxRanks) return;
    expected_ = static_cast<int>(ranks);
    line_.reset();
    if (line != nullptr) line_ = *line;
  }

  int expected() const { return expected_; }
  const std::optional<LineRef>& line() const { return line_; }

 private:
  int expected_;
  std::optional<LineRef> line_;
};

// Members of groups are global ranks.
void ask_dumps(const Flight& flight, Expected& expected) {
  for (const FlightDump& dump : flight.dumps())
    for (const FlightPosition& position : dump.positions) {
      const std::vector<int>& members = flight.groups()[position.group].members;
      if (!members.empty()) expected.tell(members.back() + 1, &position.line);
    }
}

bool is_the_whole_job(const TorchGroup& group) {
  return group.description == "default_pg" || group.name == "0";
}

// The ratio of the larger to the smaller buffer of an AllGather or ReduceScatter.
std::int64_t members_of_group(const WatchdogTimeout& timeout) {
  const std::uint64_t in = timeout.numel_in.value_or(0);
  const std::uint64_t out = timeout.numel_out.value_or(0);
  const bool gathers = timeout.operation == "_ALLGATHER_BASE";
  if (!gathers && timeout.operation != "_REDUCE_SCATTER_BASE") return 0;
  const std::uint64_t all = gathers ? out : in;
  const std::uint64_t part = gathers ? in : out;
  return part == 0 || all % part != 0 ? 0 : static_cast<std::int64_t>(all / part);
}

void ask_watchdogs(const Torch& torch, Expected& expected) {
  for (const TorchRank* rank : torch.ranks())
    for (const TorchTimeout& timeout : rank->timeouts)
      if (is_the_whole_job(timeout.timeout.group))
        expected.tell(members_of_group(timeout.timeout), &timeout.line);
}

void ask_launchers(const Setup& setup, Expected& expected) {
  for (const ProcessSetup& process : setup.processes()) {
    for (const std::string_view question : {"launch world size", "script WORLD_SIZE"})
      if (const std::string* size = setup.answer(process, question)) {
        const auto* said = setup.line_of_answer(process.host, question, *size);
        expected.tell(number_in(size), said == nullptr ? nullptr : &said->line);
      }
    const std::string* processes = setup.answer(process, "launch processes");
    const auto nodes = static_cast<std::int64_t>(number_in(setup.answer(process, "launch nodes")));
    if (processes == nullptr) continue;
    const auto* said = setup.line_of_answer(process.host, "launch processes", *processes);
    expected.tell(nodes * number_in(processes), said == nullptr ? nullptr : &said->line);
  }
}

// The largest communicator that ncclras lists is taken for that of all ranks.
void ask_ras(const Reports& reports, Expected& expected) {
  if (const JobReport* report = reports.latest()) expected.tell(report->largest, nullptr);
}

void hear_torch(const JobState& job, std::set<int>& heard) {
  for (const TorchRank* rank : job.torch().ranks())
    if (rank->rank >= 0 && !rank->guessed) heard.insert(rank->rank);
  for (const auto& exit : job.torch().exits())
    heard.insert(exit.fact.ranks.begin(), exit.fact.ranks.end());
}

// A script may print the rank and the number of ranks with its steps: "[rank 3/8] step 120 loss
// 2.3". If the totals differ, some labels are from another start, or count within a host; then none
// is used.
void hear_trainings(const JobState& job, RollCall& roll, Expected& expected) {
  std::set<int> heard;
  std::set<std::string> totals;
  const LineRef* line = nullptr;
  for (const PartRecord& record : job.parts().records()) {
    const std::string rank(record.name("rank"));
    const PartSeries* ranks =
        record.kind == "training" ? job.parts().find(record, "ranks") : nullptr;
    if (rank.empty() || ranks == nullptr) continue;
    for (const PartSample& sample : ranks->samples) totals.insert(sample.value);
    line = ranks->last().line.get();
    heard.insert(rank == "0" ? 0 : number_in(&rank));
  }
  if (totals.size() != 1) return;
  const int total = number_in(&*totals.begin());
  if (expected.expected() > 0 && expected.expected() != total) return;
  if (*heard.rbegin() >= total || (!roll.heard.empty() && *roll.heard.rbegin() >= total)) return;
  roll.heard.merge(heard);
  expected.tell(total, line);
}

// A file named after a rank counts as heard, whatever is in it.
void hear_files(const JobState& job, std::set<int>& heard) {
  for (const SourceState& state : job.sources().all()) {
    const int rank =
        state.source.rank >= 0 ? state.source.rank : rank_by_file_name(state.source.name).rank;
    if (rank >= 0) heard.insert(rank);
  }
}

// A launcher, or the sender of a log, may have said which rank a process is.
void hear_processes(const JobState& job, std::set<int>& heard) {
  for (const ProcessSeen& seen : job.processes().all())
    if (seen.launcher_rank >= 0) heard.insert(seen.launcher_rank);
}

// The number of ranks, by the highest rank that a launcher gave a process: ranks count from 0. 0:
// it numbered at most one.
std::int64_t numbered(const JobState& job) {
  std::set<int> ranks;
  hear_processes(job, ranks);
  return ranks.size() > 1 ? *ranks.rbegin() + 1 : 0;
}

}  // namespace

std::vector<int> RollCall::unheard() const {
  std::vector<int> ranks;
  if (!all_named) return ranks;
  for (int rank = 0; rank < expected; ++rank)
    if (!heard.contains(rank)) ranks.push_back(rank);
  return ranks;
}

RollCall roll_call(const JobState& job, const Workers& workers, int attempts) {
  RollCall roll;
  Expected expected(workers.expected);
  std::size_t nameless = 0;  // processes whose rank is not known
  for (const Worker& worker : workers.all) {
    if (worker.rank >= 0)
      roll.heard.insert(worker.rank);
    else
      ++nameless;
  }
  if (attempts < 2) {
    ask_dumps(job.flight(), expected);
    ask_watchdogs(job.torch(), expected);
    ask_launchers(job.setup(), expected);
    if (!job.torch().empty()) ask_ras(job.reports(), expected);
    hear_torch(job, roll.heard);
    for (const auto& [rank, dump] : job.flight().latest()) {
      if (rank >= 0)
        roll.heard.insert(rank);
      else if (workers.all.empty())
        ++nameless;
    }
    // Not if NCCL's ranks are known: a rank may have a file and still not have come.
    if (workers.all.empty()) {
      hear_files(job, roll.heard);
      hear_processes(job, roll.heard);
      hear_trainings(job, roll, expected);
    }
    if (expected.expected() == 0 && job.torch().empty()) expected.tell(numbered(job), nullptr);
  }
  roll.expected = expected.expected();
  roll.told_by = expected.line();
  if (roll.expected > 0) std::erase_if(roll.heard, [&](int rank) { return rank >= roll.expected; });
  // Processes without a rank may be ranks that another witness has named.
  const std::size_t known = workers.all.empty() ? nameless : workers.all.size();
  roll.seen =
      static_cast<int>(nameless == 0 ? roll.heard.size() : std::max(known, roll.heard.size()));
  roll.all_named = nameless == 0;
  return roll;
}

}  // namespace faultline
