#include "rules/picture/read/xids_by_place.h"

#include "rules/knowledge/xid_details.h"
#include "rules/picture/view.h"

namespace faultline {
namespace {

constexpr int kNvlinkError = 74;
constexpr int kRecoveryAction = 154;

// The driver says when a reset is done: no recovery is needed any more.
bool is_reset(const XidIncident& incident) {
  return incident.code == kRecoveryAction && !incident.details.empty() &&
         words_of(kRecoveryAction, incident.details.back()).recovery == "None";
}

}  // namespace

XidsByPlace::XidsByPlace(const View& view) {
  for (const XidIncident& incident : view.job.hardware().xids()) {
    const std::string host = view.job.host_of(incident.spoken_host, incident.source);
    gpus_.emplace(host, incident.gpu);
    const XidMeaning* meaning = view.catalog.xid(incident.code);
    const bool lost = meaning != nullptr && meaning->cause == Cause::gpu_off_bus;
    const bool reset = is_reset(incident);
    if (lost) lost_on_[host].push_back(&incident);
    if (!lost && !reset && incident.code != kNvlinkError) continue;
    OfBoot& boot = of_boot_[{incident.source, incident.spoken_host, incident.boot}];
    const EventTime first = view.job.dated(incident.first);
    if (lost) boot.lost.push_back({&incident, first});
    if (incident.code == kNvlinkError) boot.links.push_back({&incident, first});
    if (reset) boot.reset.add(incident.gpu, view.job.dated(incident.last));
  }
  for (auto& [which, boot] : of_boot_) boot.reset.arrange();
}

const XidsByPlace::OfBoot& XidsByPlace::of(const BootOfLog& boot) const {
  static const OfBoot kNothing;
  const auto known = of_boot_.find(boot);
  return known == of_boot_.end() ? kNothing : known->second;
}

const std::vector<const XidIncident*>& XidsByPlace::lost_on(const std::string& host) const {
  static const std::vector<const XidIncident*> kNone;
  const auto known = lost_on_.find(host);
  return known == lost_on_.end() ? kNone : known->second;
}

}  // namespace faultline
