// What the detectors of parts share: the ports and GPUs of the job's hosts, worked out once.
#pragma once

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

  const Parts& parts() const { return view.job.parts(); }
};

using Suspicions = std::vector<Suspicion>;

Suspicions suspect_counters(const PartFacts& facts);     // what ports count
Suspicions suspect_port_states(const PartFacts& facts);  // ports that are down or slow
Suspicions suspect_mtu(const PartFacts& facts);
Suspicions suspect_conditions(const PartFacts& facts);  // GPUs, and what tools say in a word
Suspicions suspect_nvlinks(const PartFacts& facts);
Suspicions suspect_bandwidth(const PartFacts& facts);
Suspicions suspect_loss(const PartFacts& facts);      // pings and segments that do not arrive
Suspicions suspect_topology(const PartFacts& facts);  // how far GPUs and NICs are from each other
Suspicions suspect_gids(const PartFacts& facts);      // addresses of RoCE ports

// Subject, ownership and confidence of a finding about these ports; the first is the one that is
// named first.
void lay_on_ports(const PartFacts& facts, const std::vector<const NetworkPort*>& ports,
                  Suspicion& suspicion);

// A port that RDMA could go through: a tool says that it is up, and it is InfiniBand or at least as
// fast as a network that GPUs are given.
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
