// Reports of tools on parts, in a few words, and jobs to combine them with.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "job.h"
#include "seconds.h"

namespace faultline {

using Named = std::vector<NamedValue>;

inline constexpr int kHour = 3600;

inline PartReport ibstat(const std::string& device, const std::string& lid, const std::string& guid,
                         const std::string& state = "Active",
                         const std::string& physical = "LinkUp", const std::string& rate = "400") {
  return {.tool = "ibstat",
          .kind = "port",
          .names = {{"device", device},
                    {"node_guid", guid},
                    {"port", "1"},
                    {"lid", lid},
                    {"guid", guid}},
          .values = {{"CA type", "MT4129"},
                     {"State", state},
                     {"Physical state", physical},
                     {"Rate", rate},
                     {"Link layer", "InfiniBand"}}};
}

inline PartReport perfquery(const std::string& lid, const Named& values,
                            const std::string& tool = "perfquery") {
  return {.tool = tool, .kind = "port", .names = {{"lid", lid}, {"port", "1"}}, .values = values};
}

inline PartReport counters_of(const std::string& device, const Named& values,
                              const std::string& tool = "sysfs") {
  return {
      .tool = tool, .kind = "port", .names = {{"device", device}, {"port", "1"}}, .values = values};
}

// A port of a switch, and the port that it is cabled to.
inline PartReport cable(const std::string& port, const std::string& guid, const std::string& host,
                        const std::string& device, const Named& values = {}) {
  return {.tool = "iblinkinfo",
          .kind = "link",
          .names = {{"node", "MF0;leaf01:MQM9700/U1"},
                    {"guid", "0xb83fd2030011e000"},
                    {"port", port},
                    {"peer_guid", guid},
                    {"peer_port", "1"},
                    {"peer_node", host + " " + device},
                    {"peer_host", host},
                    {"peer_device", device}},
          .values = values.empty() ? Named{{"state", "Active"}, {"phys_state", "LinkUp"}} : values};
}

inline PartReport switch_port(const std::string& port, const Named& values) {
  return {
      .tool = "ibqueryerrors",
      .kind = "port",
      .names = {{"node", "MF0;leaf01:MQM9700/U1"}, {"guid", "0xb83fd2030011e000"}, {"port", port}},
      .values = values};
}

inline PartReport gpu(const std::string& pci, const Named& values,
                      const std::string& tool = "nvidia-smi-q") {
  return {.tool = tool, .kind = "gpu", .names = {{"pci", pci}}, .values = values};
}

// Every rank entered the last call, and none came out of it.
inline Job stalled_job() {
  Job job;
  job.join_all(16);
  job.call(ranks(0, 16), all_reduce(), 100);
  for (int rank = 0; rank < 16; ++rank) {
    Signature done = all_reduce();
    done.done = true;
    job.call_once(rank, done, "world", 98);
  }
  return job;
}

inline const Finding* find(const std::vector<Finding>& findings, std::string_view cause) {
  const auto found = std::ranges::find(findings, cause_named(cause), &Finding::cause);
  return found == findings.end() ? nullptr : &*found;
}

inline PartReport netdev(const std::string& name, const std::string& mtu,
                         const std::string& state = "UP") {
  return {.tool = "ip-link",
          .kind = "netdev",
          .names = {{"netdev", name}},
          .values = {{"mtu", mtu}, {"state", state}}};
}

}  // namespace faultline
