#include "rules/state/gpus.h"

#include <fmt/format.h>

#include <set>

#include "rules/state/joining.h"

namespace faultline {
namespace {

struct Named {
  const PartRecord* record = nullptr;
  GpuPart names;
  std::string where;  // the host; if not known, the source
};

std::string place_of(const std::string& host, std::uint32_t source) {
  return host.empty() ? fmt::format("source {}", source) : host;
}

Named named(const JobState& job, const PartRecord& record) {
  Named gpu{.record = &record};
  gpu.names.host = short_host(record.name("host"));
  if (gpu.names.host.empty()) gpu.names.host = job.host_of(record.spoken_host, record.source);
  gpu.names.pci = record.name("pci");
  gpu.names.uuid = record.name("uuid");
  gpu.names.index =
      record.name(record.kind == "nvlink" && record.name("gpu") != "" ? "gpu" : "index");
  gpu.names.serial = record.name("serial");
  gpu.where = place_of(gpu.names.host, record.source);
  return gpu;
}

// Names of GPUs from the kernel and from NCCL.
std::vector<Named> told_elsewhere(const JobState& job) {
  std::vector<Named> told;
  for (const Hardware::Gpu& gpu : job.hardware().gpus()) {
    Named one;
    one.names.host = job.host_of(gpu.spoken_host, gpu.source);
    one.names.pci = gpu.gpu;
    one.names.uuid = gpu.uuid;
    one.where = place_of(one.names.host, gpu.source);
    told.push_back(std::move(one));
  }
  for (const Member& member : job.progress().members()) {
    if (!member.init || member.init->gpu.empty() || member.init->nvml_device < 0) continue;
    Named one;
    one.names.host = member.host;
    one.names.pci = member.init->gpu;
    one.names.index = std::to_string(member.init->nvml_device);
    one.where = place_of(member.host, member.source);
    told.push_back(std::move(one));
  }
  return told;
}

void fill(std::string& into, const std::string& from) {
  if (into.empty()) into = from;
}

}  // namespace

std::vector<GpuPart> gpus_of(const JobState& job) {
  std::vector<Named> all;
  for (const PartRecord& record : job.parts().records())
    if (record.kind == "gpu" || record.kind == "nvlink") all.push_back(named(job, record));
  if (all.empty()) return {};
  const std::size_t reported = all.size();
  for (Named& one : told_elsewhere(job)) all.push_back(std::move(one));

  Joining joining;
  std::set<std::string> tied;  // indices for which a tool itself gives the address
  for (const Named& gpu : all) {
    const std::size_t index = joining.add();
    const std::string counted = fmt::format("index {} {}", gpu.where, gpu.names.index);
    if (gpu.record != nullptr && !gpu.names.pci.empty()) tied.insert(counted);
    if (!gpu.names.uuid.empty()) joining.name(index, "uuid " + gpu.names.uuid);
    if (!gpu.names.pci.empty())
      joining.name(index, fmt::format("pci {} {}", gpu.where, gpu.names.pci));
    // In a container, NCCL may number GPUs differently than nvidia-smi on the host.
    if (!gpu.names.index.empty() && (gpu.record != nullptr || !tied.contains(counted)))
      joining.name(index, counted);
  }
  std::vector<GpuPart> gpus;
  std::map<std::size_t, std::size_t> index_of;
  for (std::size_t i = 0; i < all.size(); ++i) {
    // GPUs without any report are not listed.
    if (i >= reported && !index_of.contains(joining.root(i))) continue;
    const auto [at, is_new] = index_of.try_emplace(joining.root(i), gpus.size());
    if (is_new) gpus.emplace_back();
    GpuPart& gpu = gpus[at->second];
    const GpuPart& names = all[i].names;
    fill(gpu.host, names.host);
    fill(gpu.pci, names.pci);
    fill(gpu.uuid, names.uuid);
    fill(gpu.index, names.index);
    fill(gpu.serial, names.serial);
    if (all[i].record != nullptr) gpu.records.push_back(all[i].record);
  }
  return gpus;
}

}  // namespace faultline
