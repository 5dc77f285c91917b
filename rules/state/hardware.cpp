#include "rules/state/hardware.h"

#include <algorithm>
#include <utility>

#include "rules/state/sources.h"

namespace faultline {
namespace {

constexpr std::int64_t kSecondUs = 1'000'000;
constexpr std::int64_t kSilenceUs = 180 * kSecondUs;       // this long a silence ends a burst
constexpr std::int64_t kDriverReloadUs = 600 * kSecondUs;  // a reload takes no longer

constexpr std::size_t kMostPids = 16;
constexpr std::size_t kMostDetails = 4;
constexpr std::size_t kMostLinks = 64;
// Limits, because a hostile log could name any number.
constexpr std::size_t kMostGpus = 4096;
constexpr std::size_t kMostParts = 32768;
constexpr std::size_t kMostLossySources = 4096;
// of a part within a boot; later bursts count as the last
constexpr std::uint64_t kMostBursts = 64;

// Between two times in one boot of one host; nullopt if not known.
std::optional<std::int64_t> gap_us(const EventTime& from, const EventTime& to) {
  if (from.uptime_us && to.uptime_us) return *to.uptime_us - *from.uptime_us;
  if (from.wall_us && to.wall_us && from.zone_assumed == to.zone_assumed)
    return *to.wall_us - *from.wall_us;
  return std::nullopt;
}

// Keeps different texts, with the latest at the end. The first stays first even if it comes again
// at the end.
void keep_detail(std::vector<std::string>& details, const std::string& detail) {
  if (detail.empty() || (!details.empty() && details.back() == detail)) return;
  if (!details.empty()) {
    const auto known = std::find(details.begin() + 1, details.end(), detail);
    if (known != details.end()) details.erase(known);
  }
  if (details.size() == kMostDetails) details.pop_back();
  details.push_back(detail);
}

// The GPU in the source's latest line about a GPU: a record names it in its first line and not in
// its last one.
std::string named_before(const std::vector<Hardware::Gpu>& gpus, const std::string& host,
                         std::uint32_t source) {
  const auto named = std::ranges::find_if(gpus.rbegin(), gpus.rend(), [&](const auto& gpu) {
    return gpu.source == source && gpu.spoken_host == host;
  });
  return named != gpus.rend() && named->uuid.empty() && named->serial.empty() ? named->gpu
                                                                              : std::string();
}

// Codes that no driver has are one kind.
std::uint64_t kind_of_code(int code) {
  constexpr int kMostCodes = 65536;
  return code >= 0 && code < kMostCodes ? static_cast<std::uint64_t>(code) : kMostCodes;
}

int weight_of(std::string_view printed) {
  return printed == "Fatal" ? 2 : printed == "Non-fatal" ? 1 : 0;
}

}  // namespace

bool Hardware::tells_of(const Fact& fact) {
  if (const auto* remark = std::get_if<Remark>(&fact)) return remark->dialect == "kernel";
  return std::holds_alternative<GpuXid>(fact) || std::holds_alternative<SwitchError>(fact) ||
         std::holds_alternative<GpuIdentity>(fact) || std::holds_alternative<HostBooted>(fact) ||
         std::holds_alternative<GpuDriver>(fact) || std::holds_alternative<HostStopping>(fact) ||
         std::holds_alternative<ClockReading>(fact) || std::holds_alternative<LinesLost>(fact);
}

void Hardware::apply(const std::string& host, const Event& event, LineRef line,
                     std::uint64_t boot) {
  const auto begin = [&](Upkeep kind) {
    if (maintenance_.size() < kMostLossySources)
      maintenance_[{line.source, host}] = {kind, line.time, boot};
  };
  if (const auto* identity = std::get_if<GpuIdentity>(&event.fact)) {
    if (!identity->gpu.empty() && gpus_.size() < kMostGpus)
      gpus_.push_back({host, line.source, identity->gpu, identity->uuid, identity->serial});
    else if (!identity->serial.empty() && !gpus_.empty() && gpus_.back().source == line.source)
      gpus_.back().serial = identity->serial;
  } else if (const auto* xid = std::get_if<GpuXid>(&event.fact)) {
    apply_xid(*xid, host, boot, std::move(line));
  } else if (const auto* error = std::get_if<SwitchError>(&event.fact)) {
    apply_switch(*error, host, boot, std::move(line));
  } else if (const auto* lost = std::get_if<LinesLost>(&event.fact)) {
    apply_lost(*lost, host, std::move(line));
  } else if (const auto* driver = std::get_if<GpuDriver>(&event.fact)) {
    if (driver->loaded)
      maintenance_.erase({line.source, host});
    else
      begin(Upkeep::driver_reload);
  } else if (std::holds_alternative<HostStopping>(event.fact)) {
    begin(Upkeep::shutdown);
  } else if (std::holds_alternative<HostBooted>(event.fact)) {
    maintenance_.erase({line.source, host});
  }
}

std::uint64_t Hardware::burst_of(const PartKey& key, std::uint64_t boot, const EventTime& time) {
  const auto known = parts_.find(key);
  if (known == parts_.end()) {
    if (parts_.size() < kMostParts) parts_[key] = {boot, 0, time};
    return 0;
  }
  Part& part = known->second;
  const std::optional<std::int64_t> gap = gap_us(part.last, time);
  if (part.boot != boot)
    part = {boot, 0, time};
  else if (gap && *gap > kSilenceUs && part.burst + 1 < kMostBursts)
    ++part.burst;
  part.last = time;
  return part.burst;
}

Upkeep Hardware::upkeep_at(const std::string& host, std::uint64_t boot, const LineRef& line) const {
  const auto known = maintenance_.find({line.source, host});
  if (known == maintenance_.end() || known->second.boot != boot) return Upkeep::none;
  if (known->second.kind == Upkeep::shutdown) return Upkeep::shutdown;
  const std::optional<std::int64_t> gap = gap_us(known->second.since, line.time);
  return gap && *gap > kDriverReloadUs ? Upkeep::none : Upkeep::driver_reload;
}

void Hardware::apply_xid(const GpuXid& xid, const std::string& host, std::uint64_t boot,
                         LineRef line) {
  const std::string gpu = xid.gpu.empty() ? named_before(gpus_, host, line.source) : xid.gpu;
  if (gpu.empty()) return;
  PartKey part{line.source, host, gpu};
  const std::uint64_t burst = burst_of(part, boot, line.time);
  IncidentKey key{std::move(part), xid.code, boot, burst};
  auto known = known_xids_.find(key);
  const bool is_new = known == known_xids_.end();
  if (is_new) {
    if (!limit_of_xids_.admit(kind_of_code(xid.code))) return;
    XidIncident fresh;
    fresh.spoken_host = host;
    fresh.source = line.source;
    fresh.gpu = gpu;
    fresh.code = xid.code;
    fresh.first = line;
    fresh.boot = boot;
    fresh.burst = burst;
    fresh.upkeep = upkeep_at(host, boot, line);
    known = known_xids_.emplace(std::move(key), xids_.add(std::move(fresh))).first;
  }
  XidIncident& incident = xids_[known->second];
  // "GPU has fallen off the bus" in other words is the same report, not a second one.
  if (xid.xid_line || is_new) incident.count += static_cast<std::uint64_t>(xid.repeated);
  if (xid.pid && incident.pids.size() < kMostPids) incident.pids.insert(*xid.pid);
  if (!incident.caused_by) incident.caused_by = xid.caused_by;
  keep_detail(incident.details, xid.detail);
  incident.last = std::move(line);
}

void Hardware::apply_switch(const SwitchError& error, const std::string& host, std::uint64_t boot,
                            LineRef line) {
  IncidentKey key{PartKey{line.source, host, error.nvswitch}, error.code, boot, 0};
  auto known = known_switch_errors_.find(key);
  const bool is_new = known == known_switch_errors_.end();
  if (is_new) {
    if (!limit_of_switch_errors_.admit(kind_of_code(error.code))) return;
    SwitchIncident fresh;
    fresh.spoken_host = host;
    fresh.source = line.source;
    fresh.nvswitch = error.nvswitch;
    fresh.code = error.code;
    fresh.detail = error.detail;
    fresh.teller = error.teller;
    fresh.first = line;
    fresh.boot = boot;
    fresh.upkeep = upkeep_at(host, boot, line);
    known =
        known_switch_errors_.emplace(std::move(key), switch_errors_.add(std::move(fresh))).first;
  }
  SwitchIncident& incident = switch_errors_[known->second];
  if (!error.goes_on || is_new) incident.count += static_cast<std::uint64_t>(error.repeated);
  if (weight_of(error.printed) > weight_of(incident.printed)) incident.printed = error.printed;
  if (error.link && incident.links.size() < kMostLinks) incident.links.insert(*error.link);
  incident.last = std::move(line);
}

void Hardware::apply_lost(const LinesLost& lost, const std::string& host, LineRef line) {
  auto known = std::ranges::find_if(lost_lines_, [&](const LostLines& before) {
    return before.source == line.source && before.spoken_host == host;
  });
  if (known == lost_lines_.end()) {
    if (lost_lines_.size() >= kMostLossySources) return;
    known = lost_lines_.insert(known, {.spoken_host = host, .source = line.source});
  }
  constexpr std::int64_t kMost = INT64_MAX / 2;
  known->lines += std::min(lost.lines, kMost - known->lines);
  known->last = std::move(line);
}

}  // namespace faultline
