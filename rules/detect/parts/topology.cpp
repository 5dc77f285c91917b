// One GPU that differs from its peers on the same host in nvidia-smi topo -m: no NVLink, or no NIC
// near it. How a machine is built is no fault; but a single GPU that is built differently deserves
// a look.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "rules/detect/parts/facts.h"
#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/prose.h"

namespace faultline {
namespace {

constexpr std::size_t kLeastPeers = 3;

// From the nearest on, as nvidia-smi's legend explains them.
constexpr std::array<std::string_view, 5> kDistances{"PIX", "PXB", "PHB", "NODE", "SYS"};
constexpr std::size_t kNear = 1;  // behind the same PCIe switch
constexpr std::size_t kFar = 3;   // over the root complexes of a node, or between sockets

struct Gpu {
  std::string index;
  const LineRef* line = nullptr;
  std::size_t peers = 0;
  std::size_t linked = 0;  // by NVLink
  std::size_t nics = 0;
  std::size_t nearest = kDistances.size();  // NIC
};

Gpu gpu_of(const PartFacts& facts, const PartRecord& record) {
  Gpu gpu{.index = std::string(record.name("index"))};
  for (const PartSeries& series : record.values) {
    const std::string& name = facts.parts().text(series.name);
    const std::string& value = series.last().value;
    const auto distance = std::ranges::find(kDistances, value);
    gpu.line = series.last().line.get();
    if (name.starts_with("GPU") && name != "GPU NUMA ID") {
      ++gpu.peers;
      if (value.starts_with("NV")) ++gpu.linked;
    } else if (distance != kDistances.end()) {
      ++gpu.nics;
      gpu.nearest = std::min(gpu.nearest, static_cast<std::size_t>(distance - kDistances.begin()));
    }
  }
  return gpu;
}

// By host and index.
using PciAddresses = std::map<std::pair<std::string, std::string>, std::string>;

Suspicion describe_topology(const PartFacts& facts, const PciAddresses& addresses,
                            const std::string& host, const Gpu& gpu, Cause cause, Claim claim,
                            std::string what) {
  Suspicion suspicion;
  suspicion.verdict = Verdict::slow;
  suspicion.job_ran_with_it = true;
  suspicion.since = gpu.line->time;
  Finding& finding = suspicion.finding;
  finding.cause = cause;
  finding.severity = Severity::warning;
  suspicion.sure = claim;
  finding.title = fmt::format("GPU {} of {} {}", gpu.index, host_in_words(host), what);
  add_line(facts.view, gpu.line, finding);
  const auto known = addresses.find({host, gpu.index});
  const std::string pci = known == addresses.end() ? std::string() : known->second;
  lay_on_owner(facts.view, owner_of_gpu(facts.view, host, pci), host, suspicion);
  finding.subject.gpus = {gpu_name(host, pci.empty() ? gpu.index : pci)};
  finding.actions.push_back(
      {.what = "Compare with another host of the same kind, and look at what the driver said of "
               "this GPU's links when it started.",
       .where = host,
       .command = "nvidia-smi topo -m; nvidia-smi nvlink -s; dmesg -T | grep -i nvlink"});
  return suspicion;
}

}  // namespace

Suspicions suspect_topology(const PartFacts& facts) {
  std::map<std::string, std::vector<Gpu>> hosts;
  for (const PartRecord& record : facts.parts().records())
    if (record.tool == "nvidia-smi-topo" && record.kind == "gpu" && !record.values.empty())
      hosts[facts.view.job.host_of(record.spoken_host, record.source)].push_back(
          gpu_of(facts, record));
  PciAddresses addresses;
  if (!hosts.empty())
    for (const GpuPart& part : facts.gpus) addresses[{part.host, part.index}] = part.pci;
  Suspicions found;
  for (const auto& [host, gpus] : hosts) {
    for (const Gpu& gpu : gpus) {
      if (gpus.size() < kLeastPeers + 1) continue;
      const auto all_others = [&](auto holds) {
        return std::ranges::all_of(
            gpus, [&](const Gpu& other) { return &other == &gpu || holds(other); });
      };
      // Only if all others reach each other: bridges between pairs leave some GPUs out on purpose.
      if (gpu.peers > 0 && gpu.linked == 0 &&
          all_others([&](const Gpu& other) { return other.linked + 2 >= gpus.size(); }))
        found.push_back(describe_topology(facts, addresses, host, gpu, Cause::config_p2p_disabled,
                                          Claim::gpu_without_links,
                                          "has no NVLink to any peer; all others have some"));
      if (gpu.nics > 0 && gpu.nearest >= kFar &&
          all_others([](const Gpu& other) { return other.nearest <= kNear; }))
        found.push_back(describe_topology(
            facts, addresses, host, gpu, Cause::config_gdr_disabled, Claim::gpu_far_from_nics,
            fmt::format("has no NIC near it ({}), and all others have one behind their own PCIe "
                        "switch",
                        kDistances[gpu.nearest])));
    }
  }
  return found;
}

}  // namespace faultline
