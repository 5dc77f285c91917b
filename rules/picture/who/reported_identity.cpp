#include "rules/picture/who/reported_identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

namespace faultline {
namespace {

constexpr std::size_t kMostNames = 4;

// Ids are compared as numbers if they have the form 0x….
std::string comparable_id(const std::string& id) {
  if (!id.starts_with("0x")) return id;
  std::uint64_t value = 0;
  const char* last = id.data() + id.size();
  const auto [end, error] = std::from_chars(id.data() + 2, last, value, 16);
  return error == std::errc() && end == last ? fmt::format("{:#x}", value) : id;
}

std::string process_name(const ReportedProcess& process, const std::string& host) {
  if (process.pid == 0) return host.empty() ? std::string() : fmt::format("on {}", host);
  return host.empty() ? fmt::format("process {}", process.pid)
                      : fmt::format("process {} on {}", process.pid, host);
}

}  // namespace

ReportedPeople::ReportedPeople(const View& view) : view_(view), world_(world_of(view)) {
  const Members& members = view.job.progress().members();
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto& init = members[i].init;
    if (!init || init->communicator_id.empty()) continue;
    Inits& same = inits_[{comparable_id(init->communicator_id), init->rank}];
    same.last = i;
    same.by_pid[members[i].pid] = i;
  }
  for (const Worker& worker : view.workers.all) {
    if (worker.pid == 0) continue;
    SamePid& same = workers_[worker.pid];
    same.all.push_back(&worker);
    std::set<int> devices;
    for (const std::size_t m : worker.members) {
      const auto& its = view.member(m).init;
      devices.insert(its ? std::max(its->cuda_device, -1) : -1);
    }
    if (devices.contains(-1))
      same.of_any_device.push_back(&worker);
    else
      for (const int device : devices) same.by_device[device].push_back(&worker);
  }
  if (const JobReport* report = view.job.reports().latest()) {
    std::size_t order = 0;
    for (const auto& [id, communicator] : report->communicators) {
      if (communicator.nranks != world_) continue;
      for (const auto& [rank, known] : communicator.ranks) {
        const ReportedProcess& process = known.process;
        if (process.pid != 0)
          in_world_[{process.pid, process.host}].try_emplace(std::max(process.cuda_device, -1),
                                                             InWorld{order++, rank});
      }
    }
  }
  for (const Alignment& alignment : view.alignments) {
    const Communicator& known = view.communicators[alignment.communicator];
    if (alignment.furthest > 0 && known.are_all(alignment.members.size()))
      told_by_calls_.insert(comparable_id(known.id));
  }
}

bool ReportedPeople::told_by_calls(const std::string& communicator) const {
  return told_by_calls_.contains(comparable_id(communicator));
}

// The worker of a communicator's rank, by Init lines.
const Worker* ReportedPeople::worker_by_init(const std::string& communicator, int rank,
                                             std::int64_t pid) const {
  if (communicator.empty()) return nullptr;
  const auto same = inits_.find({comparable_id(communicator), rank});
  if (same == inits_.end()) return nullptr;
  if (pid == 0) return &view_.worker_of(same->second.last);
  std::optional<std::size_t> last;
  for (const std::int64_t its : {pid, std::int64_t{0}})  // 0: not known
    if (const auto known = same->second.by_pid.find(its); known != same->second.by_pid.end())
      last = std::max(last.value_or(0), known->second);
  return last ? &view_.worker_of(*last) : nullptr;
}

// The only worker with this pid and device. Tools name hosts by address, logs by name.
const Worker* ReportedPeople::worker_by_pid(const ReportedProcess& process) const {
  const auto same = workers_.find(process.pid);
  if (process.pid == 0 || same == workers_.end()) return nullptr;
  const SamePid& candidates = same->second;
  if (process.cuda_device < 0) return candidates.all.size() == 1 ? candidates.all.front() : nullptr;
  const auto with_device = candidates.by_device.find(process.cuda_device);
  const Worker* found = nullptr;
  std::size_t number = candidates.of_any_device.size();
  if (number > 0) found = candidates.of_any_device.front();
  if (with_device != candidates.by_device.end()) {
    number += with_device->second.size();
    found = with_device->second.front();
  }
  return number == 1 ? found : nullptr;
}

// The rank of a process in the communicator of all ranks.
int ReportedPeople::rank_in_world(const ReportedProcess& process) const {
  const auto same = in_world_.find({process.pid, process.host});
  if (process.pid == 0 || same == in_world_.end()) return -1;
  const auto& by_device = same->second;
  InWorld first{SIZE_MAX, -1};
  const auto look = [&](const InWorld& one) {
    if (one.order < first.order) first = one;
  };
  if (process.cuda_device < 0) {
    for (const auto& [device, one] : by_device) look(one);
  } else {
    for (const int device : {-1, process.cuda_device})
      if (const auto known = by_device.find(device); known != by_device.end()) look(known->second);
  }
  return first.rank;
}

ReportedPerson ReportedPeople::of(const std::string& communicator, int rank, int nranks,
                                  const ReportedProcess& process) const {
  ReportedPerson person;
  person.communicator = communicator;
  person.rank_in_communicator = rank;
  person.host = process.host;
  const Worker* worker = worker_by_init(communicator, rank, process.pid);
  if (worker == nullptr) worker = worker_by_pid(process);
  if (worker != nullptr) {
    person.rank = worker->rank;
    person.gpu = worker->gpu;
    if (!worker->host.empty()) person.host = worker->host;
  } else if (rank >= 0 && world_ > 0 && nranks == world_) {
    person.rank = rank;
  } else {
    person.rank = rank_in_world(process);
  }
  const std::string where = process_name(process, person.host);
  if (person.rank >= 0)
    person.name = fmt::format("Rank {}", person.rank);
  else if (rank >= 0)
    person.name = fmt::format("Rank {} of communicator {}", rank, communicator);
  if (person.name.empty())
    person.name = where.empty() ? "A process" : "P" + where.substr(1);
  else if (!where.empty())
    person.name += fmt::format(" ({})", where);
  person.key = process.pid != 0
                   ? fmt::format("{}:{}:{}", process.host, process.pid, process.cuda_device)
               : person.rank >= 0 ? fmt::format("rank {}", person.rank)
                                  : fmt::format("{} {}", communicator, rank);
  return person;
}

int world_of(const View& view) {
  if (view.workers.expected > 0) return view.workers.expected;
  const JobReport* report = view.job.reports().latest();
  int world = report == nullptr ? 0 : report->largest;
  for (const auto& [id, communicator] : view.job.reports().inspected())
    world = std::max(world, communicator.nranks);
  return world;
}

Subject subject_of_people(const std::vector<ReportedPerson>& people) {
  std::set<std::string> hosts;
  std::set<int> ranks;
  std::set<std::string> gpus;
  std::set<std::string> communicators;
  for (const ReportedPerson& person : people) {
    if (!person.host.empty()) hosts.insert(person.host);
    if (person.rank >= 0) ranks.insert(person.rank);
    if (!person.gpu.empty()) gpus.insert(gpu_name(person.host, person.gpu));
    if (!person.communicator.empty()) communicators.insert(person.communicator);
  }
  return {{hosts.begin(), hosts.end()},
          {ranks.begin(), ranks.end()},
          {gpus.begin(), gpus.end()},
          {},
          {communicators.begin(), communicators.end()}};
}

std::string names_of(const std::vector<ReportedPerson>& people) {
  if (people.size() == 1) return people.front().name;
  if (people.size() > 2 * kMostNames) return fmt::format("{} ranks", people.size());
  std::vector<int> ranks;
  for (const ReportedPerson& person : people) ranks.push_back(person.rank);
  std::ranges::sort(ranks);
  if (!ranks.empty() && ranks.front() >= 0) return fmt::format("Ranks {}", fmt::join(ranks, ", "));
  std::string names;
  for (const ReportedPerson& person : people) names += (names.empty() ? "" : "; ") + person.name;
  return names;
}

}  // namespace faultline
