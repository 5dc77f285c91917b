#include "rules/detect/remarks/connections.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rules/state/joining.h"

namespace faultline {
namespace {

// The NIC that each RDMA address (GID) belongs to, from lines that print their own address.
using Gids = std::map<std::string, End, std::less<>>;

Gids gids_of(const View& view, const std::vector<Sighting>& told) {
  Gids gids;
  for (const Sighting& sighting : told) {
    const std::string_view gid = sighting.field("local_gid");
    if (gid.empty() || sighting.host.empty()) continue;
    End& end = gids.try_emplace(std::string(gid), End{sighting.host, true, {}}).first->second;
    if (end.name != sighting.host) end = {};  // a link-local address, which every host has
    if (end.is_host && end.nic.empty()) end.nic = nic_of(view, sighting);
  }
  return gids;
}

// Hosts by address, where the address book does not know them: learned from lines that also give
// the peer's GID.
using Learnt = std::map<std::string, std::string, std::less<>>;

Learnt addresses_by_gid(const std::vector<Sighting>& told, const Gids& gids) {
  Learnt learnt;
  for (const Sighting& sighting : told) {
    const auto end = gids.find(sighting.field("remote_gid"));
    const std::string address = bare_address(sighting.field("peer"));
    if (end == gids.end() || !end->second.is_host || address.empty()) continue;
    const auto [known, is_new] = learnt.try_emplace(address, end->second.name);
    if (!is_new && known->second != end->second.name) known->second.clear();
  }
  return learnt;
}

// The one NIC through which a process reaches other hosts: "gpu-node-3/mlx5_1:1"; "" if it uses
// several, or no line says which.
std::string only_nic_of(const View& view, const ProcessKey& process, const std::string& host) {
  const ProcessSetup* setup = view.job.setup().find(process);
  if (setup == nullptr || host.empty()) return {};
  std::set<std::string> nics;
  for (const CommunicatorSetup& communicator : setup->communicators)
    for (const Link& link : communicator.links) {
      if (view.job.setup().text(link.transport) != "NET/IB") continue;
      for (int index = 0; index < 64; ++index)
        if ((link.devices >> index & 1) != 0)
          nics.insert(view.job.addresses().device_name(process, index));
    }
  if (nics.size() != 1 || nics.begin()->empty()) return {};
  return gpu_name(host, *nics.begin());
}

// The NICs at the far ends of connections.
class FarNics {
 public:
  explicit FarNics(const View& view) : view_(view) {
    for (std::size_t which = 0; which < view.communicators.size(); ++which)
      for (const std::size_t m : view.communicators[which].members) {
        const Member& member = view.member(m);
        Places& places = places_[member.process];
        if (places.empty() || places.back().communicator != which) places.push_back({which, m});
        if (member.init) on_host_[{which, member.host}].push_back(m);
      }
  }

  // If all connections of this process to that host use the same one.
  std::string of(const ProcessKey& process, const std::string& far_host) const {
    const ProcessSetup* setup = view_.job.setup().find(process);
    const auto places = places_.find(process);
    if (setup == nullptr || places == places_.end()) return {};
    std::set<std::string> nics;
    for (const Place& mine : places->second) {
      const auto known = std::ranges::find(setup->communicators, view_.member(mine.member).pointer,
                                           &CommunicatorSetup::communicator);
      const auto there = on_host_.find({mine.communicator, far_host});
      if (known == setup->communicators.end() || there == on_host_.end()) continue;
      for (const Link& link : known->links) {
        if (!view_.job.setup().text(link.transport).starts_with("NET/")) continue;
        for (const std::size_t m : there->second) {
          const Member& peer = view_.member(m);
          if (std::ranges::binary_search(link.peers, peer.init->rank))
            nics.insert(only_nic_of(view_, peer.process, far_host));
        }
      }
    }
    return nics.size() == 1 ? *nics.begin() : std::string();
  }

 private:
  struct Place {
    std::size_t communicator = 0;
    std::size_t member = 0;  // the first of the process there
  };
  using Places = std::vector<Place>;

  const View& view_;
  std::map<ProcessKey, Places> places_;
  std::map<std::pair<std::size_t, std::string>, std::vector<std::size_t>> on_host_;
};

class Reading {
 public:
  Reading(const View& view, const std::vector<Sighting>& told)
      : view_(view), gids_(gids_of(view, told)), learnt_(addresses_by_gid(told, gids_)) {
    for (const Worker& worker : view.workers.all) hosts_.insert(worker.host);
    for (const Sighting& sighting : told) hosts_.insert(sighting.host);
    hosts_.erase("");
  }

  Report read(const Sighting& sighting) {
    Report report{.sighting = &sighting, .near = {}, .far = far_end(sighting)};
    report.near = {sighting.host, true, nic_of(view_, sighting)};
    if (report.near.nic.empty() && is_of_rdma(sighting))
      report.near.nic = only_nic_of(view_, sighting.process->process, sighting.host);
    if (report.far.is_host && report.far.nic.empty() && is_of_rdma(sighting))
      report.far.nic = far_nic_of(sighting.process->process, report.far.name);
    if (sighting.host.empty())
      report.near = {view_.job.sources().at(sighting.process->source).source.name, false, {}};
    return report;
  }

 private:
  // Completions have a status; lines about sockets have none.
  static bool is_of_rdma(const Sighting& sighting) { return !sighting.field("status").empty(); }

  std::string far_nic_of(const ProcessKey& process, const std::string& far_host) {
    if (!far_nics_) far_nics_.emplace(view_);
    return far_nics_->of(process, far_host);
  }

  End far_end(const Sighting& sighting) const {
    const auto by_gid = gids_.find(sighting.field("remote_gid"));
    const std::string_view peer = sighting.field("peer");
    End end{host_named(peer), true, {}};
    if (by_gid != gids_.end() && by_gid->second.is_host) {
      if (end.name.empty()) end.name = by_gid->second.name;
      if (end.name == by_gid->second.name) end.nic = by_gid->second.nic;
    }
    if (!end.name.empty()) return end;
    const std::string address = bare_address(peer);
    return {address.empty() ? std::string(peer.substr(0, peer.find('<'))) : address, false, {}};
  }

  std::string host_named(std::string_view peer) const {
    if (std::string host = view_.job.addresses().host_of_address(peer); !host.empty()) return host;
    const std::string address = bare_address(peer);
    if (const auto known = learnt_.find(address); known != learnt_.end()) return known->second;
    const std::string name = address.empty() ? short_host(peer.substr(0, peer.find('<'))) : "";
    return hosts_.contains(name) ? name : std::string();
  }

  const View& view_;
  Gids gids_;
  Learnt learnt_;
  std::set<std::string> hosts_;
  std::optional<FarNics> far_nics_;  // made for the first that asks
};

}  // namespace

std::vector<Report> reports_of(const View& view, const SightingList& causes,
                               const std::vector<Sighting>& told) {
  Reading reading(view, told);
  std::vector<Report> reports;
  for (const Sighting* sighting : causes) reports.push_back(reading.read(*sighting));
  return reports;
}

std::vector<std::vector<Report>> connected(const std::vector<Report>& reports) {
  Joining joining;
  for (const Report& report : reports) {
    const std::size_t index = joining.add();
    joining.name(index, report.near.name);
    if (!report.far.name.empty()) joining.name(index, report.far.name);
  }
  std::map<std::size_t, std::size_t> known;
  std::vector<std::vector<Report>> groups;
  for (std::size_t index = 0; index < reports.size(); ++index) {
    const auto [at, is_new] = known.try_emplace(joining.root(index), groups.size());
    if (is_new) groups.emplace_back();
    groups[at->second].push_back(reports[index]);
  }
  return groups;
}

}  // namespace faultline
