#include "guard/kubernetes_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <utility>

#include "guard/guard_mark.h"
#include "logging/log.h"
#include "model/utf8.h"

namespace faultline {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostOfApiAnswer = std::size_t{16} << 20;
constexpr std::chrono::seconds kApiTimeout{15};
constexpr int kNodesAtOnce = 200;
constexpr int kMostNodePages = 500;
constexpr int kMostTries = 5;
constexpr std::size_t kMostOfMessage = 1000;

constexpr const char* kGpuResources[] = {"nvidia.com/gpu", "amd.com/gpu"};
constexpr const char* kClusterRoles[] = {"node-role.kubernetes.io/control-plane",
                                         "node-role.kubernetes.io/master"};

// The value at a path of keys; null: something on the way is absent.
const json::value* value_at(const json::value& value, std::initializer_list<const char*> keys) {
  const json::value* at = &value;
  for (const char* key : keys) {
    at = at->is_object() ? at->get_object().if_contains(key) : nullptr;
    if (at == nullptr) return nullptr;
  }
  return at;
}

std::string text_at(const json::value& value, std::initializer_list<const char*> keys) {
  const json::value* found = value_at(value, keys);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : "";
}

json::array list_at(const json::value& value, std::initializer_list<const char*> keys) {
  const json::value* found = value_at(value, keys);
  return found != nullptr && found->is_array() ? found->get_array() : json::array{};
}

bool is_ours(const json::value& taint) { return text_at(taint, {"key"}) == kGuardTaint; }

bool is_ready(const json::value& node) {
  return std::ranges::any_of(list_at(node, {"status", "conditions"}), [](const json::value& one) {
    return text_at(one, {"type"}) == "Ready" && text_at(one, {"status"}) == "True";
  });
}

bool has_gpus(const json::value& node) {
  return std::ranges::any_of(kGpuResources, [&](const char* resource) {
    const std::string count = text_at(node, {"status", "capacity", resource});
    return !count.empty() && count != "0";
  });
}

// Somebody else keeps most pods off it. That it has GPUs is often said by a taint for good.
bool is_avoided(const json::value& node, const std::vector<std::string>& usual_taints) {
  return std::ranges::any_of(list_at(node, {"spec", "taints"}), [&](const json::value& taint) {
    const std::string key = text_at(taint, {"key"});
    return !is_ours(taint) && text_at(taint, {"effect"}) != "PreferNoSchedule" &&
           std::ranges::find(kGpuResources, key) == std::end(kGpuResources) &&
           std::ranges::find(usual_taints, key) == usual_taints.end();
  });
}

GuardNode kubernetes_node_in(const json::value& node) {
  const json::value* unschedulable = value_at(node, {"spec", "unschedulable"});
  GuardNode read{.name = text_at(node, {"metadata", "name"})};
  const std::string hostname = text_at(node, {"metadata", "labels", "kubernetes.io/hostname"});
  if (!hostname.empty() && hostname != read.name) read.also.push_back(hostname);
  read.taken = std::ranges::any_of(list_at(node, {"spec", "taints"}), is_ours);
  read.schedulable =
      !read.taken && is_ready(node) &&
      !(unschedulable != nullptr && unschedulable->is_bool() && unschedulable->get_bool());
  read.has_gpus = has_gpus(node);
  read.is_never_taken = std::ranges::any_of(kClusterRoles, [&](const char* role) {
    return value_at(node, {"metadata", "labels", role}) != nullptr;
  });
  const std::string memory = text_at(node, {"metadata", "annotations", kGuardAnnotation});
  // Of a node of which it is not known what was done to it nothing is done.
  if (!memory.empty())
    read.memory = memory_in(memory).value_or(GuardMemory{.marks = {}, .settled = Timestamp::max()});
  return read;
}

// Of this version of the node.
json::object patch_of(const json::value& node, const GuardMemory& memory) {
  return {{"metadata",
           {{"resourceVersion", text_at(node, {"metadata", "resourceVersion"})},
            {"annotations", {{kGuardAnnotation, text_of_memory(memory)}}}}}};
}

// Messages hold words of logs, and half a character is no JSON.
std::string_view cut_message(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size()) {
    const std::size_t next = end + std::max<std::size_t>(utf8_length(text.substr(end)), 1);
    if (next > kMostOfMessage) break;
    end = next;
  }
  return text.substr(0, end);
}

std::string node_path(const std::string& node) { return "/api/v1/nodes/" + query_escaped(node); }

Error unanswered(const ServerLink& link, const ClientAnswer& answer) {
  if (answer.outcome != ClientAnswer::Outcome::answered)
    return {Error::Kind::invalid_input, fmt::format("{} {}", link.name(), answer.why)};
  boost::system::error_code wrong;
  const json::value status = json::parse(answer.body, wrong);
  const std::string message = wrong ? "" : text_at(status, {"message"});
  return {answer.status == 409 ? Error::Kind::conflict : Error::Kind::invalid_input,
          fmt::format("{} answers {}{}{}", link.name(), answer.status, message.empty() ? "" : ": ",
                      message)};
}

}  // namespace

KubernetesCluster::KubernetesCluster(ShipServer api, std::string selector,
                                     std::vector<std::string> usual_taints)
    : link_(std::move(api), {.timeout = kApiTimeout,
                             .most_body = kMostOfApiAnswer,
                             .reads_accepted = true,
                             .allows = {},
                             .none_allowed = {}}),
      selector_(std::move(selector)),
      usual_taints_(std::move(usual_taints)) {}

Result<std::string> KubernetesCluster::get(const std::string& path) {
  ClientAnswer answer = link_.ask({.method = "GET",
                                   .target = link_.target(path),
                                   .headers = {{"Accept", "application/json"}},
                                   .body = {}});
  if (answer.outcome != ClientAnswer::Outcome::answered || answer.status != 200)
    return unanswered(link_, answer);
  return std::move(answer.body);
}

Result<std::vector<GuardNode>> KubernetesCluster::nodes() {
  std::vector<GuardNode> nodes;
  std::string token;
  for (int page = 0; page < kMostNodePages; ++page) {
    std::string path = fmt::format("/api/v1/nodes?limit={}", kNodesAtOnce);
    if (!selector_.empty()) path += "&labelSelector=" + query_escaped(selector_);
    if (!token.empty()) path += "&continue=" + query_escaped(token);
    const Result<std::string> answer = get(path);
    if (!answer) return answer.error();
    boost::system::error_code wrong;
    const json::value list = json::parse(*answer, wrong);
    const json::value* items = wrong ? nullptr : value_at(list, {"items"});
    if (items == nullptr || !items->is_array())
      return Error{Error::Kind::invalid_input,
                   fmt::format("{} answers no list of nodes", link_.name())};
    for (const json::value& node : items->get_array()) {
      nodes.push_back(kubernetes_node_in(node));
      nodes.back().is_avoided = is_avoided(node, usual_taints_);
      if (nodes.back().name.empty())
        return Error{Error::Kind::invalid_input,
                     fmt::format("{} answers a node without a name", link_.name())};
    }
    token = text_at(list, {"metadata", "continue"});
    if (token.empty()) return nodes;
  }
  return Error{Error::Kind::too_large, fmt::format("{} has too many nodes", link_.name())};
}

Result<void> KubernetesCluster::change(const std::string& name, const Change& change) {
  for (int tries = 1;; ++tries) {
    const Result<std::string> answer = get(node_path(name));
    if (!answer) return answer.error();
    boost::system::error_code wrong;
    const json::value node = json::parse(*answer, wrong);
    // Without a version the patch would be of any.
    if (wrong || text_at(node, {"metadata", "name"}) != name ||
        text_at(node, {"metadata", "resourceVersion"}).empty())
      return Error{Error::Kind::invalid_input,
                   fmt::format("{} does not answer the node {}", link_.name(), name)};
    const Result<json::object> patch = change(node);
    if (!patch) return patch.error();
    const ClientAnswer done =
        link_.ask({.method = "PATCH",
                   .target = link_.target(node_path(name)),
                   .headers = {{"Content-Type", "application/merge-patch+json"},
                               {"Accept", "application/json"}},
                   .body = json::serialize(*patch)});
    if (done.outcome == ClientAnswer::Outcome::answered && done.status == 200) return {};
    Error error = unanswered(link_, done);
    // Somebody changed the node in between, if only its status.
    if (error.kind == Error::Kind::conflict && tries < kMostTries) continue;
    return error;
  }
}

Result<void> KubernetesCluster::take(const std::string& name, const GuardFinding& finding,
                                     const GuardMark& mark) {
  const Result<void> done = change(name, [&](const json::value& node) -> Result<json::object> {
    GuardNode now = kubernetes_node_in(node);
    if (!now.schedulable)
      return Error{Error::Kind::conflict, "the node went out of scheduling meanwhile"};
    add_mark(now.memory, mark);
    json::object patch = patch_of(node, now.memory);
    // All taints of the node: in a merge patch a list replaces the list.
    json::array taints = list_at(node, {"spec", "taints"});
    taints.push_back({{"key", kGuardTaint}, {"value", finding.cause}, {"effect", "NoSchedule"}});
    patch["spec"] = {{"taints", std::move(taints)}};
    return patch;
  });
  if (done)
    tell(name, "Warning", "FaultlineTaintAdded",
         fmt::format("no new pods: {} in job {} (finding {})", finding.title, finding.job,
                     finding.id),
         mark.time);
  return done;
}

Result<void> KubernetesCluster::give_back(const std::string& name, const std::string& finding,
                                          const std::string& why, Timestamp time) {
  const Result<void> done = change(name, [&](const json::value& node) -> Result<json::object> {
    GuardNode now = kubernetes_node_in(node);
    if (!now.taken || now.memory.marks.empty() || now.memory.marks.back().finding != finding)
      return Error{Error::Kind::conflict, "somebody changed the node meanwhile"};
    faultline::settle(now.memory, time);
    json::object patch = patch_of(node, now.memory);
    json::array taints;
    for (const json::value& taint : list_at(node, {"spec", "taints"}))
      if (!is_ours(taint)) taints.push_back(taint);
    patch["spec"] = {{"taints", std::move(taints)}};
    return patch;
  });
  if (done)
    tell(name, "Normal", "FaultlineTaintRemoved",
         fmt::format("pods may come again: of finding {}, {}", finding, why), time);
  return done;
}

Result<void> KubernetesCluster::settle(const std::string& name, Timestamp now) {
  return change(name, [&](const json::value& node) -> Result<json::object> {
    GuardMemory memory = kubernetes_node_in(node).memory;
    faultline::settle(memory, now);
    return patch_of(node, memory);
  });
}

void KubernetesCluster::tell(const std::string& node, const std::string& type,
                             const std::string& reason, const std::string& message,
                             Timestamp time) {
  const std::string at = to_rfc3339(std::chrono::floor<std::chrono::seconds>(time));
  // Events of things that are in no namespace are in this one.
  const json::object event{
      {"apiVersion", "v1"},
      {"kind", "Event"},
      {"metadata", {{"generateName", "faultline-guard-"}, {"namespace", "default"}}},
      {"involvedObject", {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}, {"uid", node}}},
      {"type", type},
      {"reason", reason},
      {"message", cut_message(message)},
      {"source", {{"component", "faultline-guard"}}},
      {"firstTimestamp", at},
      {"lastTimestamp", at},
      {"count", 1}};
  const ClientAnswer answer =
      link_.ask({.method = "POST",
                 .target = link_.target("/api/v1/namespaces/default/events"),
                 .headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}},
                 .body = json::serialize(event)});
  if (answer.outcome != ClientAnswer::Outcome::answered || answer.status / 100 != 2)
    say(LogLevel::warning, "guard",
        fmt::format("no event for node {}: {}", node, unanswered(link_, answer).message));
}

}  // namespace faultline
