// Interfaces of the job's hosts that do not carry packets of one length.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "rules/detect/parts/facts.h"
#include "rules/detect/placed.h"
#include "rules/knowledge/ground_names.h"

namespace faultline {
namespace {

constexpr int kLargeProbe = 1500;

struct Told {
  std::string host;
  std::string interface;
  std::string mtu;
  const NetworkPort* port = nullptr;
  const LineRef* line = nullptr;
};

std::string first_number(const std::string& text) {
  return text.substr(0, text.find_first_not_of("0123456789"));
}

// Interfaces over which the job's ranks talk, by their own lines.
std::set<std::string> interfaces_used(const View& view) {
  std::set<std::string> used;
  const Setup& setup = view.job.setup();
  for (const Worker& worker : view.workers.all) {
    for (const char* network : {"Socket", "IB"})
      for (const std::string& device : view.job.addresses().devices_of(worker.process, network))
        used.insert(device.substr(0, device.find(':')));
    if (const ProcessSetup* process = setup.find(worker.process))
      for (const char* question : {"interface bootstrap", "interface oob"})
        if (const std::string* answer = setup.answer(*process, question))
          used.insert(answer->substr(0, answer->find(':')));
  }
  return used;
}

// An interface that is down carries nothing.
bool is_down(const PartFacts& facts, const PartRecord& record) {
  const PortWords& words = facts.view.catalog.conditions.ports;
  for (const PartSeries& series : record.values)
    if (matches_any(words.state, normalised_field(facts.parts().text(series.name))))
      return words.state_of(series.last().value) == "down";
  return false;
}

std::vector<Told> mtus(const PartFacts& facts, std::string_view kind, const NamePatterns& fields) {
  const PortWords& words = facts.view.catalog.conditions.ports;
  std::vector<Told> all;
  for (const NetworkPort& port : facts.ports.all()) {
    const std::string& interface = kind == "netdev" ? port.netdev : port.device;
    if (interface.empty() || owner_of_host(facts.view, port.host).owner == Owner::bystander)
      continue;
    if (!port.is_host_port() || matches_any(words.virtual_interfaces, interface)) continue;
    for (const PartRecord* record : port.records) {
      const bool is_netdev = record->kind == "netdev";
      if (is_netdev != (kind == "netdev") || is_down(facts, *record)) continue;
      for (const PartSeries& series : record->values) {
        if (!matches_any(fields, normalised_field(facts.parts().text(series.name)))) continue;
        const PartSample& last = series.last();
        all.push_back({port.host, interface, first_number(last.value), &port, last.line.get()});
      }
    }
  }
  return all;
}

// The value of more than half of the interfaces; empty: there is none.
std::string usual(const std::map<std::string, std::vector<const Told*>>& by_mtu,
                  std::size_t total) {
  for (const auto& [mtu, those] : by_mtu)
    if (those.size() * 2 > total) return mtu;
  return {};
}

Suspicion describe_mtu(const PartFacts& facts, const std::string& interface, bool used,
                       const std::map<std::string, std::vector<const Told*>>& by_mtu,
                       std::size_t total, std::string_view of) {
  const std::string most = usual(by_mtu, total);
  Suspicion suspicion;
  suspicion.verdict = used ? Verdict::failed : Verdict::slow;
  suspicion.job_ran_with_it = !used;
  Finding& finding = suspicion.finding;
  finding.cause = Cause::network_mtu_mismatch;
  finding.severity = used ? Severity::error : Severity::warning;
  suspicion.sure = used                         ? Claim::mtu_of_the_job
                   : tells_of_a_job(facts.view) ? Claim::mtu_elsewhere
                                                : Claim::mtu_alone;
  if (most.empty() && suspicion.sure.claim != Claim::mtu_alone)
    suspicion.sure.add(Ground::no_majority);
  std::vector<std::string> odd;
  std::vector<const NetworkPort*> ports;
  for (const auto& [mtu, those] : by_mtu) {
    std::set<std::string> hosts;
    for (const Told* told : those) {
      hosts.insert(told->host);
      if (mtu != most) ports.push_back(told->port);
      if (told == those.front()) {
        suspicion.since = told->line->time;
        add_line(facts.view, told->line, finding);
      }
    }
    if (mtu != most)
      odd.push_back(fmt::format("{} on {}", mtu, some_hosts({hosts.begin(), hosts.end()})));
  }
  finding.title = fmt::format("The {} of {} differs: {}{}", of, interface, fmt::join(odd, "; "),
                              most.empty() ? "" : fmt::format("; {} on the others", most));
  lay_on_ports(facts, ports, suspicion);
  finding.actions.push_back({.what =
                                 "Give the interface the same MTU on all hosts and on the switch "
                                 "ports between them, and probe the path.",
                             .command = "ip link; ping -c 3 -M do -s 8972 {peer}"});
  return suspicion;
}

void compare(const PartFacts& facts, const std::vector<Told>& all, std::string_view of,
             Suspicions& found) {
  const std::set<std::string> used = interfaces_used(facts.view);
  std::map<std::string, std::map<std::string, std::vector<const Told*>>> by_interface;
  std::map<std::string, std::set<std::string>> hosts;
  for (const Told& told : all) {
    by_interface[told.interface][told.mtu].push_back(&told);
    hosts[told.interface].insert(told.host);
  }
  for (const auto& [interface, by_mtu] : by_interface) {
    std::size_t total = 0;
    for (const auto& [mtu, those] : by_mtu) total += those.size();
    if (by_mtu.size() < 2 || hosts[interface].size() < 2) continue;
    found.push_back(describe_mtu(facts, interface, used.contains(interface), by_mtu, total, of));
  }
}

// --- Probes ------------------------------------------------------------------------------------

struct Probe {
  const PartSample* sample = nullptr;
  int bytes = 0;
  bool answered = false;
};

int count_in(const std::string& text) {
  int value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Another value from the same report.
const PartSample* beside(const PartSeries* series, const PartSample& sample) {
  if (series == nullptr) return nullptr;
  const auto found = std::ranges::find(series->samples, sample.line, &PartSample::line);
  return found == series->samples.end() ? nullptr : &*found;
}

// Each size that was tried, unless ping itself says why nothing arrived: that is another matter.
std::vector<Probe> probes_of(const PartFacts& facts, const PartRecord& record) {
  std::vector<Probe> probes;
  const PartSeries* bytes = facts.parts().find(record, "bytes");
  if (bytes == nullptr) return probes;
  for (const PartSample& sample : bytes->samples) {
    const PartSample* received = beside(facts.parts().find(record, "received"), sample);
    if (received == nullptr || beside(facts.parts().find(record, "error"), sample) != nullptr)
      continue;
    probes.push_back({&sample, count_in(sample.value), count_in(received->value) > 0});
  }
  return probes;
}

// Large packets are lost where small ones are answered: something on the way drops them silently.
void suspect_black_holes(const PartFacts& facts, Suspicions& found) {
  for (const PartRecord& record : facts.parts().records()) {
    if (record.tool != "ping") continue;
    const std::vector<Probe> probes = probes_of(facts, record);
    const auto lost = std::ranges::find_if(
        probes, [](const Probe& probe) { return probe.bytes >= kLargeProbe && !probe.answered; });
    const bool small_ones_arrive = std::ranges::any_of(
        probes, [](const Probe& probe) { return probe.bytes < kLargeProbe && probe.answered; });
    if (lost == probes.end() || !small_ones_arrive) continue;
    const std::string host = facts.view.job.host_of(record.spoken_host, record.source);
    Suspicion suspicion;
    suspicion.verdict = Verdict::failed;
    suspicion.since = lost->sample->line->time;
    Finding& finding = suspicion.finding;
    finding.cause = Cause::network_mtu_mismatch;
    finding.severity = Severity::error;
    suspicion.sure = Claim::mtu_black_hole;
    finding.title = fmt::format("Packets of {} bytes from {} to {} are lost, and small ones arrive",
                                lost->bytes, host.empty() ? "a host" : host, record.name("to"));
    add_line(facts.view, lost->sample->line.get(), finding);
    lay_on_host(facts.view, host, suspicion);
    finding.actions.push_back({.what = "Find the hop that drops them: a switch port whose MTU is "
                                       "smaller than that of the hosts.",
                               .where = host,
                               .command = "tracepath {peer}; ip link"});
    found.push_back(std::move(suspicion));
  }
}

}  // namespace

Suspicions suspect_mtu(const PartFacts& facts) {
  const PortWords& words = facts.view.catalog.conditions.ports;
  Suspicions found;
  compare(facts, mtus(facts, "netdev", words.mtu), "MTU", found);
  compare(facts, mtus(facts, "port", words.active_mtu), "active MTU", found);
  suspect_black_holes(facts, found);
  return found;
}

}  // namespace faultline
