#include "rules/picture/who/owner.h"

#include <algorithm>

#include "rules/knowledge/ground_names.h"
#include "rules/picture/who/workers_by.h"

namespace faultline {
namespace {

// False if ranks were not seen, because they may be on any host.
bool hosts_are_known(const View& view) {
  return view.workers.expected <= static_cast<int>(view.workers.all.size()) &&
         !view.workers.by_host.contains("");
}

std::set<std::string> nics_used(const View& view, const ProcessKey& process) {
  constexpr int kMostDevices = 64;
  std::set<std::string> nics;
  const ProcessSetup* setup = view.job.setup().find(process);
  if (setup == nullptr) return nics;
  std::uint64_t devices = 0;
  for (const CommunicatorSetup& communicator : setup->communicators)
    for (const Link& link : communicator.links) devices |= link.devices;
  for (int index = 0; index < kMostDevices; ++index)
    if ((devices >> index & 1U) != 0) nics.insert(view.job.addresses().device_name(process, index));
  return nics;
}

}  // namespace

Ownership owner_of_host(const View& view, const std::string& host) {
  if (view.workers.all.empty()) return {.doubt = Ground::ranks_unknown};
  if (host.empty()) return {.doubt = Ground::host_unknown};
  if (const std::vector<std::size_t>& workers = view.workers.on(host); !workers.empty())
    return {.owner = Owner::host, .workers = workers, .doubt = Ground::users_unknown};
  if (hosts_are_known(view)) return {.owner = Owner::bystander};
  return {.doubt = Ground::rank_unseen};
}

Ownership owner_of_gpu(const View& view, const std::string& host, const std::string& pci) {
  Ownership ownership = owner_of_host(view, host);
  if (ownership.owner != Owner::host) return ownership;
  bool all_known = !pci.empty();
  std::vector<std::size_t> on_it;
  for (std::size_t i : ownership.workers) {
    all_known &= !view.workers.all[i].gpu.empty();
    if (!pci.empty() && view.workers.all[i].gpu == pci) on_it.push_back(i);
  }
  if (!on_it.empty()) return {.owner = Owner::ranks, .workers = std::move(on_it)};
  if (all_known) return {.owner = Owner::bystander};
  return {.doubt = Ground::gpu_unknown};
}

NicUsers::NicUsers(const View& view) {
  for (std::size_t i = 0; i < view.workers.all.size(); ++i)
    for (const std::string& nic : nics_used(view, view.workers.all[i].process)) {
      const std::size_t colon = nic.find(':');
      std::string port = colon == std::string::npos ? std::string() : nic.substr(colon + 1);
      by_device_[{view.workers.all[i].host, nic.substr(0, colon)}].push_back({std::move(port), i});
    }
}

std::vector<std::size_t> NicUsers::of(const NetworkPort& port) const {
  std::vector<std::size_t> users;
  const auto known = by_device_.find({port.host, port.device});
  if (known == by_device_.end()) return users;
  for (const Use& use : known->second) {
    const bool is_it = use.port.empty() || port.port.empty() || use.port == port.port;
    if (is_it && (users.empty() || users.back() != use.worker)) users.push_back(use.worker);
  }
  return users;
}

Ownership owner_of_port(const View& view, const NicUsers& users, const NetworkPort& port) {
  Ownership ownership = owner_of_host(view, port.host);
  if (ownership.owner != Owner::host) return ownership;
  if (std::vector<std::size_t> its = users.of(port); !its.empty())
    return {.owner = Owner::ranks, .workers = std::move(its)};
  return ownership;
}

bool is_counted_by_host(std::int64_t pid) {
  constexpr std::int64_t kLowest = 1000;
  return pid >= kLowest;
}

const ProcessOwners::Pids& ProcessOwners::pids_of(const std::string& host) {
  const auto [known, is_new] = hosts_.try_emplace(host);
  if (!is_new) return known->second;
  if (!counting_alike_) {
    counting_alike_.emplace();
    for (const XidIncident& incident : view_.job.hardware().xids()) {
      const std::string there = view_.job.host_of(incident.spoken_host, incident.source);
      if (any_is_of_a_rank(there, incident.pids)) counting_alike_->insert(there);
    }
  }
  known->second.count_alike = counting_alike_->contains(host);
  known->second.counted_by_host = std::ranges::all_of(
      view_.workers.on(host),
      [&](std::size_t index) { return is_counted_by_host(view_.workers.all[index].pid); });
  return known->second;
}

bool ProcessOwners::any_is_of_a_rank(const std::string& host,
                                     const std::set<std::int64_t>& pids) const {
  return std::ranges::any_of(
      pids, [&](std::int64_t pid) { return !view_.by_pid().on(host, pid).empty(); });
}

Owner ProcessOwners::of(const std::string& host, const std::set<std::int64_t>& pids) {
  if (host.empty() || view_.workers.on(host).empty()) return owner_of_host(view_, host).owner;
  if (pids.empty()) return Owner::host;
  if (any_is_of_a_rank(host, pids)) return Owner::ranks;
  const Pids& known = pids_of(host);
  if (!known.counted_by_host) return Owner::unknown;
  return known.count_alike ? Owner::bystander : Owner::host;
}

Owners::Owners(const View& view, Subject& subject)
    : view_(view),
      subject_(subject),
      ranks_(subject.ranks.begin(), subject.ranks.end()),
      hosts_(subject.hosts.begin(), subject.hosts.end()) {}

void Owners::add(const Ownership& ownership, const std::string& host) {
  for (const std::size_t index : ownership.workers)
    if (const int rank = view_.workers.all[index].rank; rank >= 0) ranks_.insert(rank);
  if (!host.empty() && hosts_.insert(host).second) subject_.hosts.push_back(host);
}

void Owners::done() { subject_.ranks.assign(ranks_.begin(), ranks_.end()); }

void add_owner(const View& view, const Ownership& ownership, const std::string& host,
               Subject& subject) {
  Owners owners(view, subject);
  owners.add(ownership, host);
  owners.done();
}

}  // namespace faultline
