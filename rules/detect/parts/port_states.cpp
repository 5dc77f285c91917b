// Ports that are not up, slower than their siblings, or missing. A port that is down on every host
// is not cabled; one that is down where its siblings are up has lost something.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "rules/detect/detector.h"
#include "rules/detect/parts/port_fleet.h"
#include "rules/detect/placed.h"
#include "rules/knowledge/advice.h"
#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/prose.h"

namespace faultline {
namespace {

constexpr std::size_t kLeastSiblings = 3;

bool is_later(const LineRef& a, const LineRef& b) {
  return order_of(a.time, b.time, true) != Order::before;
}

LastSaid latest(const PartFacts& facts, const NetworkPort& port, std::string_view kind,
                const NamePatterns& fields) {
  LastSaid reading;
  for (const PartRecord* record : port.records) {
    const bool of_kind = kind == "netdev" ? record->kind == "netdev" : record->kind != "netdev";
    if (!of_kind) continue;
    for (const PartSeries& series : record->values) {
      if (!matches_any(fields, normalised_field(facts.parts().text(series.name)))) continue;
      const PartSample& last = series.last();
      if (!reading.known() || is_later(*last.line, *reading.line))
        reading = {last.value, last.line.get()};
    }
  }
  return reading;
}

double rate_in(const std::string& text) {
  double rate = 0;
  std::from_chars(text.data(), text.data() + text.size(), rate);
  return rate;
}

PortState state_of(const PartFacts& facts, const NetworkPort& port, std::string_view kind) {
  const PortWords& words = facts.view.catalog.conditions.ports;
  PortState state{.port = &port};
  const LastSaid logical = latest(facts, port, kind, words.state);
  const LastSaid physical = latest(facts, port, kind, words.physical);
  const LastSaid rate = latest(facts, port, kind, words.rate);
  state.could_be = latest(facts, port, kind, words.could_be);
  state.type = latest(facts, port, kind, words.type).value;
  const LastSaid layer = latest(facts, port, kind, words.layer);
  state.is_ethernet = normalised_field(layer.value) == "ethernet";
  state.line = logical.line;
  state.state = words.state_of(logical.value);
  state.physical = words.state_of(physical.value);
  state.said =
      physical.known() ? fmt::format("{}, {}", logical.value, physical.value) : logical.value;
  state.rate = rate_in(rate.value);
  state.rate_line = rate.line;
  return state;
}

// Whether somebody asked a tool about this port.
bool was_asked_about(const PartFacts& facts, const NetworkPort& port) {
  const auto& tools = facts.view.catalog.conditions.ports.asked_by;
  return port.device.empty() && std::ranges::any_of(port.records, [&](const PartRecord* record) {
           return tools.contains(record->tool);
         });
}

std::vector<PortState> states_of(const PartFacts& facts, std::string_view kind) {
  std::vector<PortState> states;
  for (const NetworkPort& port : facts.ports.all()) {
    const bool on_a_host = port.is_host_port() || (!port.device.empty() && port.node.empty());
    if (!on_a_host && !was_asked_about(facts, port) && facts.ranks_at(port).empty()) continue;
    if (PortState state = state_of(facts, port, kind); !state.state.empty() || state.rate > 0)
      states.push_back(std::move(state));
  }
  return states;
}

bool is_virtual(const PartFacts& facts, const NetworkPort& port) {
  return !port.netdev.empty() && port.device.empty() &&
         matches_any(facts.view.catalog.conditions.ports.virtual_interfaces, port.netdev);
}

// Why the port should be up; nullopt: it may well be unused.
std::optional<Claim> expectation(const PartFacts& facts, const PortFleet& fleet,
                                 const PortState& state, std::string_view kind, bool is_only_one) {
  if (fleet.is_used_by_job(*state.port)) return Claim::port_of_the_job_down;
  const UpAndDown elsewhere = fleet.elsewhere(state);
  if (elsewhere.up > elsewhere.down) return Claim::port_up_elsewhere;
  // Many interfaces are unused, but whoever asks a tool about RDMA ports uses them.
  const bool of_no_job = kind == "port" && !tells_of_a_job(facts.view);
  // Whoever lists all ports of a switch asks about none of them in particular.
  if (of_no_job && was_asked_about(facts, *state.port))
    return is_only_one ? Claim::port_asked_about : Claim::port_perhaps_unused;
  if (of_no_job && state.physical == kDisabled && fleet.any_tries_beside(state))
    return Claim::port_perhaps_unused;
  if (!fleet.any_up_on(state.port->host) && of_no_job) return Claim::port_none_up;
  const UpAndDown beside = fleet.beside(state);
  if (elsewhere.up + elsewhere.down == 0 && beside.down == 0 && beside.up >= kLeastSiblings)
    return Claim::port_up_beside;
  if (of_no_job) return Claim::port_perhaps_unused;
  return std::nullopt;
}

// Its link is up (else `physical` has a word for it). A subnet manager makes a port active.
bool waits_for_manager(const PortState& state) {
  return (state.state == "initialize" || state.state == "armed") && state.physical.empty();
}

std::string why_down(const PortState& state) {
  if (state.state == "initialize") return "its cable is fine, but no subnet manager has set it up";
  if (state.state == "armed") return "the subnet manager has not finished setting it up";
  if (state.physical == "polling") return "nothing answers at the other end of its cable";
  // An Ethernet port also says so if nothing is plugged in.
  if (state.physical == kDisabled) return state.is_ethernet ? "" : "it was switched off";
  if (state.physical == "training") return "it cannot agree with the other end";
  return {};
}

Suspicion describe_down(const PartFacts& facts, const PortState& state, Claim claim) {
  Suspicion suspicion;
  suspicion.verdict = claim != Claim::port_up_beside ? Verdict::failed : Verdict::slow;
  suspicion.since = state.line->time;
  Finding& finding = suspicion.finding;
  finding.cause = Cause::network_link_down;
  finding.severity = claim != Claim::port_up_beside ? Severity::critical : Severity::warning;
  suspicion.sure = claim;
  finding.title = fmt::format("{} is not up ({})", state.port->label_and_place(), state.said);
  if (const std::string why = why_down(state); !why.empty()) finding.title += ": " + why;
  add_line(facts.view, state.line, finding);
  lay_on_ports(facts, {state.port}, suspicion);
  if (const std::set<int>& there = facts.ranks_at(*state.port); !there.empty()) {
    finding.part_of_job = true;
    Owners owners(facts.view, finding.subject);
    for (const int rank : there) owners.add_rank(rank);
    owners.done();
  }
  if (facts.view.phases.is_before(state.line->time)) {
    finding.part_of_job = false;
    finding.title += ", before the job began";
  } else if (claim == Claim::port_perhaps_unused) {
    finding.part_of_job = false;
    finding.title += "; it may be unused";
  }
  return suspicion;
}

const std::vector<Action>& actions_of(const PartFacts& facts, std::string_view name) {
  static const std::vector<Action> kNone;
  const auto& classes = facts.view.catalog.counters->classes();
  const auto found = classes.find(name);
  return found == classes.end() ? kNone : found->second.actions;
}

// The same trouble on many ports is one trouble of the fabric.
void join_alike(std::vector<Suspicion>&& alike, std::string_view what, Suspicions& found) {
  if (alike.size() <= kMostAlike) {
    std::ranges::move(alike, std::back_inserter(found));
    return;
  }
  Suspicion all = std::move(alike.front());
  std::set<std::string> hosts(all.finding.subject.hosts.begin(), all.finding.subject.hosts.end());
  std::set<int> ranks(all.finding.subject.ranks.begin(), all.finding.subject.ranks.end());
  for (std::size_t i = 1; i < alike.size(); ++i) {
    const Subject& subject = alike[i].finding.subject;
    hosts.insert(subject.hosts.begin(), subject.hosts.end());
    ranks.insert(subject.ranks.begin(), subject.ranks.end());
    all.finding.subject.nics.insert(all.finding.subject.nics.end(), subject.nics.begin(),
                                    subject.nics.end());
  }
  all.finding.subject.hosts.assign(hosts.begin(), hosts.end());
  all.finding.subject.ranks.assign(ranks.begin(), ranks.end());
  all.finding.count = alike.size();
  all.finding.title += fmt::format("; and {} other ports {}", alike.size() - 1, what);
  found.push_back(std::move(all));
}

void suspect_down(const PartFacts& facts, const std::vector<PortState>& states,
                  const PortFleet& fleet, std::string_view kind, Suspicions& found) {
  std::map<std::string, std::vector<Suspicion>> by_trouble;
  const auto initialising =
      std::ranges::count_if(states, [](const PortState& s) { return s.state == "initialize"; });
  for (const PortState& state : states) {
    if (state.state.empty() || state.is_active() || is_virtual(facts, *state.port)) continue;
    std::optional<Claim> claim = expectation(facts, fleet, state, kind, states.size() == 1);
    // A cable that is fine leads somewhere: the port is meant to be used. If several ports are like
    // that, their subnet manager is missing.
    if (state.state == "initialize" && claim != Claim::port_of_the_job_down &&
        claim != Claim::port_up_elsewhere)
      claim = initialising > 1 ? Claim::port_up_elsewhere : Claim::port_starting;
    if (!claim) continue;
    Suspicion suspicion = describe_down(facts, state, *claim);
    add_actions(actions_of(facts, waits_for_manager(state) ? "not_set_up" : "link_down"),
                state.port->host, suspicion.finding);
    by_trouble[state.state + state.physical].push_back(std::move(suspicion));
  }
  for (auto& [trouble, alike] : by_trouble) join_alike(std::move(alike), "are like it", found);
}

Suspicion describe_slow(const PartFacts& facts, const NetworkPort& port, const LineRef* line,
                        std::string title, Claim claim) {
  Suspicion suspicion;
  suspicion.verdict = Verdict::slow;
  suspicion.job_ran_with_it = true;
  suspicion.since = line->time;
  Finding& finding = suspicion.finding;
  finding.cause = Cause::network_link_errors;
  finding.severity = Severity::warning;
  suspicion.sure = claim;
  finding.title = std::move(title);
  add_line(facts.view, line, finding);
  std::vector<const NetworkPort*> ports{&port};
  if (!port.is_host_port() && port.peer != kNoPort && facts.ports.all()[port.peer].is_host_port())
    ports = {&facts.ports.all()[port.peer], &port};
  lay_on_ports(facts, ports, suspicion);
  add_actions(actions_of(facts, "physical"),
              finding.subject.hosts.size() == 1 ? finding.subject.hosts.front() : "", finding);
  return suspicion;
}

// If all ports of a host are slow, the reason is common to them: what they are plugged into, or how
// the host is set up.
Suspicion describe_slow_host(const PartFacts& facts, const std::vector<const PortState*>& slow,
                             const Elsewhere& elsewhere) {
  const PortState& first = *slow.front();
  Suspicion suspicion = describe_slow(
      facts, *first.port, first.rate_line,
      fmt::format("All {} ports of {} run at {} Gb/s, and those of the job's other hosts at {}",
                  slow.size(), first.port->host, first.rate, elsewhere.rate),
      elsewhere.hosts > 1 ? Claim::port_slower_than_siblings : Claim::port_slower_than_one);
  suspicion.finding.count = slow.size();
  for (std::size_t i = 1; i < slow.size(); ++i)
    suspicion.finding.subject.nics.push_back(slow[i]->port->label());
  return suspicion;
}

// Looks for hosts whose active ports all run at one rate that is lower than elsewhere; returns
// them.
std::set<std::string> suspect_slow_hosts(const PartFacts& facts,
                                         const std::vector<PortState>& states,
                                         const PortFleet& fleet, Suspicions& found) {
  std::map<std::string, std::vector<const PortState*>> active;
  for (const PortState& state : states)
    if (state.is_active() && state.rate > 0 && state.rate_line != nullptr)
      active[state.port->host].push_back(&state);
  std::set<std::string> slow_hosts;
  std::vector<Suspicion> slow;
  for (const auto& [host, ports] : active) {
    if (ports.size() < 2) continue;
    Elsewhere elsewhere;
    const bool all = std::ranges::all_of(ports, [&](const PortState* port) {
      elsewhere = fleet.rate_elsewhere(*port);
      return elsewhere.rate > 0 && port->rate == ports.front()->rate;
    });
    if (!all) continue;
    slow_hosts.insert(host);
    slow.push_back(describe_slow_host(facts, ports, elsewhere));
  }
  join_alike(std::move(slow), "are like it", found);
  return slow_hosts;
}

void suspect_slow(const PartFacts& facts, const std::vector<PortState>& states,
                  const PortFleet& fleet, Suspicions& found) {
  const std::set<std::string> slow_hosts = suspect_slow_hosts(facts, states, fleet, found);
  std::vector<Suspicion> slow;
  for (const PortState& state : states) {
    if (!state.is_active() || state.rate <= 0 || state.rate_line == nullptr ||
        slow_hosts.contains(state.port->host))
      continue;
    const double siblings = fleet.rate_of_siblings(state);
    const Elsewhere elsewhere = fleet.rate_elsewhere(state);
    if (siblings == 0 && elsewhere.rate == 0) continue;
    slow.push_back(
        describe_slow(facts, *state.port, state.rate_line,
                      siblings > 0 ? fmt::format("{} runs at {} Gb/s, and its siblings at {}",
                                                 state.port->label(), state.rate, siblings)
                                   : fmt::format("{} runs at {} Gb/s, and on other hosts at {}",
                                                 state.port->label(), state.rate, elsewhere.rate),
                      siblings > 0 || elsewhere.hosts > 1 ? Claim::port_slower_than_siblings
                                                          : Claim::port_slower_than_one));
  }
  join_alike(std::move(slow), "are like it", found);
}

// The last of the catalog's speeds, which are in ascending order, that the text names.
std::size_t fastest_in(const std::vector<std::string>& speeds, std::string_view text) {
  std::size_t fastest = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" ,()-/"), text.size());
    const auto speed = std::ranges::find(speeds, CountersCatalog::normalised(text.substr(0, end)));
    if (speed != speeds.end())
      fastest = std::max(fastest, static_cast<std::size_t>(speed - speeds.begin()) + 1);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return fastest;
}

// mlxlink says which speeds the port may use and which its cable can carry.
void suspect_below_supported(const PartFacts& facts, const std::vector<PortState>& states,
                             Suspicions& found) {
  const PortWords& words = facts.view.catalog.conditions.ports;
  std::vector<Suspicion> slow;
  for (const PortState& state : states) {
    if (!state.is_active()) continue;
    const LastSaid now = latest(facts, *state.port, "port", words.speed);
    const LastSaid port = latest(facts, *state.port, "port", words.enabled_speeds);
    const LastSaid cable = latest(facts, *state.port, "port", words.cable_speeds);
    if (!now.known() || !port.known() || !cable.known()) continue;
    const std::size_t runs_at = fastest_in(words.speeds, now.value);
    const std::size_t could =
        std::min(fastest_in(words.speeds, port.value), fastest_in(words.speeds, cable.value));
    if (runs_at == 0 || could <= runs_at) continue;
    slow.push_back(
        describe_slow(facts, *state.port, now.line,
                      fmt::format("{} runs at {}, and both it and its cable can do {}",
                                  state.port->label(), now.value, words.speeds[could - 1]),
                      Claim::port_slower_than_supported));
  }
  join_alike(std::move(slow), "are like it", found);
}

// iblinkinfo says itself which links could be faster; it prints each from both ends.
void suspect_could_be(const PartFacts& facts, Suspicions& found) {
  const PortWords& words = facts.view.catalog.conditions.ports;
  std::set<const NetworkPort*> told;
  std::vector<Suspicion> slow;
  for (const NetworkPort& port : facts.ports.all()) {
    const LastSaid could_be = latest(facts, port, "link", words.could_be);
    if (!could_be.known() || told.contains(&port)) continue;
    if (words.state_of(latest(facts, port, "link", words.state).value) != "active") continue;
    told.insert(&port);
    if (port.peer != kNoPort) told.insert(&facts.ports.all()[port.peer]);
    const std::string other =
        port.peer == kNoPort ? "" : fmt::format(" to {}", facts.ports.all()[port.peer].label());
    slow.push_back(describe_slow(facts, port, could_be.line,
                                 fmt::format("The link of {}{} is slower than both ends allow: "
                                             "it could be {}",
                                             port.label(), other, could_be.value),
                                 Claim::port_could_be_faster));
  }
  join_alike(std::move(slow), "are like it", found);
}

void suspect_recovering(const PartFacts& facts, const std::vector<PortState>& states,
                        Suspicions& found) {
  for (const PortState& state : states) {
    if (state.physical != "recovering" || state.line == nullptr) continue;
    Suspicion suspicion = describe_slow(
        facts, *state.port, state.line,
        fmt::format("{} was seen recovering its link ({})", state.port->label(), state.said),
        Claim::port_recovering);
    suspicion.finding.severity = Severity::error;
    suspicion.job_ran_with_it = false;
    found.push_back(std::move(suspicion));
  }
}

// IP over InfiniBand is set up apart from the port below it, which may be fine. Then RDMA works,
// and sockets do not.
void suspect_interfaces(const PartFacts& facts, Suspicions& found) {
  const PortWords& words = facts.view.catalog.conditions.ports;
  std::map<std::string, std::vector<PortState>> by_host;
  for (PortState& state : states_of(facts, "netdev")) {
    const LastSaid type = latest(facts, *state.port, "netdev", words.interface_type);
    if (!state.state.empty() && words.infiniband.contains(CountersCatalog::normalised(type.value)))
      by_host[state.port->host].push_back(std::move(state));
  }
  for (const auto& [host, interfaces] : by_host) {
    const auto up = std::ranges::count_if(interfaces, &PortState::is_active);
    for (const PortState& state : interfaces) {
      if (state.is_active() || up * 2 <= std::ssize(interfaces)) continue;
      const PortState below = state_of(facts, *state.port, "port");
      if (!below.is_active()) continue;  // then the port itself is reported
      Suspicion suspicion;
      suspicion.verdict = Verdict::slow;
      suspicion.since = state.line->time;
      suspicion.job_ran_with_it = true;
      Finding& finding = suspicion.finding;
      finding.cause = Cause::network_link_down;
      finding.severity = Severity::warning;
      suspicion.sure = Claim::port_interface_down;
      finding.title = fmt::format(
          "{} of {} is down ({}) though its port {}{} is active: RDMA works there, sockets do not",
          state.port->netdev, host_in_words(host), state.said, state.port->device,
          state.port->pci.empty() ? "" : " at " + state.port->pci);
      add_line(facts.view, state.line, finding);
      add_line(facts.view, below.line, finding);
      lay_on_ports(facts, {state.port}, suspicion);
      finding.actions.push_back(fill_in(
          {.what = "Bring the interface up, and see what its driver said when it went down.",
           .where = host,
           .command = "ip link set {netdev} up; ip addr show {netdev}; dmesg -T | grep {netdev}"},
          {.fields = {{"netdev", state.port->netdev}}}));
      found.push_back(std::move(suspicion));
    }
  }
}

// Devices that the job's other hosts list, and this one does not.
void suspect_missing(const PartFacts& facts, const std::vector<PortState>& states,
                     Suspicions& found) {
  std::map<std::string, std::map<std::string, const PortState*>> by_host;
  std::map<std::string, std::size_t> hosts_with;
  for (const PortState& state : states) {
    const NetworkPort& port = *state.port;
    if (port.device.empty() || owner_of_host(facts.view, port.host).owner != Owner::host) continue;
    if (by_host[port.host].emplace(port.device, &state).second) ++hosts_with[port.device];
  }
  if (by_host.size() < kLeastSiblings) return;
  std::erase_if(hosts_with, [&](const auto& one) { return one.second + 1 != by_host.size(); });
  for (const auto& [host, devices] : by_host) {
    std::vector<std::string> missing;
    for (const auto& [device, hosts] : hosts_with)
      if (!devices.contains(device)) missing.push_back(device);
    // Somebody may have asked for a single device.
    if (missing.empty() || missing.size() > devices.size()) continue;
    Suspicion suspicion;
    const LineRef* line = devices.begin()->second->line;
    suspicion.verdict = Verdict::failed;
    suspicion.job_ran_with_it = true;
    if (line != nullptr) suspicion.since = line->time;
    Finding& finding = suspicion.finding;
    finding.cause = Cause::network_nic_failure;
    finding.severity = Severity::error;
    suspicion.sure = Claim::port_not_listed;
    finding.title = fmt::format("{} of {} is not listed, though the job's other hosts have it",
                                fmt::join(missing, ", "), host);
    add_line(facts.view, line, finding);
    lay_on_host(facts.view, host, suspicion);
    for (const std::string& device : missing)
      finding.subject.nics.push_back(gpu_name(host, device));
    finding.actions.push_back(
        {.what = "See whether the device is on the bus, and what its driver "
                 "says.",
         .where = host,
         .command = "lspci | grep -i mellanox; dmesg -T | grep mlx5; ibstat"});
    found.push_back(std::move(suspicion));
  }
}

}  // namespace

std::vector<FastPort> fast_ports_up(const View& view) {
  constexpr double kFastEthernet = 100;  // Gbit/s
  if (view.job.parts().records().empty()) return {};
  const PartFacts facts(view);
  std::vector<FastPort> fast;
  for (const PortState& state : states_of(facts, "port")) {
    if (!state.is_active() || state.line == nullptr) continue;
    const LastSaid layer = latest(facts, *state.port, "port", view.catalog.conditions.ports.layer);
    if (normalised_field(layer.value) != "infiniband" && state.rate < kFastEthernet) continue;
    const LastSaid rate = latest(facts, *state.port, "port", view.catalog.conditions.ports.rate);
    fast.push_back({state.port->host, state.port->label(), rate.value, state.line});
  }
  return fast;
}

Suspicions suspect_port_states(const PartFacts& facts) {
  Suspicions found;
  const std::vector<PortState> ports = states_of(facts, "port");
  const PortFleet fleet(facts, ports, "port");
  suspect_down(facts, ports, fleet, "port", found);
  suspect_slow(facts, ports, fleet, found);
  suspect_recovering(facts, ports, found);
  suspect_missing(facts, ports, found);
  suspect_could_be(facts, found);
  suspect_below_supported(facts, ports, found);
  suspect_interfaces(facts, found);
  const std::vector<PortState> interfaces = states_of(facts, "netdev");
  suspect_down(facts, interfaces, PortFleet(facts, interfaces, "netdev"), "netdev", found);
  return found;
}

}  // namespace faultline
