#include "rules/state/ports.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include "rules/state/joining.h"

namespace faultline {
namespace {

using Guids = std::set<std::string, std::less<>>;

// The names of one end in a report.
struct End {
  const PartRecord* record = nullptr;
  NetworkPort names;
  std::string node_guid;
  std::string where;  // the host on which the tool ran, else its source
  bool own = false;   // the end is on the machine where the tool ran
};

std::string named(const PartRecord& record, std::string_view prefix, std::string_view name) {
  return std::string(record.name(fmt::format("{}{}", prefix, name)));
}

bool is_network(const PartRecord& record) {
  return record.kind == "port" || record.kind == "netdev" || record.kind == "link" ||
         record.kind == "switch_port";
}

End end_of(const JobState& job, const PartRecord& record, std::string_view prefix) {
  End end{.record = &record};
  NetworkPort& names = end.names;
  names.device = named(record, prefix, "device");
  names.port = named(record, prefix, "port");
  names.netdev = named(record, prefix, "netdev");
  names.pci = named(record, prefix, "pci");
  names.guid = named(record, prefix, "guid");
  names.lid = named(record, prefix, "lid");
  names.node = named(record, prefix, "node");
  names.host = short_host(named(record, prefix, "host"));
  end.node_guid = named(record, prefix, "node_guid");
  const std::string ran_on = job.host_of(record.spoken_host, record.source);
  end.where = ran_on.empty() ? fmt::format("source {}", record.source) : ran_on;
  // A report about the fabric names a device only together with its host; without a host, the
  // device is the machine's own.
  const bool local = !names.device.empty() || !names.netdev.empty() || !names.pci.empty();
  end.own = names.host.empty() && prefix.empty() && local && !ran_on.empty();
  if (end.own) names.host = ran_on;
  return end;
}

bool is_all_ports(const End& end) { return end.names.port == "ALL" || end.names.port == "255"; }

// Virtual devices have GUIDs of zeros.
bool is_set(std::string_view guid) {
  return guid.find_first_not_of("0x:") != std::string_view::npos;
}

// GUIDs that two machines report as their own identify no port: one machine, or its report, is a
// copy of the other. Joining the ports would blame one for the fault of the other.
Guids guids_of_several_hosts(const JobState& job) {
  std::map<std::string, std::set<std::string>> hosts;
  for (const PartRecord& record : job.parts().records()) {
    if (!is_network(record)) continue;
    const End end = end_of(job, record, "");
    if (!end.own) continue;
    for (const std::string& guid : {end.names.guid, end.node_guid})
      if (is_set(guid)) hosts[guid].insert(end.names.host);
  }
  Guids several;
  for (const auto& [guid, named] : hosts)
    if (named.size() > 1) several.insert(guid);
  return several;
}

std::string port_or_first(const std::string& port) { return port.empty() ? "1" : port; }

// The keys under which other reports may know the end; empty: it has only a LID.
std::vector<std::string> keys_of(const End& end, const Guids& worthless) {
  const NetworkPort& names = end.names;
  // Machines without a name are distinguished by the source of their reports.
  const std::string host = names.host.empty() ? end.where : names.host;
  std::vector<std::string> keys;
  if (!names.device.empty() && !host.empty())
    keys.push_back(fmt::format("device {} {} {}", host, names.device, port_or_first(names.port)));
  if (!names.netdev.empty() && !host.empty())
    keys.push_back(fmt::format("netdev {} {}", host, names.netdev));
  if (!names.pci.empty() && !host.empty())
    keys.push_back(fmt::format("pci {} {}", host, names.pci));
  for (const std::string& guid : {names.guid, end.node_guid})
    if (is_set(guid) && !worthless.contains(guid) && !names.port.empty())
      keys.push_back(fmt::format("guid {} {}", guid, names.port));
  if (keys.empty() && !names.node.empty())
    keys.push_back(fmt::format("node {} {}", names.node, names.port));
  return keys;
}

void fill(std::string& into, const std::string& from) {
  if (into.empty()) into = from;
}

void add_end(NetworkPort& port, const End& end) {
  fill(port.host, end.names.host);
  fill(port.device, end.names.device);
  fill(port.port, end.names.port);
  fill(port.netdev, end.names.netdev);
  fill(port.pci, end.names.pci);
  fill(port.guid, end.names.guid);
  fill(port.node, end.names.node);
  if (!end.names.lid.empty()) port.lid = end.names.lid;
}

struct Ends {
  Guids worthless;
  std::vector<End> all;
  Joining joining;
  std::vector<std::pair<std::size_t, std::size_t>> cables;
  std::vector<std::size_t> with_lid;  // ends with a LID and other names
  std::vector<std::size_t> by_lid;    // ends with only a LID
};

std::size_t add(Ends& ends, End end) {
  const std::size_t index = ends.joining.add();
  const std::vector<std::string> keys = keys_of(end, ends.worthless);
  for (const std::string& key : keys) ends.joining.name(index, key);
  if (!end.names.lid.empty()) (keys.empty() ? ends.by_lid : ends.with_lid).push_back(index);
  ends.all.push_back(std::move(end));
  return index;
}

// The tool and the device of the end, without its port.
std::string device_of(const End& end) {
  const NetworkPort& names = end.names;
  for (const std::string* name : {&end.node_guid, &names.guid, &names.node})
    if (!name->empty()) return fmt::format("{} {}", end.record->tool, *name);
  return fmt::format("{} {} {}", end.record->tool, end.where, names.lid);
}

// Devices for which a tool reports each port.
std::set<std::string> told_by_port(const JobState& job) {
  std::set<std::string> devices;
  for (const PartRecord& record : job.parts().records())
    if (is_network(record))
      if (const End end = end_of(job, record, ""); !is_all_ports(end))
        devices.insert(device_of(end));
  return devices;
}

Ends ends_of(const JobState& job) {
  Ends ends{.worthless = guids_of_several_hosts(job)};
  const std::set<std::string> by_port = told_by_port(job);
  for (const PartRecord& record : job.parts().records()) {
    if (!is_network(record)) continue;
    End end = end_of(job, record, "");
    // The sum of all ports adds nothing if each port is reported; but it may be all there is.
    if (is_all_ports(end)) {
      if (by_port.contains(device_of(end))) continue;
      end.names.port.clear();
    }
    const std::size_t index = add(ends, std::move(end));
    End peer = end_of(job, record, "peer_");
    peer.record = nullptr;  // the values of a report belong to its first end
    if (keys_of(peer, ends.worthless).empty()) continue;
    ends.cables.emplace_back(index, add(ends, std::move(peer)));
  }
  return ends;
}

// The port that is meant, if there is only one.
struct Meant {
  std::optional<std::size_t> port;
  bool several = false;

  void add(std::size_t other) {
    several |= port && *port != other;
    port = other;
  }
  void add(const Meant& others) {
    if (others.port) add(*others.port);
    several |= others.several;
  }
};

// The ports that a LID may mean: those on the host of the report, if any has it; else all that have
// it.
class PortsWithLid {
 public:
  explicit PortsWithLid(Ends& ends) {
    for (const std::size_t index : ends.with_lid) {
      const NetworkPort& names = ends.all[index].names;
      const std::size_t port = ends.joining.root(index);
      for (const std::string& host : std::set{std::string(), names.host})
        for (const std::optional<std::string>& number : {std::optional(names.port), {}})
          known_[{names.lid, host, number}].add(port);
    }
  }

  Meant meant_by(const End& wanted) const {
    const Meant on_host = on(wanted.where, wanted);
    return on_host.port ? on_host : on("", wanted);
  }

 private:
  // LID, host (empty: any) and port number (nullopt: any).
  using Key = std::tuple<std::string, std::string, std::optional<std::string>>;

  Meant on(const std::string& host, const End& wanted) const {
    const NetworkPort& names = wanted.names;
    if (names.port.empty()) return find({names.lid, host, {}});
    Meant meant = find({names.lid, host, names.port});
    meant.add(find({names.lid, host, ""}));
    return meant;
  }

  Meant find(const Key& key) const {
    const auto known = known_.find(key);
    return known == known_.end() ? Meant{} : known->second;
  }

  std::map<Key, Meant> known_;
};

// Places ends that have only a LID: another report may show the port.
void settle_lids(const JobState& job, Ends& ends) {
  const PortsWithLid ports(ends);
  for (std::size_t index : ends.by_lid) {
    End& end = ends.all[index];
    const Meant meant = ports.meant_by(end);
    if (meant.port && !meant.several) {
      ends.joining.join(index, *meant.port);
      continue;
    }
    ends.joining.name(index, fmt::format("lid {} {} {}", end.where, end.names.lid, end.names.port));
    if (meant.several) continue;  // which one is not known
    end.names.host = job.host_of(end.record->spoken_host, end.record->source);
    end.names.by_lid_alone = true;
  }
}

std::string short_node(std::string_view node) {
  if (const std::size_t mark = node.find(';'); mark != std::string_view::npos)
    node.remove_prefix(mark + 1);
  return std::string(node.substr(0, node.find(':')));
}

}  // namespace

std::string NetworkPort::label() const {
  const std::string of = port.empty() ? std::string() : ":" + port;
  if (!host.empty()) {
    if (!device.empty()) return fmt::format("{}/{}{}", host, device, of);
    if (!netdev.empty()) return fmt::format("{}/{}", host, netdev);
    if (!pci.empty()) return fmt::format("{}/{}", host, pci);
    return fmt::format("{}/lid {}", host, lid);
  }
  const std::string number = port.empty() ? std::string() : " port " + port;
  if (!node.empty()) return fmt::format("switch {}{}", short_node(node), number);
  if (!device.empty()) return fmt::format("{}{} of an unknown host", device, of);
  if (!netdev.empty()) return fmt::format("{} of an unknown host", netdev);
  if (!guid.empty()) return fmt::format("GUID {}{}", guid, number);
  if (!lid.empty()) return fmt::format("LID {}{}", lid, number);
  if (!pci.empty()) return fmt::format("the NIC at {}", pci);
  return "an unnamed port";
}

std::string NetworkPort::label_and_place() const {
  std::string text = label();
  if (!pci.empty() && text.find(pci) == std::string::npos) text += " at " + pci;
  return text;
}

Ports::Ports(const JobState& job) {
  Ends ends = ends_of(job);
  settle_lids(job, ends);
  std::map<std::size_t, std::size_t> index_of;
  for (std::size_t i = 0; i < ends.all.size(); ++i) {
    const auto [at, is_new] = index_of.try_emplace(ends.joining.root(i), all_.size());
    if (is_new) all_.emplace_back();
    NetworkPort& port = all_[at->second];
    add_end(port, ends.all[i]);
    port.by_lid_alone |= ends.all[i].names.by_lid_alone;
    if (ends.all[i].record != nullptr) port.records.push_back(ends.all[i].record);
  }
  for (const auto& [a, b] : ends.cables) {
    const std::size_t one = index_of[ends.joining.root(a)];
    const std::size_t other = index_of[ends.joining.root(b)];
    if (one == other) continue;
    all_[one].peer = other;
    all_[other].peer = one;
    all_[one].cabling = all_[other].cabling = ends.all[a].record;
  }
  for (std::size_t i = 0; i < all_.size(); ++i) {
    by_host_[all_[i].host].push_back(i);
    if (all_[i].device.empty()) continue;
    by_device_.try_emplace({all_[i].host, all_[i].device, all_[i].port}, i);
    by_device_.try_emplace({all_[i].host, all_[i].device, std::nullopt}, i);
  }
}

const std::vector<std::size_t>& Ports::on(std::string_view host) const {
  static const std::vector<std::size_t> kNone;
  const auto known = by_host_.find(host);
  return known == by_host_.end() ? kNone : known->second;
}

const NetworkPort* Ports::find_by_device(std::string_view host, std::string_view device) const {
  const std::size_t colon = device.find(':');
  const auto first = [&](const std::optional<std::string>& port) {
    const auto known =
        by_device_.find({std::string(host), std::string(device.substr(0, colon)), port});
    return known == by_device_.end() ? kNoPort : known->second;
  };
  // A port without a number may be any port of its device.
  const std::size_t found = colon == std::string_view::npos
                                ? first(std::nullopt)
                                : std::min(first(""), first(std::string(device.substr(colon + 1))));
  return found == kNoPort ? nullptr : &all_[found];
}

}  // namespace faultline
