#include "rules/detect/parts/port_fleet.h"

#include <fmt/format.h>

namespace faultline {

double RateCounts::Most::if_higher(double than, std::size_t least) const {
  return rate > than && count >= least ? rate : 0;
}

void RateCounts::add(double rate) {
  std::size_t& count = counts_[rate];
  by_count_.erase({count, rate});
  by_count_.emplace(++count, rate);
  ++all_;
}

RateCounts::Most RateCounts::most_without(const RateCounts& apart) const {
  const std::size_t all = all_ - apart.all_;
  const auto is_of_most = [&](std::size_t count) { return count > 0 && count * 4 >= all * 3; };
  for (const auto& [count, rate] : by_count_) {
    if (!is_of_most(count)) break;
    const auto known = apart.counts_.find(rate);
    const std::size_t left = count - (known == apart.counts_.end() ? 0 : known->second);
    if (is_of_most(left)) return {rate, left};
  }
  return {};
}

void PortFleet::RatesByHost::add(const std::string& host, double rate) {
  all.add(rate);
  on[host].add(rate);
}

void PortFleet::RatesByHost::look_elsewhere() {
  for (const auto& [host, rates] : on) elsewhere[host] = all.most_without(rates);
}

RateCounts::Most PortFleet::RatesByHost::most_elsewhere(const std::string& host) const {
  const auto known = elsewhere.find(host);
  return known == elsewhere.end() ? all.most_without({}) : known->second;
}

PortFleet::PortFleet(const PartFacts& facts, const std::vector<PortState>& states,
                     std::string_view kind)
    : facts_(facts), kind_(kind) {
  list_nics();
  std::map<std::string, bool> of_job;
  for (const PortState& state : states) {
    const auto [host, is_new] = of_job.try_emplace(state.port->host);
    if (is_new) host->second = owner_of_host(facts.view, host->first).part_of_job();
    count_state(state, host->second);
    count_rate(state, host->second);
  }
  for (auto& [device, rates] : of_device_) rates.look_elsewhere();
  for (auto& [name, rates] : of_name_and_type_) rates.look_elsewhere();
}

std::string PortFleet::name_of(const NetworkPort& port) const {
  return kind_ == "netdev" ? port.netdev : fmt::format("{} {}", port.device, port.port);
}

void PortFleet::list_nics() {
  const Workers& workers = facts_.view.workers;
  // Nearly all processes of a host have the same list.
  std::set<std::pair<std::string, const std::vector<std::string>*>> seen;
  for (const auto* by_host : {&workers.by_host, &workers.by_sender_host})
    for (const auto& [host, unused] : *by_host)
      for (const std::size_t index : workers.on(host)) {
        const auto& nics = facts_.view.job.addresses().devices_of(workers.all[index].process);
        if (!seen.emplace(host, &nics).second) continue;
        for (const std::string& nic : nics) {
          const std::size_t colon = nic.find(':');
          listed_[{host, nic.substr(0, colon)}].insert(
              colon == std::string::npos ? std::string() : nic.substr(colon + 1));
        }
      }
}

void PortFleet::count_state(const PortState& state, bool of_job) {
  if (state.state.empty()) return;
  const std::string& host = state.port->host;
  const auto add_to = [&](UpAndDown& counts) { ++(state.is_active() ? counts.up : counts.down); };
  if (state.is_active())
    hosts_up_.insert(host);
  else if (!state.physical.empty() && state.physical != kDisabled)
    trying_.emplace(host, state.type, state.is_ethernet);
  add_to(beside_[{host, state.type}]);
  if (!of_job) return;
  StatesByHost& of_name = of_name_[name_of(*state.port)];
  add_to(of_name.all);
  add_to(of_name.on[host]);
}

void PortFleet::count_rate(const PortState& state, bool of_job) {
  if (!state.is_active() || state.rate <= 0) return;
  const NetworkPort& port = *state.port;
  if (!state.type.empty()) of_type_[state.type].add(state.rate);
  if (port.device.empty()) return;
  if (state.type.empty()) of_device_[port.device].add(port.host, state.rate);
  if (of_job) of_name_and_type_[{name_of(port), state.type}].add(port.host, state.rate);
}

bool PortFleet::is_used_by_job(const NetworkPort& port) const {
  if (port.device.empty()) return !facts_.ranks_at(port).empty();
  const auto listed = listed_.find({port.host, port.device});
  if (listed == listed_.end()) return false;
  return port.port.empty() || listed->second.contains("") || listed->second.contains(port.port);
}

UpAndDown PortFleet::beside(const PortState& state) const {
  if (state.type.empty()) return {};
  UpAndDown others = beside_.at({state.port->host, state.type});
  --(state.is_active() ? others.up : others.down);
  return others;
}

UpAndDown PortFleet::elsewhere(const PortState& state) const {
  const auto of_name = of_name_.find(name_of(*state.port));
  if (of_name == of_name_.end()) return {};
  UpAndDown counts = of_name->second.all;
  const auto here = of_name->second.on.find(state.port->host);
  if (here == of_name->second.on.end()) return counts;
  counts.up -= here->second.up;
  counts.down -= here->second.down;
  return counts;
}

double PortFleet::rate_of_siblings(const PortState& state) const {
  constexpr std::size_t kLeast = 2;
  if (state.type.empty()) {
    const auto of_device = of_device_.find(state.port->device);
    return of_device == of_device_.end()
               ? 0
               : of_device->second.most_elsewhere(state.port->host).if_higher(state.rate, kLeast);
  }
  RateCounts itself;
  itself.add(state.rate);
  return of_type_.at(state.type).most_without(itself).if_higher(state.rate, kLeast);
}

Elsewhere PortFleet::rate_elsewhere(const PortState& state) const {
  const std::string& host = state.port->host;
  const auto known = of_name_and_type_.find({name_of(*state.port), state.type});
  if (state.port->device.empty() || known == of_name_and_type_.end()) return {};
  const RatesByHost& rates = known->second;
  return {rates.most_elsewhere(host).if_higher(state.rate, 1),
          rates.on.size() - rates.on.count(host)};
}

}  // namespace faultline
