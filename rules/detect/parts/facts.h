// What the detectors of parts share: the ports and GPUs of the job's hosts, worked out once.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rules/detect/detector.h"
#include "rules/picture/read/movement.h"
#include "rules/picture/who/owner.h"
#include "rules/state/gpus.h"
#include "rules/state/ports.h"

namespace faultline {

struct PartFacts {
  explicit PartFacts(const View& the_view);

  const View& view;
  Ports ports;
  std::vector<std::vector<Movement>> moved;  // by port
  std::vector<GpuPart> gpus;
  std::optional<NicUsers> nic_users;  // where there are ports
  // Ranks by the address over which they said, when they started, that they find their peers.
  std::map<std::string, std::set<int>, std::less<>> ranks_by_address;

  const Parts& parts() const { return view.job.parts(); }
  // That use an address of this interface.
  const std::set<int>& ranks_at(const NetworkPort& port) const;
};

using Suspicions = std::vector<Suspicion>;

Suspicions suspect_counters(const PartFacts& facts);     // what ports count
Suspicions suspect_port_states(const PartFacts& facts);  // ports that are down or slow
Suspicions suspect_mtu(const PartFacts& facts);
Suspicions suspect_conditions(const PartFacts& facts);  // GPUs, and what tools say in a word
Suspicions suspect_scheduler(const PartFacts& facts);   // what schedulers report
Suspicions suspect_pods(const PartFacts& facts);        // what Kubernetes reports
Suspicions suspect_nvlinks(const PartFacts& facts);
Suspicions suspect_bandwidth(const PartFacts& facts);
Suspicions suspect_loss(const PartFacts& facts);      // pings and segments that do not arrive
Suspicions suspect_topology(const PartFacts& facts);  // how far GPUs and NICs are from each other
Suspicions suspect_gids(const PartFacts& facts);      // addresses of RoCE ports

// One condition of conditions.yaml that one value of one report meets.
struct ConditionHit {
  const PartCondition* condition = nullptr;
  const PartRecord* record = nullptr;
  const PartSeries* series = nullptr;
  std::string field;
  std::string value;
  std::string max;
  Sureness sure;
  bool before_job = false;     // its latest sample is from before the job
  bool so_before_job = false;  // an earlier sample said the same before the job
};

// What a title calls the part.
struct PartNames {
  std::string part;
  std::string host;
  std::string gpu;
};

std::vector<ConditionHit> conditions_met(const PartFacts& facts, const PartRecord& record);

// The finding of hits of one class, without its subject; it is named after the first hit.
Suspicion suspicion_of(const PartFacts& facts, const std::vector<ConditionHit>& hits,
                       const PartNames& names);

// "gpu-1, gpu-2": the first few, and how many more.
std::string some_hosts(const std::vector<std::string>& hosts);

// Sets subject, ownership and confidence of a finding about a part of a host, or about the host
// itself.
void lay_on_owner(const View& view, const Ownership& ownership, const std::string& host,
                  Suspicion& suspicion);
void lay_on_host(const View& view, const std::string& host, Suspicion& suspicion);

// The same for these ports; the first port is named first.
void lay_on_ports(const PartFacts& facts, const std::vector<const NetworkPort*>& ports,
                  Suspicion& suspicion);

// A port that RDMA could use: a tool says that it is up, and it is InfiniBand or at least as fast
// as networks for GPUs usually are.
struct FastPort {
  std::string host;
  std::string label;
  std::string rate;  // as the tool says it
  const LineRef* line = nullptr;
};
std::vector<FastPort> fast_ports_up(const View& view);

void add_line(const View& view, const LineRef* line, Finding& finding);

// Actions of the catalog, at this host.
void add_actions(const std::vector<Action>& actions, const std::string& host, Finding& finding);

}  // namespace faultline
