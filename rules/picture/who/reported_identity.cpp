#include "rules/picture/who/reported_identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace faultline {
namespace {

constexpr std::size_t kMostNames = 4;

// Ids are compared as numbers if both have the form 0x….
bool same_id(std::string_view a, std::string_view b) {
  auto number = [](std::string_view text) -> std::optional<std::uint64_t> {
    if (!text.starts_with("0x")) return std::nullopt;
    std::uint64_t value = 0;
    auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
  };
  const auto value = number(a);
  return a == b || (value && value == number(b));
}

// The worker of a communicator's rank, by Init lines.
const Worker* worker_by_init(const View& view, const std::string& communicator, int rank,
                             std::int64_t pid) {
  if (communicator.empty()) return nullptr;
  const Members& members = view.job.progress().members();
  for (std::size_t i = members.size(); i-- > 0;) {
    const auto& init = members[i].init;
    if (!init || init->rank != rank || !same_id(init->communicator_id, communicator)) continue;
    if (pid == 0 || members[i].pid == 0 || members[i].pid == pid) return &view.worker_of(i);
  }
  return nullptr;
}

// The only worker with this pid and device. Tools name hosts by address, logs by name.
const Worker* worker_by_pid(const View& view, const ReportedProcess& process) {
  if (process.pid == 0) return nullptr;
  const Worker* found = nullptr;
  for (const Worker& worker : view.workers.all) {
    if (worker.pid != process.pid) continue;
    const bool other_device =
        process.cuda_device >= 0 && std::ranges::none_of(worker.members, [&](std::size_t m) {
          const auto& init = view.member(m).init;
          return !init || init->cuda_device < 0 || init->cuda_device == process.cuda_device;
        });
    if (other_device) continue;
    if (found != nullptr) return nullptr;
    found = &worker;
  }
  return found;
}

bool same_process(const ReportedProcess& a, const ReportedProcess& b) {
  return a.pid != 0 && a.pid == b.pid && a.host == b.host &&
         (a.cuda_device == b.cuda_device || a.cuda_device < 0 || b.cuda_device < 0);
}

// The rank of a process in the communicator of all ranks.
int rank_in_world(const View& view, const ReportedProcess& process, int world) {
  const JobReport* report = view.job.reports().latest();
  if (report == nullptr || process.pid == 0) return -1;
  for (const auto& [id, communicator] : report->communicators)
    if (communicator.nranks == world)
      for (const auto& [rank, known] : communicator.ranks)
        if (same_process(known.process, process)) return rank;
  return -1;
}

std::string process_name(const ReportedProcess& process, const std::string& host) {
  if (process.pid == 0) return host.empty() ? std::string() : fmt::format("on {}", host);
  return host.empty() ? fmt::format("process {}", process.pid)
                      : fmt::format("process {} on {}", process.pid, host);
}

}  // namespace

ReportedPerson person_of(const View& view, const std::string& communicator, int rank, int nranks,
                         const ReportedProcess& process, int world) {
  ReportedPerson person;
  person.communicator = communicator;
  person.rank_in_communicator = rank;
  person.host = process.host;
  const Worker* worker = worker_by_init(view, communicator, rank, process.pid);
  if (worker == nullptr) worker = worker_by_pid(view, process);
  if (worker != nullptr) {
    person.rank = worker->rank;
    person.gpu = worker->gpu;
    if (!worker->host.empty()) person.host = worker->host;
  } else if (rank >= 0 && world > 0 && nranks == world) {
    person.rank = rank;
  } else {
    person.rank = rank_in_world(view, process, world);
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

bool told_by_calls(const View& view, const std::string& communicator) {
  return std::ranges::any_of(view.alignments, [&](const Alignment& alignment) {
    const Communicator& known = view.communicators[alignment.communicator];
    return same_id(known.id, communicator) && alignment.furthest > 0 &&
           known.are_all(alignment.members.size());
  });
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
