// The addresses of RoCE ports, as show_gids lists them, beside the index that NCCL was told to use:
// one that does not exist, or one of version 1, which no router carries.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "rules/detect/parts/facts.h"
#include "rules/knowledge/ground_names.h"

namespace faultline {
namespace {

constexpr std::string_view kQuestion = "environment NCCL_IB_GID_INDEX";

struct RocePort {
  const NetworkPort* port = nullptr;
  std::map<int, std::string> versions;  // v1, v2, by index
  const LineRef* line = nullptr;

  bool has(std::string_view version) const {
    return std::ranges::any_of(versions, [&](const auto& gid) { return gid.second == version; });
  }
};

std::optional<int> index_in(std::string_view text) {
  int index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  return error == std::errc() ? std::optional(index) : std::nullopt;
}

// GID[3]: 0000:…:0a00:0001, 10.0.0.1, v2. InfiniBand's addresses have no version.
RocePort roce_port(const PartFacts& facts, const NetworkPort& port) {
  RocePort roce{.port = &port};
  for (const PartRecord* record : port.records) {
    if (record->tool != "show_gids") continue;
    for (const PartSeries& series : record->values) {
      std::string_view name = facts.parts().text(series.name);
      const std::string& value = series.last().value;
      if (!name.starts_with("GID[")) continue;
      const auto index = index_in(name.substr(4));
      const std::string_view version = std::string_view(value).substr(value.rfind(' ') + 1);
      if (!index || (version != "v1" && version != "v2")) continue;
      roce.versions[*index] = version;
      roce.line = series.last().line.get();
    }
  }
  return roce;
}

// What the job's processes that list a device were told to use.
struct Told {
  std::optional<int> index;
};
using ToldOnHost = std::map<std::string, Told, std::less<>>;  // by device

ToldOnHost told_on(const View& view, const std::string& host) {
  ToldOnHost told;
  for (const std::size_t which : view.workers.on(host)) {
    const Worker& worker = view.workers.all[which];
    const ProcessSetup* setup = view.job.setup().find(worker.process);
    const std::string* answer =
        setup == nullptr ? nullptr : view.job.setup().answer(*setup, kQuestion);
    const std::optional<int> index = answer == nullptr ? std::nullopt : index_in(*answer);
    for (const std::string& nic : view.job.addresses().devices_of(worker.process)) {
      Told& of_device = told[nic.substr(0, nic.find(':'))];
      if (index && *index >= 0) of_device.index = index;  // -1: NCCL chooses
    }
  }
  return told;
}

Suspicion describe_gids(const PartFacts& facts, const RocePort& roce, Claim claim,
                        std::string title) {
  Suspicion suspicion;
  suspicion.verdict = Verdict::failed;
  suspicion.needs_effect = facts.view.got_to_work() || claim != Claim::gid_missing;
  suspicion.since = roce.line->time;
  Finding& finding = suspicion.finding;
  finding.cause = Cause::config_environment_mismatch;
  finding.severity = claim != Claim::gid_missing ? Severity::warning : Severity::error;
  suspicion.sure = claim;
  finding.title = std::move(title);
  add_line(facts.view, roce.line, finding);
  lay_on_ports(facts, {roce.port}, suspicion);
  finding.actions.push_back(
      {.what = "Use the index of the routable v2 address; newer NCCL finds it by itself if "
               "NCCL_IB_GID_INDEX is not set.",
       .where = roce.port->host,
       .command = "show_gids; env | grep NCCL_IB"});
  return suspicion;
}

}  // namespace

Suspicions suspect_gids(const PartFacts& facts) {
  Suspicions found;
  std::map<std::string, ToldOnHost> by_host;
  for (const NetworkPort& port : facts.ports.all()) {
    if (!port.is_host_port() || port.device.empty()) continue;
    const RocePort roce = roce_port(facts, port);
    if (roce.versions.empty()) continue;
    const auto [on_host, is_new] = by_host.try_emplace(port.host);
    if (is_new) on_host->second = told_on(facts.view, port.host);
    const auto of_device = on_host->second.find(port.device);
    if (of_device == on_host->second.end()) continue;
    const Told& told = of_device->second;
    if (!told.index) {
      if (!roce.has("v2"))
        found.push_back(describe_gids(
            facts, roce, Claim::gid_old_version,
            fmt::format("{} has only RoCE v1 addresses, which no router carries", port.label())));
      continue;
    }
    const auto gid = roce.versions.find(*told.index);
    if (gid == roce.versions.end())
      found.push_back(
          describe_gids(facts, roce, Claim::gid_missing,
                        fmt::format("NCCL_IB_GID_INDEX is {}, and {} has no address at that index",
                                    *told.index, port.label())));
    else if (gid->second == "v1")
      found.push_back(describe_gids(
          facts, roce, Claim::gid_old_version,
          fmt::format("NCCL_IB_GID_INDEX is {}, and at that index {} has a RoCE v1 address{}",
                      *told.index, port.label(),
                      roce.has("v2") ? "; it also has v2 addresses" : "")));
  }
  return found;
}

}  // namespace faultline
