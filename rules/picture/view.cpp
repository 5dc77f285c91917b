#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <tuple>

#include "model/ranks.h"
#include "rules/knowledge/signatures.h"
#include "rules/picture/calls/p2p_waits.h"
#include "rules/picture/calls/stacks.h"
#include "rules/picture/read/xids_by_place.h"
#include "rules/picture/view.h"
#include "rules/picture/who/torch_crew.h"
#include "rules/picture/who/workers_by.h"
#include "rules/state/rank_ties.h"

namespace faultline {
namespace {

template <class T>
std::vector<T> listed(const std::set<T>& values) {
  return {values.begin(), values.end()};
}

std::vector<std::size_t> members_of(const Progress& progress, const Attempts& attempts,
                                    int attempt) {
  std::vector<std::size_t> members;
  for (std::size_t index = 0; index < attempts.of_member.size(); ++index)
    if (attempts.of_member[index] == attempt) members.push_back(index);
  // Not in the order of arrival, which is chance.
  std::ranges::stable_sort(members, [&](std::size_t a, std::size_t b) {
    const Member& one = progress.members()[a];
    const Member& other = progress.members()[b];
    return std::tie(one.process, one.init_line.line, one.pointer) <
           std::tie(other.process, other.init_line.line, other.pointer);
  });
  return members;
}

std::vector<std::size_t> communicators_by_member(const std::vector<Communicator>& communicators,
                                                 std::size_t members) {
  std::vector<std::size_t> by_member(members, kNoCommunicator);
  for (std::size_t which = 0; which < communicators.size(); ++which)
    for (std::size_t member : communicators[which].members) by_member[member] = which;
  return by_member;
}

std::set<std::string> hosts_of(const Workers& workers) {
  std::set<std::string> hosts;
  for (const Worker& worker : workers.all)
    if (!worker.host.empty()) hosts.insert(worker.host);
  return hosts;
}

std::set<std::string> hosts_heard_by(const View& view) {
  std::set<std::string> hosts = view.hosts;
  for (const RemarkingProcess& process : view.job.remarks().processes())
    if (view.in_attempt(process.process)) hosts.insert(process.host);
  for (const ProcessSeen& seen : view.job.processes().all())
    if (view.in_attempt(seen.process)) hosts.insert(seen.host);
  hosts.erase("");
  return hosts;
}

// Ranks that wait in vain for others at the start say how many ranks they want.
int ranks_wanted(const JobState& job, const Catalog& catalog) {
  constexpr std::size_t kMostAsked = 64;  // all ranks say the same
  std::size_t asked = 0;
  for (const TorchRank* rank : job.torch().ranks()) {
    if (++asked > kMostAsked) break;
    for (const TorchSaying& saying : rank->said) {
      const auto match = catalog.signatures->match(Remark{.dialect = "torch", .text = saying.text});
      if (!match) continue;
      const auto wanted = match->fields.find("wanted");
      if (wanted == match->fields.end()) continue;
      const int ranks = std::atoi(wanted->second.c_str());
      if (ranks > 0 && ranks < kMaxRanks) return ranks;
    }
  }
  return 0;
}

std::set<std::string> hosts_in_a_stall_of(const View& view) {
  std::set<std::string> all;
  for (const Alignment& alignment : view.alignments) {
    if (!alignment.behind.empty()) return {};
    std::set<std::string> hosts;
    for (const std::size_t member : alignment.members) hosts.insert(view.member(member).host);
    if (hosts.size() > 1) all.merge(hosts);
  }
  return all;
}

// Only an open source counts: a file that was sent once has not stopped, it has ended.
bool stopped(const View& view, std::size_t communicator) {
  const Moment& moment = view.moment;
  const bool late = moment.stall_after.count() > 0 && view.moved[communicator] > Timestamp{} &&
                    moment.now - view.moved[communicator] >= moment.stall_after;
  return late &&
         std::ranges::any_of(view.communicators[communicator].members, [&](std::size_t index) {
           const Member& each = view.member(index);
           return !each.ending && moment.waiting_sources.contains(
                                      view.job.sources().at(each.calls_source).source.name);
         });
}

// If a rank still calls anything, even on another communicator, it may yet come.
bool has_called_lately(const View& view, const Worker& worker) {
  return std::ranges::any_of(worker.members, [&](std::size_t m) {
    return view.moment.now - view.job.call_times().last(m) < view.moment.stall_after;
  });
}

}  // namespace

View::View(const JobState& the_job, const Catalog& the_catalog, const Moment& the_moment,
           int the_attempt)
    : job(the_job),
      catalog(the_catalog),
      moment(the_moment),
      attempts(attempts_of(the_job.progress())),
      attempt(the_attempt == 0 ? attempts.count : the_attempt),
      members(members_of(the_job.progress(), attempts, attempt)),
      communicators(communicators_of(the_job.progress(), members)),
      communicator_of(communicators_by_member(communicators, the_job.progress().members().size())),
      workers(workers_of(the_job.progress(), communicators, members,
                         // These also hold earlier attempts, in which ranks may have been others.
                         attempts.count > 1
                             ? RankTies{}
                             : rank_ties(the_job.torch(), the_job.flight(), the_job.sources()))),
      hosts(hosts_of(workers)),
      hosts_heard(hosts_heard_by(*this)),
      roll(roll_call(the_job, workers, attempts.count)) {
  learn_gpus_from_xids();
  if (workers.expected == 0 && !roll.told_by && attempts.count < 2)
    roll.expected = std::max(roll.expected, ranks_wanted(job, catalog));
  for (std::size_t which = 0; which < communicators.size(); ++which) {
    alignments.push_back(align(job.progress(), communicators, which));
    loss = std::max(loss, alignments.back().loss);
  }
  for (const Communicator& communicator : communicators) {
    Timestamp& last = moved.emplace_back();
    for (const std::size_t m : communicator.members)
      last = std::max(last, job.call_times().last(m));
  }
  for (std::size_t which = 0; which < communicators.size(); ++which)
    stopped_.push_back(stopped(*this, which));
  for (const Worker& worker : workers.all)
    called_lately_.push_back(has_called_lately(*this, worker));
  if (lines_are_missing())
    for (std::size_t which = 0; which < communicators.size(); ++which)
      if (alignments[which].basis == Basis::counted)
        alignments[which] = align(job.progress(), communicators, which, false);
  places = aligned_places(alignments, job.progress().members().size());
  for (const Alignment& alignment : alignments)
    for (const std::size_t m : alignment.behind) behind.insert(workers.of_member[m]);
  hosts_in_a_stall = hosts_in_a_stall_of(*this);
  arrival = Arrival(*this);
  phases = Phases(*this);
  standstill = Standstill(*this);
}

View::~View() = default;

const TorchCrew& View::crew() const {
  if (!crew_) crew_ = std::make_unique<const TorchCrew>(*this);
  return *crew_;
}

const std::vector<P2pGap>& View::p2p_gaps() const {
  if (!p2p_gaps_) p2p_gaps_ = std::make_unique<const std::vector<P2pGap>>(find_p2p_gaps(*this));
  return *p2p_gaps_;
}

const StandingsByStack& View::stacks() const {
  if (!stacks_) stacks_ = std::make_unique<const StandingsByStack>(*this);
  return *stacks_;
}

const WorkersBy<std::string>& View::by_gpu() const {
  if (!by_gpu_) by_gpu_ = std::make_unique<const WorkersBy<std::string>>(workers, &Worker::gpu);
  return *by_gpu_;
}

const WorkersBy<std::int64_t>& View::by_pid() const {
  if (!by_pid_) by_pid_ = std::make_unique<const WorkersBy<std::int64_t>>(workers, &Worker::pid);
  return *by_pid_;
}

const std::set<int>& View::ranks_at_large() const {
  constexpr std::size_t kFew = 64;
  if (ranks_at_large_) return *ranks_at_large_;
  std::set<int> all;
  std::set<int> are_behind;
  if (const auto nowhere = workers.by_host.find(""); nowhere != workers.by_host.end())
    for (const std::size_t index : nowhere->second)
      if (const int rank = workers.all[index].rank; rank >= 0) {
        all.insert(rank);
        if (behind.contains(index)) are_behind.insert(rank);
      }
  if (all.size() > kFew) all.swap(are_behind);
  if (all.size() > kFew) all.clear();
  return ranks_at_large_.emplace(std::move(all));
}

const XidsByPlace& View::xids() const {
  if (!xids_) xids_ = std::make_unique<const XidsByPlace>(*this);
  return *xids_;
}

// If no Init line names the GPU of a process, an Xid that names the process gives it.
void View::learn_gpus_from_xids() {
  for (const XidIncident& incident : job.hardware().xids()) {
    const std::string host = job.host_of(incident.spoken_host, incident.source);
    if (host.empty()) continue;
    for (const std::int64_t pid : incident.pids)
      for (const std::size_t index : by_pid().named(host, pid))
        if (Worker& worker = workers.all[index]; worker.gpu.empty()) worker.gpu = incident.gpu;
  }
}

std::vector<std::size_t> View::workers_in(const ProcessKey& process, int device) const {
  std::vector<std::size_t> all;
  std::vector<std::size_t> with_device;
  for (const std::size_t which : workers.of_process(process)) {
    all.push_back(which);
    if (device >= 0 && std::ranges::any_of(workers.all[which].members, [&](std::size_t m) {
          return member(m).init && member(m).init->cuda_device == device;
        }))
      with_device.push_back(which);
  }
  return with_device.empty() ? all : with_device;
}

bool View::in_attempt(const ProcessKey& process) const {
  auto known = attempts.of_process.find(process);
  return known == attempts.of_process.end() || known->second == attempt;
}

std::uint32_t View::log_of(std::size_t index) const {
  const Member& m = member(index);
  return m.calls > 0 ? m.calls_source : m.init_line.source;
}

bool View::lines_are_missing() const {
  constexpr double kNotable = 1.0 / 200;  // a few torn lines change no position
  return loss > kNotable;
}

bool View::has_stopped(std::size_t communicator) const { return stopped_[communicator]; }

bool View::stands(const Alignment& alignment) const {
  return !alignment.behind.empty() &&
         std::ranges::none_of(alignment.behind, [&](std::size_t m) { return is_live(m); });
}

bool View::got_to_work() const {
  return std::ranges::any_of(members, [&](std::size_t index) { return member(index).calls > 0; });
}

bool View::is_live(std::size_t index) const {
  const std::string& source = job.sources().at(member(index).calls_source).source.name;
  const std::size_t communicator = communicator_of[index];
  const bool has_stopped = communicator != kNoCommunicator && stopped_[communicator] &&
                           !called_lately_[workers.of_member[index]];
  return (moment.live_sources.contains(source) && !has_stopped) || is_broken_off(index);
}

bool View::is_broken_off(std::size_t index) const {
  const SourceState& source = job.sources().at(member(index).calls_source);
  return source.end == SourceEnd::open && !moment.waiting_sources.contains(source.source.name);
}

bool View::is_torn(std::size_t index) const {
  return job.sources().at(member(index).calls_source).end == SourceEnd::torn;
}

Evidence View::evidence(const LineRef& line) const {
  return {job.sources().at(line.source).source.name, line.line, line.offset, job.dated(line).wall(),
          line.text};
}

const LineRef* line_that_ties(const View& view, const Worker& worker) {
  for (std::size_t index : worker.members) {
    const Member& member = view.member(index);
    if (member.init && member.init->rank == worker.rank && member.init_line.known())
      return &member.init_line;
  }
  return nullptr;
}

std::string gpu_name(const std::string& host, const std::string& gpu) {
  return fmt::format("{}/{}", host.empty() ? "unknown-host" : host, gpu);
}

Subject subject_of(const View& view, const std::vector<std::size_t>& members) {
  std::set<std::string> hosts;
  std::set<int> ranks;
  std::set<std::string> gpus;
  for (std::size_t index : members) {
    const Worker& worker = view.worker_of(index);
    if (!worker.host.empty()) hosts.insert(worker.host);
    if (worker.rank >= 0) ranks.insert(worker.rank);
    if (!worker.gpu.empty()) gpus.insert(gpu_name(worker.host, worker.gpu));
  }
  return {listed(hosts), listed(ranks), listed(gpus), {}, {}};
}

std::string people_of(const View& view, const std::vector<std::size_t>& members) {
  Subject subject = subject_of(view, members);
  if (members.size() == 1) {
    const Worker& worker = view.worker_of(members.front());
    std::string who = worker.rank >= 0  ? fmt::format("Rank {}", worker.rank)
                      : worker.pid != 0 ? fmt::format("Process {}", worker.pid)
                                        : std::string("One process");
    return worker.host.empty() ? who : fmt::format("{} on {}", who, worker.host);
  }
  if (subject.ranks.size() == members.size() && members.size() <= 8)
    return fmt::format("Ranks {}", fmt::join(subject.ranks, ", "));
  return fmt::format("{} ranks", members.size());
}

}  // namespace faultline
