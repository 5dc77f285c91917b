// What the ranks talk through: the NICs they found, the network they chose, how it reaches the GPU.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "rules/detect/configuration/faults.h"
#include "rules/detect/parts/facts.h"
#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/prose.h"

namespace faultline {
namespace {

std::string_view without_net(std::string_view transport) {
  return transport.starts_with("NET/") ? transport.substr(4) : std::string_view();
}

// Networks of the mate's connections: "IB", "Socket", "IBext_v8". Those of all its communicators.
std::set<std::string> networks_connected(const Setup& setup, const ProcessSetup& process) {
  std::set<std::string> networks;
  for (const CommunicatorSetup& communicator : process.communicators)
    for (const Link& link : communicator.links)
      if (const auto net = without_net(setup.text(link.transport)); !net.empty())
        networks.emplace(net);
  return networks;
}

// The networks that count for a process: those of its connections, else the one that it chose.
std::set<std::string> networks_of(const View& view, const CrewMate& mate) {
  const Setup& setup = view.job.setup();
  std::set<std::string> networks = networks_connected(setup, *mate.process);
  if (networks.empty())
    if (const std::string* used = setup.answer(*mate.process, "network used");
        used != nullptr && !used->empty())
      networks.insert(*used);
  return networks;
}

bool uses_sockets(const View& view, const CrewMate& mate) {
  const std::set<std::string> networks = networks_of(view, mate);
  return networks.size() == 1 && networks.contains("Socket");
}

bool uses_rdma(const View& view, const CrewMate& mate) {
  const std::set<std::string> networks = networks_of(view, mate);
  return !networks.empty() && !networks.contains("Socket");
}

bool meant_rdma(const View& view, const CrewMate& mate) {
  const Setup& setup = view.job.setup();
  const std::string* hca = setup.answer(*mate.process, "environment NCCL_IB_HCA");
  const std::string* net = setup.answer(*mate.process, "environment NCCL_NET");
  return (hca != nullptr && !hca->empty() && !hca->starts_with('^')) ||
         (net != nullptr && *net == "IB");
}

// Socket was asked for by name: this is no fallback.
bool meant_sockets(const View& view, const CrewMate& mate) {
  const Setup& setup = view.job.setup();
  const std::string* net = setup.answer(*mate.process, "environment NCCL_NET");
  const std::string* disabled = setup.answer(*mate.process, "environment NCCL_IB_DISABLE");
  return (net != nullptr && (*net == "Socket" || *net == "socket" || *net == "SOCKET")) ||
         (disabled != nullptr && *disabled == "1");
}

bool has_rdma_devices(const View& view, const CrewMate& mate) {
  return !view.job.addresses().devices_of(mate.process->process).empty();
}

void add_network_lines(const View& view, const CrewMate& mate, Suspicion& suspicion) {
  const Setup& setup = view.job.setup();
  const std::string& host = mate.process->host;
  for (const std::string& network : networks_of(view, mate)) {
    add_setting_line(view, setup.line_of_answer(host, "network used", network), suspicion);
    for (Direction direction : {Direction::send, Direction::receive})
      for (bool gdr : {false, true})
        add_setting_line(view, setup.line_of_link(host, "NET/" + network, direction, gdr),
                         suspicion);
  }
}

Mates mates_with(const Crew& crew, bool (*is)(const View&, const CrewMate&), const View& view) {
  Mates mates;
  for (std::size_t i = 0; i < crew.mates.size(); ++i)
    if (is(view, crew.mates[i])) mates.push_back(i);
  return mates;
}

// Some of the crew fell back and others did not.
Suspicion partial_fallback(const View& view, const Crew& crew, const Mates& on_sockets,
                           const Mates& on_rdma) {
  const bool minority = on_sockets.size() < on_rdma.size();
  Suspicion suspicion =
      configuration_fault(Cause::config_network_fallback, Severity::warning, Claim::config_network);
  if (!minority) suspicion.sure.add(Ground::as_many_lack_it);
  Finding& finding = suspicion.finding;
  finding.subject = hosts_of(crew, on_sockets);
  const CrewMate& odd = crew.mates[on_sockets.front()];
  const CrewMate& peer = crew.mates[on_rdma.front()];
  const std::set<std::string> networks = networks_of(view, peer);
  finding.title = fmt::format("NCCL runs over sockets on {}, and over {} on its peers",
                              people_of(view, crew, on_sockets), *networks.rbegin());
  const Setup& setup = view.job.setup();
  const std::string* found = setup.answer(*odd.process, "devices IB");
  if (found != nullptr && found->empty()) finding.title += ": no RDMA device was found there";
  add_network_lines(view, odd, suspicion);
  if (found != nullptr)
    add_setting_line(view, setup.line_of_answer(odd.process->host, "devices IB", *found),
                     suspicion);
  add_network_lines(view, peer, suspicion);
  return suspicion;
}

// The whole crew fell back, although it was meant otherwise.
Suspicion general_fallback(const View& view, const Crew& crew, const Mates& meant) {
  Suspicion suspicion =
      configuration_fault(Cause::config_network_fallback, Severity::warning, Claim::config_meant);
  Finding& finding = suspicion.finding;
  const Setup& setup = view.job.setup();
  const CrewMate& one = crew.mates[meant.front()];
  finding.subject = hosts_of(crew, meant);
  finding.title =
      fmt::format("NCCL runs over sockets between {} hosts, although ", crew.by_host.size());
  if (has_rdma_devices(view, one)) {
    finding.title += fmt::format("it found RDMA devices ({})",
                                 view.job.addresses().devices_of(one.process->process).front());
    if (const std::string* found = setup.answer(*one.process, "devices IB"))
      add_setting_line(view, setup.line_of_answer(one.process->host, "devices IB", *found),
                       suspicion);
  } else {
    const bool by_hca = setup.answer(*one.process, "environment NCCL_IB_HCA") != nullptr;
    const std::string question = by_hca ? "environment NCCL_IB_HCA" : "environment NCCL_NET";
    const std::string& value = *setup.answer(*one.process, question);
    finding.title += fmt::format("{} is {}", by_hca ? "NCCL_IB_HCA" : "NCCL_NET", value);
    add_setting_line(view, setup.line_of_answer(one.process->host, question, value), suspicion);
  }
  add_network_lines(view, one, suspicion);
  return suspicion;
}

// A setting makes the whole crew use sockets, while ports that RDMA could use are up on its hosts.
std::vector<Suspicion> idle_rdma(const View& view, const Crew& crew, const Mates& on_sockets) {
  const Setup& setup = view.job.setup();
  std::map<std::string, FastPort> up;  // by host
  for (FastPort& port : fast_ports_up(view)) up.try_emplace(port.host, std::move(port));
  Mates idle;
  std::set<std::string> hosts;
  for (const std::size_t i : on_sockets)
    if (const CrewMate& mate = crew.mates[i];
        meant_sockets(view, mate) && up.contains(mate.process->host)) {
      idle.push_back(i);
      hosts.insert(mate.process->host);
    }
  if (hosts.size() < 2) return {};  // its peers may have none
  Suspicion suspicion =
      configuration_fault(Cause::config_network_fallback, Severity::warning, Claim::config_meant);
  Finding& finding = suspicion.finding;
  const CrewMate& one = crew.mates[idle.front()];
  const FastPort& port = up[one.process->host];
  const std::string* disabled = setup.answer(*one.process, "environment NCCL_IB_DISABLE");
  const std::string question =
      disabled != nullptr ? "environment NCCL_IB_DISABLE" : "environment NCCL_NET";
  const std::string& value = *setup.answer(*one.process, question);
  finding.subject = hosts_of(crew, idle);
  finding.title = fmt::format(
      "NCCL runs over sockets between {} hosts because {} is {}, although RDMA ports are up there "
      "({}{}{})",
      crew.by_host.size(), question.substr(question.find(' ') + 1), value, port.label,
      port.rate.empty() ? "" : ": ", port.rate);
  add_setting_line(view, setup.line_of_answer(one.process->host, question, value), suspicion);
  add_line(view, port.line, finding);
  add_network_lines(view, one, suspicion);
  return {std::move(suspicion)};
}

// How the RDMA connections of one host reach its GPUs, in one direction.
struct Reach {
  bool direct = false;
  bool staged = false;
};

Reach reach_of(const View& view, const Crew& crew, const Mates& mates, Direction direction) {
  const Setup& setup = view.job.setup();
  Reach reach;
  for (std::size_t i : mates)
    for (const CommunicatorSetup& communicator : crew.mates[i].process->communicators)
      for (const Link& link : communicator.links) {
        const auto net = without_net(setup.text(link.transport));
        if (net.empty() || net == "Socket" || link.direction != direction) continue;
        reach.direct |= link.gdr;
        reach.staged |= !link.gdr;
      }
  return reach;
}

void add_staged_line(const View& view, const Crew& crew, const std::string& host,
                     Direction direction, bool gdr, Suspicion& suspicion) {
  const Setup& setup = view.job.setup();
  const auto on_host = crew.all_processes->find(host);
  if (on_host == crew.all_processes->end()) return;
  for (const ProcessSetup* process : on_host->second)
    for (const CommunicatorSetup& communicator : process->communicators)
      for (const Link& link : communicator.links) {
        const std::string& transport = setup.text(link.transport);
        if (link.direction != direction || link.gdr != gdr || !transport.starts_with("NET/"))
          continue;
        add_setting_line(view, setup.line_of_link(host, transport, direction, gdr), suspicion);
        return;
      }
}

// Whether no NIC of the host can reach its GPUs, as NCCL says before it connects anything.
bool refuses_gdr(const Setup& setup, const ProcessSetup& process, bool& tells) {
  bool refuses = true;
  for (const AnswerGiven& answer : process.answers) {
    if (!setup.text(answer.question).starts_with("gdr ")) continue;
    tells = true;
    refuses &= setup.text(answer.value) == "disabled";
  }
  return refuses;
}

std::vector<Suspicion> gdr_refused(const View& view, const Crew& crew) {
  const Setup& setup = view.job.setup();
  std::vector<Unit> units;
  for (const auto& [host, mates] : crew.by_host) {
    bool tells = false;
    bool refuses = true;
    for (std::size_t i : mates) refuses &= refuses_gdr(setup, *crew.mates[i].process, tells);
    if (tells) units.push_back({refuses ? "disabled" : "enabled", mates});
  }
  const Division division = divide(units);
  Mates refusing;
  for (const Unit& unit : units)
    if (unit.said == "disabled")
      refusing.insert(refusing.end(), unit.mates.begin(), unit.mates.end());
  if (division.odd.empty()) return {};
  Suspicion suspicion =
      configuration_fault(Cause::config_gdr_disabled, Severity::warning, Claim::config_network);
  if (division.doubt) suspicion.sure.add(Ground::as_many_lack_it);
  Finding& finding = suspicion.finding;
  finding.subject = hosts_of(crew, refusing);
  finding.title = fmt::format("GPUDirect RDMA is disabled on {}, and enabled on its peers",
                              people_of(view, crew, refusing));
  for (std::size_t i : refusing)
    for (const AnswerGiven& answer : crew.mates[i].process->answers)
      if (const std::string& question = setup.text(answer.question); question.starts_with("gdr "))
        add_setting_line(view,
                         setup.line_of_answer(crew.mates[i].process->host, question, "disabled"),
                         suspicion);
  return {suspicion};
}

std::set<std::string> device_names(const std::string& list) {
  std::set<std::string> names;
  std::size_t begin = 0;
  while (begin < list.size()) {
    const std::size_t end = std::min(list.find(' ', begin), list.size());
    if (end > begin) names.insert(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

// Of two halves, the one with fewer NICs is taken to have lost some.
void blame_who_has_fewer(const std::vector<Unit>& by_count, Division& counts) {
  std::map<int, Mates> halves;
  for (const Unit& unit : by_count) {
    Mates& mates = halves[std::stoi(unit.said)];
    mates.insert(mates.end(), unit.mates.begin(), unit.mates.end());
  }
  if (!counts.everybody || halves.size() != 2) return;
  counts.reference = std::to_string(halves.rbegin()->first);
  counts.odd = halves.begin()->second;
  counts.doubt = Ground::two_halves_one_lost;
  counts.everybody = false;
  std::ranges::sort(counts.odd);
}

}  // namespace

std::vector<Suspicion> find_network_fallback(const View& view, const Crew& crew) {
  if (!crew.several_hosts()) return {};
  const Mates on_sockets = mates_with(crew, uses_sockets, view);
  if (on_sockets.empty()) return {};
  const Mates on_rdma = mates_with(crew, uses_rdma, view);
  if (!on_rdma.empty()) return {partial_fallback(view, crew, on_sockets, on_rdma)};
  Mates meant;
  for (std::size_t i : on_sockets) {
    const CrewMate& mate = crew.mates[i];
    if (!meant_sockets(view, mate) && (meant_rdma(view, mate) || has_rdma_devices(view, mate)))
      meant.push_back(i);
  }
  if (meant.empty()) return idle_rdma(view, crew, on_sockets);
  return {general_fallback(view, crew, meant)};
}

std::vector<Suspicion> find_gdr_disabled(const View& view, const Crew& crew) {
  if (!crew.several_hosts()) return {};
  // Sending and receiving are judged apart: reading GPU memory is often off while writing it is on.
  for (Direction direction : {Direction::receive, Direction::send}) {
    std::vector<Unit> units;
    for (const auto& [host, mates] : crew.by_host) {
      const Reach reach = reach_of(view, crew, mates, direction);
      if (reach.direct || (reach.staged && tells_connections(crew, host)))
        units.push_back({reach.direct ? "direct" : "staged", mates});
    }
    Mates staged;
    std::size_t staged_hosts = 0;
    for (const Unit& unit : units)
      if (unit.said == "staged") {
        staged.insert(staged.end(), unit.mates.begin(), unit.mates.end());
        ++staged_hosts;
      }
    if (staged_hosts == 0 || staged_hosts == units.size()) continue;
    std::ranges::sort(staged);
    Suspicion suspicion =
        configuration_fault(Cause::config_gdr_disabled, Severity::warning, Claim::config_network);
    if (2 * staged_hosts >= units.size()) suspicion.sure.add(Ground::as_many_lack_it);
    Finding& finding = suspicion.finding;
    finding.subject = hosts_of(crew, staged);
    finding.title = fmt::format(
        "RDMA goes through the host's memory on {}, and straight to the GPUs on its peers",
        people_of(view, crew, staged));
    for (const std::string& host : finding.subject.hosts)
      add_staged_line(view, crew, host, direction, false, suspicion);
    for (const auto& [host, mates] : crew.by_host)
      if (!std::ranges::binary_search(finding.subject.hosts, host)) {
        add_staged_line(view, crew, host, direction, true, suspicion);
        break;
      }
    return {suspicion};
  }
  return gdr_refused(view, crew);
}

std::vector<Suspicion> find_differing_devices(const View& view, const Crew& crew) {
  const Setup& setup = view.job.setup();
  std::vector<Unit> by_count;
  std::vector<Unit> by_names;
  std::map<std::string, std::string> lists;  // by host
  for (const auto& [host, mates] : crew.by_host) {
    std::set<std::string> said;
    Mates tell;
    for (std::size_t i : mates)
      if (const std::string* list = setup.answer(*crew.mates[i].process, "devices IB");
          list != nullptr && !is_cut(*list)) {
        said.insert(*list);
        tell.push_back(i);
      }
    // If each process has NICs of its own, their names say nothing about the host.
    if (said.size() != 1) continue;
    // A host without any device is a matter of the network, not of this list.
    if (said.begin()->empty() || uses_sockets(view, crew.mates[tell.front()])) continue;
    const std::set<std::string> names = device_names(*said.begin());
    by_count.push_back({std::to_string(names.size()), tell});
    by_names.push_back({fmt::format("{}", fmt::join(names, " ")), tell});
    lists[host] = *said.begin();
  }
  Division counts = divide(by_count);
  blame_who_has_fewer(by_count, counts);
  const Division names = divide(by_names);
  const bool differ_in_count = !counts.odd.empty();
  const Division& division = differ_in_count ? counts : names;
  if (division.odd.empty()) return {};
  if (division.everybody && by_count.size() > 2) return {};  // each host has its own
  Suspicion suspicion = configuration_fault(
      Cause::config_environment_mismatch, differ_in_count ? Severity::warning : Severity::info,
      differ_in_count ? Claim::config_nic_missing : Claim::config_names_differ);
  suspicion.sure.add(division.doubt);
  Finding& finding = suspicion.finding;
  finding.subject = subject_of(view, crew, division.odd);
  const std::string& odd_host = finding.subject.hosts.front();
  finding.title =
      differ_in_count
          ? fmt::format("NCCL uses {} on {}", counted(device_names(lists[odd_host]).size(), "NIC"),
                        people_of(view, crew, division.odd))
          : fmt::format("NCCL uses other NICs on {} ({})", people_of(view, crew, division.odd),
                        lists[odd_host]);
  if (!division.everybody)
    finding.title += differ_in_count ? fmt::format(", {} on its peers", division.reference)
                                     : fmt::format(" than on its peers ({})", division.reference);
  else if (differ_in_count)
    finding.title += ", which differ in number";
  for (const std::string& host : finding.subject.hosts)
    add_setting_line(view, setup.line_of_answer(host, "devices IB", lists[host]), suspicion);
  for (const auto& [host, list] : lists)
    if (!std::ranges::binary_search(finding.subject.hosts, host)) {
      add_setting_line(view, setup.line_of_answer(host, "devices IB", list), suspicion);
      break;
    }
  return {suspicion};
}

}  // namespace faultline
