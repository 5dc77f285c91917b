#include "rules/state/hardware.h"

#include "rules/state/sources.h"

namespace faultline {
namespace {

constexpr std::size_t kMostPids = 16;
constexpr std::size_t kMostGpus = 4096;  // a hostile log could name any number of them

}  // namespace

void Hardware::apply(std::uint32_t source, const Batch& batch, const Event& event) {
  std::string host = short_host(batch.speakers[event.speaker].host);
  if (std::holds_alternative<HostBooted>(event.fact)) {
    ++boots_[source];
  } else if (const auto* identity = std::get_if<GpuIdentity>(&event.fact)) {
    if (!identity->gpu.empty() && gpus_.size() < kMostGpus)
      gpus_.push_back({host, source, identity->gpu, identity->uuid, identity->serial});
    else if (!identity->serial.empty() && !gpus_.empty() && gpus_.back().source == source)
      gpus_.back().serial = identity->serial;
  } else if (const auto* xid = std::get_if<GpuXid>(&event.fact)) {
    Key key{host, host.empty() ? source : 0, xid->gpu, xid->code, boots(source)};
    auto [known, is_new] = known_.try_emplace(std::move(key), xids_.size());
    LineRef line{source, event.line, event.offset, event.time, event.text};
    if (is_new) {
      XidIncident& fresh = xids_.emplace_back();
      fresh.spoken_host = host;
      fresh.source = source;
      fresh.gpu = xid->gpu;
      fresh.code = xid->code;
      fresh.first = line;
      fresh.boot = boots(source);
    }
    XidIncident& incident = xids_[known->second];
    // "GPU has fallen off the bus" once more in other words is the same report, not a second one.
    if (xid->xid_line || is_new) incident.count += static_cast<std::uint64_t>(xid->repeated);
    if (xid->pid && incident.pids.size() < kMostPids) incident.pids.insert(*xid->pid);
    incident.last = std::move(line);
  }
}

std::uint64_t Hardware::boots(std::uint32_t source) const {
  auto known = boots_.find(source);
  return known == boots_.end() ? 0 : known->second;
}

}  // namespace faultline
