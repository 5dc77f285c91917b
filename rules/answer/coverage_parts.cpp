#include "rules/answer/coverage_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "rules/detect/parts/facts.h"

namespace faultline {
namespace {

struct Covered {
  std::set<std::string> hosts;  // hosts of the job that have a report
  bool wrong = false;
  std::string remark;  // an addition to the detail
};

bool suspects(const Suspicions& suspicions, Cause cause) {
  return std::ranges::any_of(suspicions, [&](const Suspicion& suspicion) {
    return suspicion.finding.cause == cause && suspicion.finding.part_of_job &&
           suspicion.verdict != Verdict::healthy;
  });
}

Check check_of(std::string name, const Covered& covered, const std::set<std::string>& hosts,
               std::string command) {
  Check check{.check = std::move(name), .status = CheckStatus::unknown};
  if (covered.wrong)
    check.status = CheckStatus::fail;
  else if (!hosts.empty() && covered.hosts.size() == hosts.size() && covered.remark.empty())
    check.status = CheckStatus::pass;
  check.detail = fmt::format("reported for {} of {} hosts{}{}", covered.hosts.size(), hosts.size(),
                             covered.remark.empty() ? "" : "; ", covered.remark);
  if (check.status == CheckStatus::unknown) check.command = std::move(command);
  return check;
}

// Ports of the job's hosts: a counter says something only if it was read twice and was not full.
Covered ports_covered(const PartFacts& facts, const std::set<std::string>& hosts,
                      const Suspicions& suspicions) {
  Covered covered;
  std::size_t full = 0;
  std::set<std::string> read_twice;
  for (std::size_t i = 0; i < facts.ports.all().size(); ++i) {
    const NetworkPort& port = facts.ports.all()[i];
    if (!hosts.contains(port.host)) continue;
    covered.hosts.insert(port.host);
    for (const Movement& movement : facts.moved[i]) {
      if (movement.counter->of->finding == Cause::none) continue;
      if (movement.full_before)
        ++full;
      else
        read_twice.insert(port.host);
    }
  }
  for (const Cause cause :
       {Cause::network_link_down, Cause::network_link_errors, Cause::network_nic_failure})
    covered.wrong |= suspects(suspicions, cause);
  if (full > 0)
    covered.remark =
        fmt::format("{} counters were at their maximum: clear them and read them again", full);
  else if (!covered.hosts.empty() && read_twice.size() < covered.hosts.size())
    covered.remark = fmt::format("counters were read twice on only {}", read_twice.size());
  return covered;
}

Covered gpus_covered(const PartFacts& facts, const std::set<std::string>& hosts,
                     const Suspicions& suspicions) {
  static const NamePatterns kMemory{"eccerrors*",        "remappedrows*", "retiredpages*",
                                    "volatileuncorrecc", "dbecc",         "ecc/*",
                                    "eccblocks/*",       "rasinfo/*"};
  Covered covered;
  for (const GpuPart& gpu : facts.gpus) {
    if (!hosts.contains(gpu.host)) continue;
    for (const PartRecord* record : gpu.records)
      for (const PartSeries& series : record->values)
        if (matches_any(kMemory, normalised_field(facts.parts().text(series.name))))
          covered.hosts.insert(gpu.host);
  }
  for (const Cause cause : {Cause::gpu_ecc_uncorrectable, Cause::gpu_row_remap})
    covered.wrong |= suspects(suspicions, cause);
  return covered;
}

// Each vendor's GPUs are asked by its own tool.
std::string memory_command(const PartFacts& facts) {
  const bool amd = std::ranges::any_of(facts.parts().records(), [](const PartRecord& record) {
    return record.tool.starts_with("amd-smi") || record.tool == "rocm-smi";
  });
  return amd ? "amd-smi metric --ecc --ecc-blocks; amd-smi bad-pages"
             : "nvidia-smi -q -d ECC,ROW_REMAPPER,PAGE_RETIREMENT";
}

// Hosts with a record of this kind that holds one of these fields.
std::set<std::string> hosts_told(const PartFacts& facts, const std::set<std::string>& hosts,
                                 std::string_view kind, const NamePatterns& fields,
                                 std::string_view mount = {}) {
  std::set<std::string> told;
  for (const PartRecord& record : facts.parts().records()) {
    const std::string host = facts.view.job.host_of(record.spoken_host, record.source);
    if (record.kind != kind || !hosts.contains(host)) continue;
    if (!mount.empty() && record.name("mount") != mount) continue;
    if (std::ranges::any_of(record.values, [&](const PartSeries& series) {
          return matches_any(fields, normalised_field(facts.parts().text(series.name)));
        }))
      told.insert(host);
  }
  return told;
}

}  // namespace

std::vector<Check> checks_of_parts(const View& view) {
  const std::set<std::string>& hosts = view.hosts;
  if (hosts.empty()) return {};
  const PartFacts facts(view);
  Suspicions suspicions;
  for (Suspicions (*look)(const PartFacts&) :
       {suspect_port_states, suspect_counters, suspect_conditions, suspect_mtu})
    std::ranges::move(look(facts), std::back_inserter(suspicions));
  Covered mtu{.hosts = hosts_told(facts, hosts, "netdev", {"mtu"}),
              .wrong = suspects(suspicions, Cause::network_mtu_mismatch)};
  Covered shm{.hosts = hosts_told(facts, hosts, "host", {"use", "capacity"}, "/dev/shm"),
              .wrong = suspects(suspicions, Cause::host_shm_full)};
  return {check_of("InfiniBand ports of the job's hosts", ports_covered(facts, hosts, suspicions),
                   hosts, "ibstat; perfquery -x; sleep 600; perfquery -x"),
          check_of("GPU memory (ECC)", gpus_covered(facts, hosts, suspicions), hosts,
                   memory_command(facts)),
          check_of("MTU equal", mtu, hosts, "ip link"),
          check_of("shm", shm, hosts, "df -h /dev/shm")};
}

}  // namespace faultline
