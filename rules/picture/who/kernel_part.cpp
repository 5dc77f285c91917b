#include "rules/picture/who/kernel_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/prose.h"
#include "rules/picture/read/xids_by_place.h"
#include "rules/picture/who/owner.h"
#include "rules/picture/who/workers_by.h"

namespace faultline {
namespace {

using Standing = KernelPart::Standing;

// The error of a port and the loss of the device below it are reported within this time.
constexpr std::int64_t kLostTogetherUs = 10'000'000;

Standing standing_of_host(const View& view, const std::string& host) {
  const Workers& workers = view.workers;
  if (workers.all.empty() || host.empty()) return Standing::perhaps;
  if (workers.by_host.contains(host) || workers.by_sender_host.contains(host))
    return Standing::of_the_job;
  // Ranks without any line may run here.
  const bool unseen = workers.expected > static_cast<int>(workers.all.size());
  return workers.by_host.contains("") || unseen ? Standing::perhaps : Standing::bystander;
}

KernelPart host_part(const View& view, const std::string& host) {
  KernelPart part;
  part.key = "host";
  part.name = host_in_words(host);
  if (!host.empty()) part.subject.hosts = {host};
  part.standing = standing_of_host(view, host);
  if (view.workers.all.empty())
    part.doubts = {Ground::ranks_unknown};
  else if (host.empty())
    part.doubts = {Ground::host_unknown};
  return part;
}

void add_worker(const View& view, std::size_t index, KernelPart& part) {
  const Worker& worker = view.workers.all[index];
  if (worker.rank >= 0) part.subject.ranks.push_back(worker.rank);
  part.tie = line_that_ties(view, worker);
}

// The address of a GPU that fell off the bus when its port complained.
std::string gpu_lost_with(const View& view, const KernelSighting& sighting) {
  const std::string_view bridge = sighting.field("bridge");
  if (bridge.empty() || !sighting.counts()) return {};
  std::set<std::string> lost;
  for (const XidIncident* incident : view.xids().lost_on(sighting.host)) {
    const auto passed = microseconds_between(sighting.first->line.time, incident->first.time);
    if (!passed || *passed < -kLostTogetherUs || *passed > kLostTogetherUs) continue;
    // Buses are numbered from the root down; what is below a port has a higher number.
    const auto domain_end = bridge.find(':');
    const std::string_view gpu = incident->gpu;
    if (gpu > bridge && gpu.substr(0, domain_end) == bridge.substr(0, domain_end))
      lost.insert(incident->gpu);
    if (lost.size() > 1) return {};
  }
  return lost.size() == 1 ? *lost.begin() : std::string();
}

// The same address exists on every machine of a cluster. If the machine is not known, the only
// owner that is behind is taken.
void settle_by_who_is_behind(const View& view, std::vector<std::size_t>& owners) {
  std::vector<std::size_t> settled;
  for (std::size_t worker : owners)
    if (view.behind.contains(worker)) settled.push_back(worker);
  if (settled.size() == 1) owners = settled;
}

// Whether a worker that may be on the host has a GPU that no line names. "": on any host.
bool has_unknown_gpu(const View& view, const std::string& host) {
  return view.by_gpu().any_perhaps_on(host, "", [](std::size_t) { return true; });
}

// Judged by its names.
bool is_for_rdma(const KernelDevices::Names& nic) {
  constexpr std::string_view kPrefixes[] = {"ib", "hsn", "rdma", "roce"};
  return !nic.device.empty() || std::ranges::any_of(kPrefixes, [&](std::string_view prefix) {
    return nic.netdev.starts_with(prefix);
  });
}

// Whether the processes of the job on this host use the NIC.
Standing standing_of_nic(ListedNics& nics, const std::string& host, const KernelDevices::Names& nic,
                         Standing of_host) {
  if (of_host == Standing::bystander) return of_host;
  const std::optional<bool> used = nics.is_used(host, nic);
  if (!used) return Standing::perhaps;
  return *used ? Standing::of_the_job : Standing::bystander;
}

KernelDevices::Names nic_named_by(const KernelDevices& devices, const KernelSighting& sighting,
                                  const std::string& pci) {
  KernelDevices::Names own{pci, std::string(sighting.field("device")),
                           std::string(sighting.field("netdev"))};
  if (const KernelDevices::Names* known = devices.nic(sighting.host, own)) {
    if (own.pci.empty()) own.pci = known->pci;
    if (own.device.empty()) own.device = known->device;
    if (own.netdev.empty()) own.netdev = known->netdev;
  }
  return own;
}

}  // namespace

const KernelParts::GpuUsers& KernelParts::users_of(const std::string& host,
                                                   const std::string& address) {
  const auto [known, is_new] = gpu_users_.try_emplace({host, address});
  GpuUsers& users = known->second;
  if (!is_new) return users;
  users.workers = view_.by_gpu().perhaps_on(host, address);
  if (host.empty() && users.workers.size() > 1) settle_by_who_is_behind(view_, users.workers);
  for (const std::size_t index : users.workers) users.hosts.insert(view_.workers.all[index].host);
  return users;
}

// nullopt: no rank of the job has it, and it need not be a GPU.
std::optional<KernelPart> KernelParts::gpu(const KernelSighting& sighting,
                                           const std::string& address) {
  KernelPart part = host_part(view_, sighting.host);
  part.key = "gpu " + address;
  part.gpu = address;
  part.name = "GPU " + address;
  part.subject.gpus = {gpu_name(sighting.host, address)};
  const GpuUsers& users = users_of(sighting.host, address);
  if (users.hosts.size() == 1) {
    const std::string& host = *users.hosts.begin();
    for (const std::size_t index : users.workers) add_worker(view_, index, part);
    part.standing = Standing::of_the_job;
    if (sighting.host.empty() && !host.empty()) {
      part.subject.hosts = {host};
      part.subject.gpus = {gpu_name(host, address)};
    }
    return part;
  }
  if (sighting.signature->blames != Blames::gpu) return std::nullopt;
  if (view_.workers.all.empty()) return part;
  const bool may_be_ours =
      part.standing != Standing::bystander && has_unknown_gpu(view_, sighting.host);
  part.standing = may_be_ours ? Standing::perhaps : Standing::bystander;
  part.doubts.push_back(Ground::gpu_unknown);
  return part;
}

// The Ethernet interface of an RDMA device and an IPoIB interface carry other traffic too.
KernelPart KernelParts::nic(const KernelSighting& sighting, const KernelDevices::Names& names) {
  KernelPart part = host_part(view_, sighting.host);
  part.name = !names.device.empty()   ? names.device
              : !names.netdev.empty() ? names.netdev
                                      : "the NIC at " + names.pci;
  std::string port(sighting.field("port"));
  if (port.empty() && !names.device.empty()) port = nics_.port_of(sighting.host, names.device);
  if (!port.empty() && !names.device.empty()) part.name += fmt::format(":{}", port);
  part.key = "nic " + (names.device.empty() && names.netdev.empty() ? names.pci : part.name);
  part.subject.nics = {gpu_name(
      sighting.host, names.device.empty() && names.netdev.empty() ? names.pci : part.name)};
  part.standing = standing_of_nic(nics_, sighting.host, names, part.standing);
  // If no ranks are known, that is doubt enough for a NIC that only jobs use.
  const bool carries_jobs = sighting.signature->blames == Blames::port || is_for_rdma(names);
  if (part.standing == Standing::perhaps && !(view_.workers.all.empty() && carries_jobs))
    part.doubts.push_back(Ground::use_unknown);
  return part;
}

KernelPart KernelParts::device(const KernelSighting& sighting) {
  std::string address(sighting.field("pci"));
  if (address.empty()) address = devices_.below(sighting.host, sighting.field("bridge"));
  if (address.empty()) address = gpu_lost_with(view_, sighting);
  if (!address.empty()) {
    if (auto part = gpu(sighting, address)) return *part;
    const auto names = nic_named_by(devices_, sighting, address);
    if (!names.device.empty() || !names.netdev.empty()) return nic(sighting, names);
  }
  KernelPart part = host_part(view_, sighting.host);
  const std::string where = address.empty() ? std::string(sighting.field("bridge")) : address;
  // The functions of one card, 0000:5c:00.0 and 0000:5c:00.1, are one part.
  part.key = "pci " + (address.empty() ? where : address.substr(0, address.rfind('.')));
  const bool is_any_gpu = where.empty() && sighting.signature->blames == Blames::gpu;
  part.name = is_any_gpu      ? std::string("a GPU")
              : where.empty() ? std::string("a device")
                              : (address.empty() ? "PCIe port " : "the device at ") + where;
  // The driver says that it is a GPU, and it is no rank's.
  const bool is_gpu = sighting.field("driver") == "nvidia" ||
                      (!address.empty() && view_.xids().names_gpu(sighting.host, address));
  const bool others_gpu = is_gpu && !view_.workers.all.empty() && !has_unknown_gpu(view_, {});
  if (others_gpu) part.standing = Standing::bystander;
  if (part.standing == Standing::of_the_job) part.standing = Standing::perhaps;
  if (!is_any_gpu || !view_.workers.all.empty()) part.doubts.push_back(Ground::use_unknown);
  return part;
}

KernelPart KernelParts::process(const KernelSighting& sighting) const {
  KernelPart part = host_part(view_, sighting.host);
  const std::int64_t pid = sighting.pid();
  if (pid == 0 || part.standing == Standing::bystander) return part;
  if (const TorchLine<ProcessExit>* end = ended_.end_told_by(sighting)) {
    const bool names_no_host = sighting.host.empty();
    part.key = fmt::format("pid {}", pid);
    part.standing = Standing::of_the_job;
    part.doubts = {Ground::tied_by_a_number};
    part.subject.ranks = end->fact.ranks;
    part.tie = &end->line;
    const std::string host = view_.job.host_of(short_host(end->fact.host), end->line.source);
    if (names_no_host && !host.empty()) {
      part.name = host;
      part.subject.hosts = {host};
    }
    return part;
  }
  // The kernel prints pids of the host; NCCL may print those of its container. If both agree on a
  // host of the job, it is the rank.
  if (part.standing == Standing::of_the_job && is_counted_by_host(pid))
    if (const auto they = view_.by_pid().perhaps_on(sighting.host, pid); !they.empty()) {
      add_worker(view_, they.front(), part);
      part.key = fmt::format("pid {}", pid);
      return part;
    }
  if (sighting.signature->blames == Blames::process) {
    part.standing = Standing::perhaps;
    if (!view_.workers.all.empty()) part.doubts.push_back(Ground::process_unknown);
  }
  return part;
}

KernelPart whole_host(const View& view, const std::string& host) {
  KernelPart part = host_part(view, host);
  if (part.standing != Standing::of_the_job) return part;
  std::set<int> ranks = view.ranks_at_large();
  for (const std::size_t index : view.workers.on(host))
    if (const int rank = view.workers.all[index].rank; rank >= 0) ranks.insert(rank);
  part.subject.ranks.assign(ranks.begin(), ranks.end());
  return part;
}

KernelPart KernelParts::of(const KernelSighting& sighting) {
  switch (sighting.signature->blames) {
    case Blames::gpu:
    case Blames::pci:
      return device(sighting);
    case Blames::port:
    case Blames::nic: {
      const auto names = nic_named_by(devices_, sighting, std::string(sighting.field("pci")));
      const bool named = !names.device.empty() || !names.netdev.empty() || !names.pci.empty();
      return named ? nic(sighting, names) : host_part(view_, sighting.host);
    }
    case Blames::part: {
      KernelPart part = host_part(view_, sighting.host);
      if (part.standing == Standing::of_the_job) part.standing = Standing::perhaps;
      part.doubts.push_back(Ground::use_unknown);
      return part;
    }
    default:
      if (sighting.signature->cause == Cause::host_down) {
        const auto [known, is_new] = whole_hosts_.try_emplace(sighting.host);
        if (is_new) known->second = whole_host(view_, sighting.host);
        return known->second;
      }
      return process(sighting);
  }
}

}  // namespace faultline
