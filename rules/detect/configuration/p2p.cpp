// How GPUs of one host reach each other.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "rules/detect/configuration/faults.h"
#include "rules/knowledge/ground_names.h"

namespace faultline {
namespace {

// Connections within one host.
struct Within {
  bool direct = false;            // P2P
  std::set<std::string> instead;  // SHM/direct, NET/IB
};

bool is_direct(std::string_view transport) {
  return transport.starts_with("P2P/") && !transport.starts_with("P2P/MNNVL");
}

bool is_shared_memory(std::string_view transport) {
  return transport.starts_with("SHM") || transport == "direct shared memory";
}

// The host of a rank of the crew's communicator.
std::map<int, std::string> hosts_by_rank(const Crew& crew) {
  std::map<int, std::string> hosts;
  for (const CrewMate& mate : crew.mates)
    if (mate.communicator != nullptr) hosts[mate.communicator->rank] = mate.process->host;
  return hosts;
}

Within within(const View& view, const Crew& crew, const Mates& mates, const std::string& host,
              const std::map<int, std::string>& host_of_rank) {
  const Setup& setup = view.job.setup();
  Within found;
  for (std::size_t i : mates) {
    const CrewMate& mate = crew.mates[i];
    for (const CommunicatorSetup& communicator : mate.process->communicators)
      for (const Link& link : communicator.links) {
        const std::string& transport = setup.text(link.transport);
        if (is_direct(transport)) found.direct = true;
        if (is_shared_memory(transport)) found.instead.insert(transport);
        // Only for the crew's own communicator is it known which rank is on which host.
        if (transport.starts_with("NET/") && &communicator == mate.communicator &&
            std::ranges::any_of(link.peers, [&](int peer) {
              const auto known = host_of_rank.find(peer);
              return known != host_of_rank.end() && known->second == host;
            }))
          found.instead.insert(transport);
      }
  }
  return found;
}

void add_link_line(const View& view, const std::string& host, const std::string& transport,
                   Suspicion& suspicion) {
  for (Direction direction : {Direction::both, Direction::send, Direction::receive})
    for (bool gdr : {false, true})
      if (const auto* said = view.job.setup().line_of_link(host, transport, direction, gdr))
        return add_setting_line(view, said, suspicion);
}

}  // namespace

std::vector<Suspicion> find_p2p_disabled(const View& view, const Crew& crew) {
  const std::map<int, std::string> host_of_rank = hosts_by_rank(crew);
  Mates without;
  std::size_t hosts_with = 0;
  std::size_t hosts_without = 0;
  std::set<std::string> instead;
  for (const auto& [host, mates] : crew.by_host) {
    const Within found = within(view, crew, mates, host, host_of_rank);
    if (found.direct) {
      ++hosts_with;
    } else if (!found.instead.empty() && tells_connections(crew, host)) {
      ++hosts_without;
      without.insert(without.end(), mates.begin(), mates.end());
      instead.insert(found.instead.begin(), found.instead.end());
    }
  }
  if (hosts_with == 0 || hosts_without == 0) return {};
  std::ranges::sort(without);
  const bool minority = hosts_without < hosts_with;
  Suspicion suspicion =
      configuration_fault(Cause::config_p2p_disabled, Severity::warning, Claim::config_p2p);
  if (!minority) suspicion.sure.add(Ground::as_many_lack_it);
  Finding& finding = suspicion.finding;
  finding.subject = hosts_of(crew, without);
  finding.title = fmt::format(
      "GPUs of {} reach each other through {}, and those of its peers directly (NVLink or PCIe)",
      people_of(view, crew, without), fmt::join(instead, " and "));
  for (const std::string& host : finding.subject.hosts)
    for (const std::string& transport : instead) add_link_line(view, host, transport, suspicion);
  return {suspicion};
}

}  // namespace faultline
