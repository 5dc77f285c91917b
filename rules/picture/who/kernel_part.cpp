#include "rules/picture/who/kernel_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/prose.h"
#include "rules/picture/who/owner.h"

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
  for (const XidIncident& incident : view.job.hardware().xids()) {
    const XidMeaning* meaning = view.catalog.xid(incident.code);
    if (meaning == nullptr || meaning->cause != Cause::gpu_off_bus) continue;
    if (view.job.host_of(incident.spoken_host, incident.source) != sighting.host) continue;
    // Buses are numbered from the root down; what is below a port has a higher number.
    const auto domain_end = bridge.find(':');
    const bool below =
        incident.gpu.substr(0, domain_end) == bridge.substr(0, domain_end) && incident.gpu > bridge;
    const auto passed = microseconds_between(sighting.first->line.time, incident.first.time);
    if (below && passed && *passed >= -kLostTogetherUs && *passed <= kLostTogetherUs)
      lost.insert(incident.gpu);
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

// nullopt: no rank of the job has it, and it need not be a GPU.
std::optional<KernelPart> gpu_part(const View& view, const KernelSighting& sighting,
                                   const std::string& address) {
  KernelPart part = host_part(view, sighting.host);
  part.key = "gpu " + address;
  part.gpu = address;
  part.name = "GPU " + address;
  part.subject.gpus = {gpu_name(sighting.host, address)};
  bool gpus_unknown = false;
  std::vector<std::size_t> owners;
  for (std::size_t index : view.workers.perhaps_on(sighting.host)) {
    gpus_unknown |= view.workers.all[index].gpu.empty();
    if (view.workers.all[index].gpu == address) owners.push_back(index);
  }
  if (sighting.host.empty() && owners.size() > 1) settle_by_who_is_behind(view, owners);
  std::set<std::string> machines;
  for (std::size_t index : owners) machines.insert(view.workers.all[index].host);
  if (machines.size() == 1) {
    for (std::size_t index : owners) add_worker(view, index, part);
    part.standing = Standing::of_the_job;
    if (sighting.host.empty() && !machines.contains("")) {
      part.subject.hosts = {*machines.begin()};
      part.subject.gpus = {gpu_name(*machines.begin(), address)};
    }
    return part;
  }
  if (sighting.signature->blames != Blames::gpu) return std::nullopt;
  if (view.workers.all.empty()) return part;
  const bool may_be_ours = gpus_unknown && part.standing != Standing::bystander;
  part.standing = may_be_ours ? Standing::perhaps : Standing::bystander;
  part.doubts.push_back(Ground::gpu_unknown);
  return part;
}

bool names_device(const std::vector<std::string>& list, const KernelDevices::Names& nic) {
  return std::ranges::any_of(list, [&](const std::string& item) {
    // Merged NICs are joined: "mlx5_0:1+mlx5_1:1".
    std::string_view rest = item;
    while (!rest.empty()) {
      const std::string_view one = rest.substr(0, rest.find('+'));
      const std::string_view device = one.substr(0, one.find(':'));
      if (!device.empty() && (device == nic.device || device == nic.netdev)) return true;
      rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    }
    return false;
  });
}

// Whether an Xid of a GPU at this address was reported.
bool is_known_gpu(const View& view, const std::string& host, const std::string& address) {
  return std::ranges::any_of(view.job.hardware().xids(), [&](const XidIncident& incident) {
    return incident.gpu == address &&
           view.job.host_of(incident.spoken_host, incident.source) == host;
  });
}

// Whether the addresses of all these devices are known, and none is this one.
bool are_elsewhere(const KernelDevices& devices, const std::string& host,
                   const std::vector<std::string>& listed, const std::string& pci) {
  if (pci.empty() || listed.empty()) return false;
  return std::ranges::all_of(listed, [&](const std::string& item) {
    const KernelDevices::Names* known =
        devices.nic(host, {.pci = "", .device = item.substr(0, item.find(':')), .netdev = ""});
    return known != nullptr && !known->pci.empty() && known->pci != pci;
  });
}

// Whether the processes of the job on this host use the NIC.
Standing standing_of_nic(const View& view, const KernelDevices& devices, const std::string& host,
                         const KernelDevices::Names& nic, Standing of_host) {
  if (of_host == Standing::bystander) return of_host;
  bool told = false;
  for (std::size_t index : view.workers.perhaps_on(host)) {
    const ProcessKey& process = view.workers.all[index].process;
    const auto& rdma = view.job.addresses().devices_of(process);
    const auto& sockets = view.job.addresses().devices_of(process, "Socket");
    if (names_device(rdma, nic) || names_device(sockets, nic)) return Standing::of_the_job;
    // An interface that is not listed may belong to a listed device.
    told |= (!rdma.empty() && !nic.device.empty()) ||
            (nic.netdev.empty() && are_elsewhere(devices, host, rdma, nic.pci)) ||
            (rdma.empty() && !sockets.empty() && !nic.netdev.empty());
  }
  return told ? Standing::bystander : Standing::perhaps;
}

// The port of the NIC, as the job's processes list it (mlx5_5:1). Empty: they list none, or
// several.
std::string listed_port(const View& view, const std::string& host, const std::string& device) {
  std::set<std::string> ports;
  for (std::size_t index : view.workers.perhaps_on(host))
    for (const std::string& listed :
         view.job.addresses().devices_of(view.workers.all[index].process)) {
      const std::size_t colon = listed.find(':');
      if (colon != std::string::npos && listed.compare(0, colon, device) == 0 &&
          listed.find('+') == std::string::npos)
        ports.insert(listed.substr(colon + 1));
    }
  return ports.size() == 1 ? *ports.begin() : std::string();
}

// Judged by its names.
bool is_for_rdma(const KernelDevices::Names& nic) {
  constexpr std::string_view kPrefixes[] = {"ib", "hsn", "rdma", "roce"};
  return !nic.device.empty() || std::ranges::any_of(kPrefixes, [&](std::string_view prefix) {
    return nic.netdev.starts_with(prefix);
  });
}

// The Ethernet interface of an RDMA device and an IPoIB interface carry other traffic too.
KernelPart nic_part(const View& view, const KernelDevices& devices, const KernelSighting& sighting,
                    const KernelDevices::Names& nic) {
  KernelPart part = host_part(view, sighting.host);
  part.name = !nic.device.empty()   ? nic.device
              : !nic.netdev.empty() ? nic.netdev
                                    : "the NIC at " + nic.pci;
  std::string port(sighting.field("port"));
  if (port.empty() && !nic.device.empty()) port = listed_port(view, sighting.host, nic.device);
  if (!port.empty() && !nic.device.empty()) part.name += fmt::format(":{}", port);
  part.key = "nic " + (nic.device.empty() && nic.netdev.empty() ? nic.pci : part.name);
  part.subject.nics = {
      gpu_name(sighting.host, nic.device.empty() && nic.netdev.empty() ? nic.pci : part.name)};
  part.standing = standing_of_nic(view, devices, sighting.host, nic, part.standing);
  // If no ranks are known, that is doubt enough for a NIC that only jobs use.
  const bool carries_jobs = sighting.signature->blames == Blames::port || is_for_rdma(nic);
  if (part.standing == Standing::perhaps && !(view.workers.all.empty() && carries_jobs))
    part.doubts.push_back(Ground::use_unknown);
  return part;
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

KernelPart device_part(const View& view, const KernelDevices& devices,
                       const KernelSighting& sighting) {
  std::string address(sighting.field("pci"));
  if (address.empty()) address = devices.below(sighting.host, sighting.field("bridge"));
  if (address.empty()) address = gpu_lost_with(view, sighting);
  if (!address.empty()) {
    if (auto gpu = gpu_part(view, sighting, address)) return *gpu;
    const auto nic = nic_named_by(devices, sighting, address);
    if (!nic.device.empty() || !nic.netdev.empty()) return nic_part(view, devices, sighting, nic);
  }
  KernelPart part = host_part(view, sighting.host);
  const std::string where = address.empty() ? std::string(sighting.field("bridge")) : address;
  // The functions of one card, 0000:5c:00.0 and 0000:5c:00.1, are one part.
  part.key = "pci " + (address.empty() ? where : address.substr(0, address.rfind('.')));
  part.name = where.empty() ? std::string("a device")
                            : (address.empty() ? "PCIe port " : "the device at ") + where;
  // The driver says that it is a GPU, and it is no rank's.
  const bool is_gpu = sighting.field("driver") == "nvidia" ||
                      (!address.empty() && is_known_gpu(view, sighting.host, address));
  const bool others_gpu = is_gpu && !view.workers.all.empty() &&
                          std::ranges::none_of(view.workers.all, [](const Worker& worker) {
                            return worker.gpu.empty();
                          });
  if (others_gpu) part.standing = Standing::bystander;
  if (part.standing == Standing::of_the_job) part.standing = Standing::perhaps;
  part.doubts.push_back(Ground::use_unknown);
  return part;
}

KernelPart process_part(const View& view, const EndedProcesses& ended,
                        const KernelSighting& sighting) {
  KernelPart part = host_part(view, sighting.host);
  const std::int64_t pid = sighting.pid();
  if (pid == 0 || part.standing == Standing::bystander) return part;
  if (const TorchLine<ProcessExit>* end = ended.end_told_by(sighting)) {
    const bool names_no_host = sighting.host.empty();
    part.key = fmt::format("pid {}", pid);
    part.standing = Standing::of_the_job;
    part.doubts = {Ground::tied_by_a_number};
    part.subject.ranks = end->fact.ranks;
    part.tie = &end->line;
    const std::string host = view.job.host_of(short_host(end->fact.host), end->line.source);
    if (names_no_host && !host.empty()) {
      part.name = host;
      part.subject.hosts = {host};
    }
    return part;
  }
  // The kernel prints pids of the host; NCCL may print those of its container. If both agree on a
  // host of the job, it is the rank.
  if (part.standing == Standing::of_the_job && is_counted_by_host(pid))
    for (std::size_t index : view.workers.perhaps_on(sighting.host)) {
      if (view.workers.all[index].pid != pid) continue;
      add_worker(view, index, part);
      part.key = fmt::format("pid {}", pid);
      return part;
    }
  if (sighting.signature->blames == Blames::process) {
    part.standing = Standing::perhaps;
    if (!view.workers.all.empty()) part.doubts.push_back(Ground::process_unknown);
  }
  return part;
}

}  // namespace

KernelPart whole_host(const View& view, const std::string& host) {
  KernelPart part = host_part(view, host);
  if (part.standing != Standing::of_the_job) return part;
  std::set<int> ranks;
  for (std::size_t index : view.workers.perhaps_on(host))
    if (view.workers.all[index].rank >= 0) ranks.insert(view.workers.all[index].rank);
  part.subject.ranks.assign(ranks.begin(), ranks.end());
  return part;
}

KernelPart part_of(const View& view, const KernelDevices& devices, const EndedProcesses& ended,
                   const KernelSighting& sighting) {
  switch (sighting.signature->blames) {
    case Blames::gpu:
    case Blames::pci:
      return device_part(view, devices, sighting);
    case Blames::port:
    case Blames::nic: {
      const auto nic = nic_named_by(devices, sighting, std::string(sighting.field("pci")));
      const bool named = !nic.device.empty() || !nic.netdev.empty() || !nic.pci.empty();
      return named ? nic_part(view, devices, sighting, nic) : host_part(view, sighting.host);
    }
    case Blames::part: {
      KernelPart part = host_part(view, sighting.host);
      if (part.standing == Standing::of_the_job) part.standing = Standing::perhaps;
      part.doubts.push_back(Ground::use_unknown);
      return part;
    }
    default:
      if (sighting.signature->cause == Cause::host_down) return whole_host(view, sighting.host);
      return process_part(view, ended, sighting);
  }
}

}  // namespace faultline
