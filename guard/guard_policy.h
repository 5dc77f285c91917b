// Which nodes are taken out of scheduling for what a server has found, and which are given back. A
// node that is accused wrongly costs more than a bad one that stays: whatever is not certain leaves
// a node alone. A function of values, the same for all schedulers.
#pragma once

#include <chrono>
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
};

// What a node was taken for. It outlives the taking, so that nobody's decision to give a node back
// is undone.
struct GuardMark {
  std::string finding;
  std::string incident;
  Timestamp time;
  bool operator==(const GuardMark&) const = default;
};

struct GuardNode {
  std::string name;
  std::vector<std::string> also;  // other names that logs may have for it
  bool schedulable = true;        // jobs may begin on it
  bool taken = false;             // by the guard, until now
  std::optional<GuardMark> mark;  // the last one
};

struct GuardLimits {
  double min_confidence = 0.9;
  double daily_percent = 2;                                 // of all nodes; at least one node
  std::chrono::milliseconds hold{std::chrono::minutes{2}};  // how long a finding must have stood
};

struct GuardStep {
  enum class Kind { take, give_back, leave };
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

// The node that logs call `host`; null: none, or it is not clear which.
const GuardNode* node_called(const std::vector<GuardNode>& nodes, const std::string& host);

}  // namespace faultline
