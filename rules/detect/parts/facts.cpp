#include "rules/detect/parts/facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "rules/knowledge/ground_names.h"

namespace faultline {
namespace {

// The host on which a fault of the port is felt: its own, or the one at the other end.
std::string host_served(const PartFacts& facts, const NetworkPort& port) {
  if (!port.host.empty() || port.peer == kNoPort) return port.host;
  return facts.ports.all()[port.peer].host;
}

// "10.0.4.7" of "eth0:10.0.4.7<0>"
std::string_view address_in(std::string_view interface) {
  const std::size_t colon = interface.find(':');
  if (colon == std::string_view::npos) return {};
  interface.remove_prefix(colon + 1);
  return interface.substr(0, interface.find('<'));
}

std::map<std::string, std::set<int>, std::less<>> ranks_by_address_in(const View& view) {
  std::map<std::string, std::set<int>, std::less<>> ranks;
  for (const Worker& worker : view.workers.all) {
    const ProcessSetup* process = view.job.setup().find(worker.process);
    if (process == nullptr || worker.rank < 0) continue;
    for (const char* question : {"interface bootstrap", "interface oob"})
      if (const std::string* answer = view.job.setup().answer(*process, question))
        if (const std::string_view address = address_in(*answer); !address.empty())
          ranks[std::string(address)].insert(worker.rank);
  }
  return ranks;
}

}  // namespace

PartFacts::PartFacts(const View& the_view)
    : view(the_view),
      ports(the_view.job),
      gpus(gpus_of(the_view.job)),
      ranks_by_address(ranks_by_address_in(the_view)) {
  if (!ports.all().empty()) nic_users.emplace(view);
  for (const NetworkPort& port : ports.all())
    moved.push_back(movements_of(parts(), *view.catalog.counters, view.phases, port.records));
}

const std::set<int>& PartFacts::ranks_at(const NetworkPort& port) const {
  static const std::set<int> kNone;
  if (!port.device.empty() || ranks_by_address.empty()) return kNone;
  for (const PartRecord* record : port.records)
    if (const PartSeries* inet = parts().find(*record, "inet")) {
      const std::string_view address = inet->last().value;
      const auto known = ranks_by_address.find(address.substr(0, address.find('/')));
      if (known != ranks_by_address.end()) return known->second;
    }
  return kNone;
}

std::string some_hosts(const std::vector<std::string>& hosts) {
  constexpr std::size_t kMostNamed = 8;
  if (hosts.size() <= kMostNamed) return fmt::format("{}", fmt::join(hosts, ", "));
  return fmt::format("{} and {} more", fmt::join(hosts.begin(), hosts.begin() + kMostNamed, ", "),
                     hosts.size() - kMostNamed);
}

void lay_on_owner(const View& view, const Ownership& ownership, const std::string& host,
                  Suspicion& suspicion) {
  add_owner(view, ownership, host, suspicion.finding.subject);
  suspicion.sure.add(ownership.doubt);
  if (!ownership.part_of_job()) suspicion.finding.part_of_job = false;
}

void lay_on_host(const View& view, const std::string& host, Suspicion& suspicion) {
  lay_on_owner(view, owner_of_host(view, host), host, suspicion);
}

void lay_on_ports(const PartFacts& facts, const std::vector<const NetworkPort*>& ports,
                  Suspicion& suspicion) {
  Finding& finding = suspicion.finding;
  std::optional<Sureness> least_doubted;
  bool of_job = false;
  bool of_bystanders = false;
  Owners owners(facts.view, finding.subject);
  for (const NetworkPort* port : ports) {
    const std::string host = host_served(facts, *port);
    const bool switch_of_none = host.empty() && !port->is_host_port();
    Ownership ownership = owner_of_host(facts.view, host);
    if (port->is_host_port())
      ownership = owner_of_port(facts.view, *facts.nic_users, *port);
    else if (port->peer != kNoPort)
      ownership = owner_of_port(facts.view, *facts.nic_users, facts.ports.all()[port->peer]);
    of_job |= ownership.part_of_job();
    of_bystanders |= !ownership.part_of_job();
    owners.add(ownership, host);
    finding.subject.nics.push_back(port->label());
    Sureness here = suspicion.sure;
    here.add(ownership.doubt);
    if (port->by_lid_alone) here.add(Ground::host_by_lid);
    if (switch_of_none && !facts.view.workers.all.empty()) here.add(Ground::between_switches);
    const Grounds& grounds = facts.view.catalog.grounds;
    if (!least_doubted || grounds.log_odds(here) > grounds.log_odds(*least_doubted))
      least_doubted = std::move(here);
  }
  owners.done();
  if (least_doubted) suspicion.sure = std::move(*least_doubted);
  if (!of_job && of_bystanders) finding.part_of_job = false;
  std::ranges::sort(finding.subject.hosts);
}

void add_line(const View& view, const LineRef* line, Finding& finding) {
  if (line == nullptr || finding.evidence.size() >= kMostLines) return;
  Evidence evidence = view.evidence(*line);
  if (std::ranges::find(finding.evidence, evidence) == finding.evidence.end())
    finding.evidence.push_back(std::move(evidence));
  if (const auto time = line->time.wall())
    finding.last_seen = std::max(finding.last_seen.value_or(*time), *time);
}

void add_actions(const std::vector<Action>& actions, const std::string& host, Finding& finding) {
  for (Action action : actions) {
    if (action.where.empty()) action.where = host;
    finding.actions.push_back(std::move(action));
  }
}

}  // namespace faultline
