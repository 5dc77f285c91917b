#include "rules/picture/read/xid_bursts.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

namespace faultline {
namespace {

constexpr std::int64_t kSecondUs = 1'000'000;
constexpr std::int64_t kSilenceUs = 180 * kSecondUs;  // the same as in rules/state/hardware.cpp
constexpr std::int64_t kRootWindowUs = 5 * kSecondUs;

constexpr int kStoppedProcessing = 43;
constexpr int kRecoveryAction = 154;

// A dying GPU often times out first.
constexpr std::array kTimeouts{8, 46, 74, 109, 119, 120, 175};
constexpr std::array kLosses{48, 62, 79, 95, 140, 167};

template <class Codes>
bool among(const Codes& codes, int code) {
  return std::ranges::find(codes, code) != codes.end();
}

std::optional<std::int64_t> gap_us(const ReadXid& from, const ReadXid& to) {
  const bool one_clock =
      from.incident->source == to.incident->source && from.incident->boot == to.incident->boot;
  if (one_clock && from.last.uptime_us && to.first.uptime_us)
    return *to.first.uptime_us - *from.last.uptime_us;
  if (from.last.wall_us && to.first.wall_us) return *to.first.wall_us - *from.last.wall_us;
  return std::nullopt;
}

// nullopt if it is not known.
std::optional<std::int64_t> from_start(const ReadXid& from, const ReadXid& to) {
  ReadXid start = from;
  start.last = from.first;
  return gap_us(start, to);
}

bool continues(const ReadXid& before, const ReadXid& next) {
  const XidIncident& a = *before.incident;
  const XidIncident& b = *next.incident;
  if (a.source == b.source) return a.boot == b.boot && a.burst == b.burst;
  const std::optional<std::int64_t> gap = gap_us(before, next);
  return !gap || *gap <= kSilenceUs;
}

bool is_consequence(const ReadXid& xid) {
  return xid.reading.cause == Cause::none || xid.reading.cause == Cause::gpu_teardown ||
         (xid.incident->caused_by && !xid.inferred);
}

// If several could be the root: the worst of those that came within seconds of the first.
std::size_t root_of(const std::vector<ReadXid>& xids) {
  std::size_t first = SIZE_MAX;
  std::size_t root = SIZE_MAX;
  for (std::size_t i = 0; i < xids.size(); ++i) {
    if (is_consequence(xids[i])) continue;
    if (first == SIZE_MAX) first = root = i;
    const bool soon = from_start(xids[first], xids[i]).value_or(0) <= kRootWindowUs;
    const bool ends_a_timeout =
        among(kTimeouts, xids[root].incident->code) && among(kLosses, xids[i].incident->code);
    if ((soon || ends_a_timeout) &&
        class_of(xids[i].reading.cause).tier < class_of(xids[root].reading.cause).tier)
      root = i;
  }
  return root;
}

void conclude(GpuBurst& burst) {
  // A program that ends leaves an Xid 43. Alone, it is the program's fault; after another Xid, it
  // is not.
  for (std::size_t i = 1; i < burst.xids.size(); ++i)
    if (burst.xids[i].incident->code == kStoppedProcessing &&
        std::any_of(burst.xids.begin(), burst.xids.begin() + static_cast<std::ptrdiff_t>(i),
                    [](const ReadXid& x) { return !is_consequence(x); }))
      burst.xids[i].reading.cause = Cause::gpu_teardown;
  burst.root = root_of(burst.xids);
  if (burst.has_root()) {
    burst.since = burst.xids[burst.root].first;
    for (std::size_t i = 0; i < burst.root; ++i)
      if (!is_consequence(burst.xids[i])) {
        burst.since = burst.xids[i].first;
        break;
      }
  }
  for (const ReadXid& xid : burst.xids) {
    if (xid.incident->code != kRecoveryAction || xid.incident->details.empty()) continue;
    burst.recovery = words_of(kRecoveryAction, xid.incident->details.back()).recovery;
    burst.recovery_action = xid.reading.action;
    burst.recovery_told = xid.incident;
  }
}

// Of several texts of one code, the worst counts; of Xid 154, the last.
XidReading read(const Catalog& catalog, const XidMeaning& meaning, const XidIncident& incident) {
  if (incident.details.empty()) return read_xid(catalog, meaning, {});
  XidReading worst = read_xid(catalog, meaning, incident.details.front());
  for (const std::string& detail : incident.details) {
    XidReading reading = read_xid(catalog, meaning, detail);
    if (meaning.code == kRecoveryAction || reading.severity > worst.severity ||
        (worst.echo && !reading.echo) || (worst.says.empty() && !reading.says.empty()))
      worst = std::move(reading);
  }
  return worst;
}

void sort(std::vector<ReadXid>& xids) {
  const bool dated =
      std::ranges::all_of(xids, [](const ReadXid& xid) { return xid.first.wall_us.has_value(); });
  const bool one_source = std::ranges::all_of(xids, [&](const ReadXid& xid) {
    return xid.incident->source == xids.front().incident->source;
  });
  // Within one source, the order of its lines is the best.
  if (dated && !one_source)
    std::ranges::stable_sort(xids, {}, [](const ReadXid& xid) { return *xid.first.wall_us; });
}

// "caused by previous Xid 31" without a line of Xid 31: that line was lost.
void add_inferred(const View& view, std::vector<ReadXid>& xids) {
  for (std::size_t i = 0; i < xids.size(); ++i) {
    const std::optional<int> cause = xids[i].incident->caused_by;
    if (!cause || xids[i].inferred) continue;
    if (std::ranges::any_of(xids, [&](const ReadXid& x) { return x.meaning->code == *cause; }))
      continue;
    const XidMeaning* meaning = view.catalog.xid(*cause);
    if (meaning == nullptr) continue;
    ReadXid inferred = xids[i];
    inferred.meaning = meaning;
    inferred.reading = read_xid(view.catalog, *meaning, {});
    inferred.inferred = true;
    xids.insert(xids.begin() + static_cast<std::ptrdiff_t>(i), std::move(inferred));
    ++i;
  }
}

}  // namespace

std::vector<GpuBurst> gpu_bursts(const View& view) {
  std::map<std::tuple<std::string, std::string>, std::vector<ReadXid>> by_gpu;
  for (const XidIncident& incident : view.job.hardware().xids()) {
    const XidMeaning* meaning = view.catalog.xid(incident.code);
    if (meaning == nullptr) continue;
    by_gpu[{view.job.host_of(incident.spoken_host, incident.source), incident.gpu}].push_back(
        {.incident = &incident,
         .meaning = meaning,
         .reading = read(view.catalog, *meaning, incident),
         .first = view.job.dated(incident.first),
         .last = view.job.dated(incident.last)});
  }
  std::vector<GpuBurst> bursts;
  for (auto& [gpu, xids] : by_gpu) {
    sort(xids);
    std::vector<GpuBurst> of_gpu;
    for (ReadXid& xid : xids) {
      if (of_gpu.empty() || !continues(of_gpu.back().xids.back(), xid))
        of_gpu.push_back({.host = std::get<0>(gpu), .gpu = std::get<1>(gpu)});
      of_gpu.back().xids.push_back(std::move(xid));
    }
    for (GpuBurst& burst : of_gpu) {
      add_inferred(view, burst.xids);
      conclude(burst);
      bursts.push_back(std::move(burst));
    }
  }
  return bursts;
}

}  // namespace faultline
