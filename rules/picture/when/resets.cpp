#include "rules/picture/when/resets.h"

#include "rules/knowledge/xid_details.h"

namespace faultline {
namespace {

constexpr int kRecoveryAction = 154;
constexpr std::int64_t kBeforeUs = 30'000'000;  // a reset takes this long
constexpr std::int64_t kAfterUs = 5'000'000;

bool is_reset(const XidIncident& incident) {
  return incident.code == kRecoveryAction && !incident.details.empty() &&
         words_of(kRecoveryAction, incident.details.back()).recovery == "None";
}

}  // namespace

std::string reset_near(const View& view, std::uint32_t source, const std::string& spoken_host,
                       std::uint64_t boot, const EventTime& time, const std::string& but) {
  for (const XidIncident& incident : view.job.hardware().xids()) {
    if (!is_reset(incident) || incident.source != source || incident.boot != boot ||
        incident.spoken_host != spoken_host || incident.gpu == but)
      continue;
    const EventTime done = view.job.dated(incident.last);
    const bool uptimes = done.uptime_us && time.uptime_us;
    if (!uptimes && (!done.wall_us || !time.wall_us)) continue;
    const std::int64_t ahead =
        uptimes ? *done.uptime_us - *time.uptime_us : *done.wall_us - *time.wall_us;
    if (ahead <= kBeforeUs && ahead >= -kAfterUs) return incident.gpu;
  }
  return {};
}

}  // namespace faultline
