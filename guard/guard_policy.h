// Which nodes are taken out of scheduling for what a server has found, and which are given back. A
// node that is accused wrongly costs more than a bad one that stays: whatever is not certain leaves
// a node alone. A function of values, the same for all schedulers.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/time.h"

namespace faultline {

// A finding, as far as it matters here. The words are those of the API.
struct GuardFinding {
  std::string id;
  std::string cause;  // its class
  std::string title;  // holds words of logs
  std::string severity;
  double confidence = 0;
  std::vector<std::string> hosts;
  std::string job;
  std::string incident;
  std::string role;
  std::string state;
  std::string reason;  // why it was resolved
  std::string review;
  bool part_of_job = false;
  Timestamp opened;
  std::optional<Timestamp> resolved;
  std::optional<Timestamp> last_seen;  // by the times of the lines
  bool zone_assumed = false;           // which may be hours off
};

// What a node was taken for.
struct GuardMark {
  std::string finding;
  std::string incident;
  Timestamp time;
  bool operator==(const GuardMark&) const = default;
};

// What is kept of a node. It outlives the taking, so that nobody's decision to give a node back is
// undone.
struct GuardMemory {
  std::vector<GuardMark> marks;  // the last ones; the newest is the last
  // Until then somebody had the node out of scheduling, or it was given back: what was found before
  // takes it no more.
  std::optional<Timestamp> settled;
  bool operator==(const GuardMemory&) const = default;
};

struct GuardNode {
  std::string name;
  std::vector<std::string> also = {};  // other names that logs may have for it
  bool schedulable = true;             // jobs may begin on it
  bool is_avoided = false;             // though most jobs will not, because somebody marked it
  bool taken = false;                  // by the guard, until now
  bool has_gpus = false;
  bool is_never_taken = false;  // it serves the cluster itself
  std::optional<Timestamp> booted = {};
  GuardMemory memory = {};
};

struct GuardLimits {
  double min_confidence = 0.9;
  double daily_percent = 2;                                 // of the nodes; at least one node
  std::size_t daily_most = 3;                               // and never more nodes
  std::chrono::milliseconds hold{std::chrono::minutes{2}};  // how long a finding must have stood
};

struct GuardStep {
  // settle: nothing is done to the node, and what was found until now takes it no more.
  enum class Kind { take, give_back, settle, leave };
  Kind kind = Kind::leave;
  std::string node;      // of leave: a host that no node is called may stand here
  GuardFinding finding;  // of which at least the id is known
  std::string why;       // for people
  bool operator==(const GuardStep& other) const {
    return kind == other.kind && node == other.node && finding.id == other.finding.id &&
           why == other.why;
  }
};

// Whether the class is a fault of a node's own hardware, which hits the next job there, too.
bool is_node_hardware(const std::string& cause);

// Why an open finding takes no node whatever the cluster looks like; empty: it may.
std::string why_no_accusation(const GuardFinding& finding, const GuardLimits& limits,
                              Timestamp now);

// `findings`: all open ones, and those for which nodes are taken. The order of the steps is that in
// which they are to be done. Whoever sees the same findings and nodes gets the same steps: agents
// on many nodes that each do only the step of their own node keep the limits together.
std::vector<GuardStep> plan_guard(const std::vector<GuardFinding>& findings,
                                  const std::vector<GuardNode>& nodes, const GuardLimits& limits,
                                  Timestamp now);

// The node that logs call `host`; null: none, or it is not clear which. Two names with domains are
// the same only if they are equal, and an address is only itself.
const GuardNode* node_called(const std::vector<GuardNode>& nodes, const std::string& host);

}  // namespace faultline
