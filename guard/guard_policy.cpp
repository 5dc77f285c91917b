#include "guard/guard_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "model/cause.h"

namespace faultline {
namespace {

// Faults of parts inside the node. Left out: links and switches (the other end may be to blame),
// what programs and settings cause (memory that is full, a GPU that hangs in a kernel), and a host
// that is silent.
constexpr Cause kNodeHardware[] = {Cause::gpu_off_bus,        Cause::gpu_ecc_uncorrectable,
                                   Cause::gpu_row_remap,      Cause::gpu_nvlink_error,
                                   Cause::gpu_nvswitch_error, Cause::gpu_gsp_timeout,
                                   Cause::gpu_thermal,        Cause::pcie_error,
                                   Cause::pcie_degraded,      Cause::network_nic_failure,
                                   Cause::host_memory_error};

// The ends of a finding that say that the node is sound. That a job has ended, or was started
// again, says nothing about its nodes.
constexpr std::string_view kSoundAgain[] = {"not_seen", "counter_stopped", "closed", "wrong"};

// At least this part of the nodes stays in scheduling.
constexpr double kLeastPart = 0.5;

constexpr std::chrono::hours kDay{24};

// A stamp without a zone is of some zone between these hours before and after UTC.
constexpr std::chrono::hours kMostOfZone{14};

bool is_withdrawn(const GuardFinding& finding) {
  return finding.review == "wrong" || finding.review == "closed";
}

// Whether the node that was taken for the finding may be given back.
bool is_sound_again(const GuardFinding& finding, const GuardLimits& limits, Timestamp now) {
  if (is_withdrawn(finding)) return true;
  return finding.state == "resolved" && finding.resolved &&
         now - *finding.resolved >= limits.hold &&
         std::ranges::find(kSoundAgain, finding.reason) != std::end(kSoundAgain);
}

// How far the times of a finding may be off.
std::chrono::hours doubt_of(const GuardFinding& finding) {
  return finding.zone_assumed ? kMostOfZone : std::chrono::hours{0};
}

std::string_view first_label(std::string_view host) { return host.substr(0, host.find('.')); }

bool is_whole(std::string_view host) { return host.find('.') != std::string_view::npos; }

// Of IPv4 the last label is a number, as that of no name is; only IPv6 has colons.
bool is_address(std::string_view host) {
  const std::string_view last = host.substr(host.rfind('.') + 1);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return host.find(':') != std::string_view::npos ||
         (is_whole(host) && !last.empty() && std::ranges::all_of(last, is_digit));
}

bool is_called(const GuardNode& node, std::string_view host) {
  return node.name == host || std::ranges::find(node.also, host) != node.also.end();
}

bool is_called_in_short(const GuardNode& node, std::string_view host) {
  const auto same = [&](std::string_view name) {
    return !is_address(name) && !is_address(host) && !(is_whole(name) && is_whole(host)) &&
           first_label(name) == first_label(host);
  };
  return same(node.name) || std::ranges::any_of(node.also, same);
}

// The mark of what the node is taken for now.
const GuardMark* held_mark(const GuardNode& node) {
  return node.taken && !node.memory.marks.empty() ? &node.memory.marks.back() : nullptr;
}

// The guard took it, and somebody gave it back, which it has not noted yet.
bool was_given_back(const GuardNode& node) {
  return node.schedulable && !node.taken && !node.memory.marks.empty() &&
         (!node.memory.settled || *node.memory.settled < node.memory.marks.back().time);
}

bool is_settled(const GuardNode& node, const GuardFinding& finding) {
  return was_given_back(node) || (node.memory.settled && finding.opened <= *node.memory.settled);
}

// Which nodes the limits are about: those that have GPUs, if any have.
bool counts(const GuardNode& node, bool some_have_gpus) {
  return !node.is_never_taken && (node.has_gpus || !some_have_gpus);
}

// Counts what is taken, so that no rule depends on the order in which a caller acts.
class GuardTally {
 public:
  GuardTally(const std::vector<GuardNode>& nodes, const GuardLimits& limits, Timestamp now)
      : some_have_gpus_(std::ranges::any_of(
            nodes, [](const GuardNode& node) { return node.has_gpus && !node.is_never_taken; })) {
    std::size_t held = 0;
    for (const GuardNode& node : nodes) {
      for (const GuardMark& mark : node.memory.marks) {
        if (!mark.incident.empty()) taken_for_.emplace(mark.incident, node.name);
        if (now - mark.time < kDay) ++taken_today_;
      }
      if (!counts(node, some_have_gpus_)) continue;
      ++all_;
      if (stays(node)) ++staying_;
      if (node.taken) ++held;
    }
    most_a_day_ = most_a_day(staying_ + held, limits);
  }

  std::string why_not(const GuardNode& node, const GuardFinding& finding) const {
    if (!counts(node, some_have_gpus_))
      return node.is_never_taken ? "it serves the cluster itself"
                                 : "it has no GPU that the scheduler knows, and other nodes have";
    const auto other = taken_for_.find(finding.incident);
    if (other != taken_for_.end())
      return fmt::format("its incident took {} already, and an incident takes one node",
                         other->second);
    if (taken_today_ >= most_a_day_)
      return fmt::format("{} of at most {} {} a day taken", taken_today_, most_a_day_,
                         most_a_day_ == 1 ? "node" : "nodes");
    const std::size_t rest = staying_ - (stays(node) ? 1 : 0);
    if (static_cast<double>(rest) < kLeastPart * static_cast<double>(all_))
      return fmt::format("too few nodes would be left: {} of {}", rest, all_);
    return {};
  }

  void take(const GuardNode& node, const GuardFinding& finding) {
    taken_for_.emplace(finding.incident, node.name);
    ++taken_today_;
    if (stays(node)) --staying_;
  }

 private:
  static bool stays(const GuardNode& node) { return node.schedulable && !node.is_avoided; }

  static std::size_t most_a_day(std::size_t nodes, const GuardLimits& limits) {
    const double part = static_cast<double>(nodes) * limits.daily_percent / 100;
    return std::min(limits.daily_most,
                    std::max<std::size_t>(1, static_cast<std::size_t>(std::floor(part))));
  }

  bool some_have_gpus_;
  std::size_t all_ = 0;
  std::size_t staying_ = 0;
  std::size_t most_a_day_ = 0;
  std::size_t taken_today_ = 0;
  std::map<std::string, std::string> taken_for_;  // incident: node
};

// Why this finding must not take this node; empty: it may.
std::string why_not_this(const GuardNode& node, const GuardFinding& finding) {
  const auto is_for_it = [&](const GuardMark& mark) { return mark.finding == finding.id; };
  if (std::ranges::any_of(node.memory.marks, is_for_it))
    return "it took the node once, and the node was given back";
  if (!node.schedulable) return "the node is out of scheduling already";
  if (is_settled(node, finding))
    return "since it was found, the node was given back or was out of scheduling";
  if (node.booted && *finding.last_seen - doubt_of(finding) < *node.booted)
    return "the node has booted since it was seen";
  return {};
}

// Notes which nodes others had in hand, for what is known of them now.
void settle_nodes(const std::vector<GuardFinding>& findings, const std::vector<GuardNode>& nodes,
                  std::vector<GuardStep>& steps) {
  std::set<std::string> noted;
  for (const GuardNode& node : nodes) {
    if (!was_given_back(node)) continue;
    noted.insert(node.name);
    steps.push_back({GuardStep::Kind::settle,
                     node.name,
                     {.id = node.memory.marks.back().finding},
                     "somebody gave it back"});
  }
  for (const GuardFinding& finding : findings) {
    if (finding.state != "open" || !is_node_hardware(finding.cause)) continue;
    for (const std::string& host : finding.hosts) {
      const GuardNode* node = node_called(nodes, host);
      if (node == nullptr || node->schedulable || node->taken || is_settled(*node, finding) ||
          !noted.insert(node->name).second)
        continue;
      steps.push_back({GuardStep::Kind::settle, node->name, finding, "it is out of scheduling"});
    }
  }
}

}  // namespace

bool is_node_hardware(const std::string& cause) {
  return std::ranges::any_of(kNodeHardware, [&](Cause one) { return name_of(one) == cause; });
}

std::string why_no_accusation(const GuardFinding& finding, const GuardLimits& limits,
                              Timestamp now) {
  if (!is_node_hardware(finding.cause)) return "its class is no fault of a node's hardware";
  if (is_withdrawn(finding)) return fmt::format("a person reviewed it as {}", finding.review);
  if (finding.state != "open") return "it is over";
  if (finding.role != "cause") return "it is no cause: the diagnosis does not blame it";
  if (!finding.part_of_job) return "no rank of the job was seen on this hardware";
  if (finding.severity != "error" && finding.severity != "critical")
    return fmt::format("its severity is {}", finding.severity);
  if (!(finding.confidence >= limits.min_confidence))
    return fmt::format("it is {:.0f} % sure, and {:.0f} % are needed",
                       std::floor(finding.confidence * 100), limits.min_confidence * 100);
  if (finding.hosts.size() != 1)
    return fmt::format("it names {} hosts, not one", finding.hosts.size());
  if (finding.incident.empty()) return "it belongs to no incident";
  if (!finding.last_seen) return "it is not known when it was seen";
  // Logs may be sent long after they were written, and clocks may be wrong.
  if (std::chrono::abs(now - *finding.last_seen) > kDay + doubt_of(finding))
    return fmt::format("it was last seen at {}", to_rfc3339(*finding.last_seen));
  if (now - finding.opened < limits.hold) return "it has not stood for long enough yet";
  return {};
}

const GuardNode* node_called(const std::vector<GuardNode>& nodes, const std::string& host) {
  for (const auto matches : {is_called, is_called_in_short}) {
    const GuardNode* found = nullptr;
    for (const GuardNode& node : nodes) {
      if (!matches(node, host)) continue;
      if (node.name == host) return &node;
      if (found != nullptr) return nullptr;
      found = &node;
    }
    if (found != nullptr) return found;
  }
  return nullptr;
}

std::vector<GuardStep> plan_guard(const std::vector<GuardFinding>& findings,
                                  const std::vector<GuardNode>& nodes, const GuardLimits& limits,
                                  Timestamp now) {
  std::vector<GuardStep> steps;
  std::map<std::string, const GuardFinding*> by_id;
  std::vector<const GuardFinding*> accusations;
  for (const GuardFinding& finding : findings) {
    by_id.emplace(finding.id, &finding);
    if (finding.state != "open" || !is_node_hardware(finding.cause)) continue;
    const std::string why = why_no_accusation(finding, limits, now);
    if (why.empty())
      accusations.push_back(&finding);
    else if (finding.role != "symptom")  // its cause tells more
      for (const std::string& host : finding.hosts)
        steps.push_back({GuardStep::Kind::leave, host, finding, why});
  }
  std::ranges::sort(accusations, {}, [](const GuardFinding* finding) {
    return std::pair(finding->opened, finding->id);
  });
  for (const GuardNode& node : nodes) {
    const GuardMark* mark = held_mark(node);
    if (mark == nullptr) continue;
    const auto held = by_id.find(mark->finding);
    if (held == by_id.end()) {
      steps.push_back({GuardStep::Kind::leave,
                       node.name,
                       {.id = mark->finding},
                       "the server does not know what the node was taken for"});
      continue;
    }
    const GuardFinding& finding = *held->second;
    if (!is_sound_again(finding, limits, now)) continue;
    // Who withdraws a finding withdraws what else the same incident says of this node.
    const bool is_accused = std::ranges::any_of(accusations, [&](const GuardFinding* other) {
      return node_called(nodes, other->hosts.front()) == &node &&
             !(is_withdrawn(finding) && other->incident == mark->incident);
    });
    if (!is_accused)
      steps.push_back({GuardStep::Kind::give_back, node.name, finding,
                       is_withdrawn(finding)
                           ? fmt::format("a person reviewed it as {}", finding.review)
                           : fmt::format("it is over ({})", finding.reason)});
  }

  settle_nodes(findings, nodes, steps);
  GuardTally tally(nodes, limits, now);
  std::set<std::string> taken;
  for (const GuardFinding* finding : accusations) {
    const std::string& host = finding->hosts.front();
    const GuardNode* node = node_called(nodes, host);
    const auto leave = [&](std::string why) {
      steps.push_back(
          {GuardStep::Kind::leave, node == nullptr ? host : node->name, *finding, std::move(why)});
    };
    if (node == nullptr) {
      leave("no node is called so, or more than one");
      continue;
    }
    if (node->taken || taken.contains(node->name)) continue;  // it needs no second reason
    std::string why = why_not_this(*node, *finding);
    if (why.empty()) why = tally.why_not(*node, *finding);
    if (!why.empty()) {
      leave(std::move(why));
      continue;
    }
    tally.take(*node, *finding);
    taken.insert(node->name);
    steps.push_back({GuardStep::Kind::take, node->name, *finding, {}});
  }
  return steps;
}

}  // namespace faultline
