// Speaks the few calls of the Kubernetes API that the guard makes, as the API documents them: nodes
// in pages, one node, a merge patch that is refused with 409 if it is of an older version of the
// node, and events.
#pragma once

#include <fmt/format.h>
#include <re2/re2.h>

#include <boost/json.hpp>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "fake_receiver.h"

namespace faultline {

class FakeKubernetes {
 public:
  FakeKubernetes() : receiver_(FakeReceiver::Behaviour{}) {
    receiver_.behave([this](int socket) {
      const FakeReceiver::Heard request = receiver_.heard().back();
      std::string status = "200 OK";
      const std::string body = boost::json::serialize(answer(request, status));
      FakeReceiver::answer(status, "Content-Type: application/json\r\n", body)(socket);
    });
  }

  std::string url() const { return fmt::format("http://127.0.0.1:{}", receiver_.port()); }

  void add_node(const std::string& name, const std::string& more_spec = "{}") {
    boost::json::object node{
        {"kind", "Node"},
        {"metadata", {{"name", name}, {"resourceVersion", "1"}}},
        {"spec", boost::json::parse(more_spec)},
        {"status", {{"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}};
    const std::lock_guard lock(mutex_);
    nodes_[name] = std::move(node);
  }

  // Called before each patch, so that others can change the node in between.
  std::function<void()> before_patch;

  void change_node(const std::string& name, const std::string& merge_patch) {
    const std::lock_guard lock(mutex_);
    merge(nodes_.at(name), boost::json::parse(merge_patch));
    count_up(nodes_.at(name));
  }

  void forget_version(const std::string& name) {
    const std::lock_guard lock(mutex_);
    nodes_.at(name).at("metadata").as_object().erase("resourceVersion");
  }

  boost::json::object node(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    return nodes_.at(name).as_object();
  }

  std::string taints(const std::string& name) const {
    const boost::json::object one = node(name);
    const boost::json::value* taints = one.at("spec").as_object().if_contains("taints");
    return taints == nullptr ? "[]" : boost::json::serialize(*taints);
  }

  std::vector<boost::json::object> events() const {
    const std::lock_guard lock(mutex_);
    return events_;
  }

  int patches() const {
    const std::lock_guard lock(mutex_);
    return patches_;
  }

 private:
  // RFC 7396.
  static void merge(boost::json::value& target, const boost::json::value& patch) {
    if (!patch.is_object()) {
      target = patch;
      return;
    }
    if (!target.is_object()) target = boost::json::object{};
    for (const auto& [key, value] : patch.get_object()) {
      if (value.is_null())
        target.get_object().erase(key);
      else
        merge(target.get_object()[key], value);
    }
  }

  static void count_up(boost::json::value& node) {
    boost::json::value& version = node.at("metadata").at("resourceVersion");
    version = std::to_string(std::stoi(std::string(version.as_string())) + 1);
  }

  static boost::json::object failure(const std::string& status, const std::string& message) {
    return {{"kind", "Status"}, {"status", "Failure"}, {"reason", status}, {"message", message}};
  }

  boost::json::object answer(const FakeReceiver::Heard& request, std::string& status) {
    const std::string line = request.head.substr(0, request.head.find('\r'));
    std::string query;
    if (RE2::FullMatch(line, R"(GET /api/v1/nodes\?([^ ]*) HTTP/1.1)", &query)) return list(query);
    std::string method;
    std::string name;
    if (RE2::FullMatch(line, "(GET|PATCH) /api/v1/nodes/([^ ?]+) HTTP/1.1", &method, &name)) {
      if (method == "PATCH" && before_patch) before_patch();
      const std::lock_guard lock(mutex_);
      const auto found = nodes_.find(name);
      if (found == nodes_.end()) {
        status = "404 Not Found";
        return failure("NotFound", "nodes not found");
      }
      return method == "GET" ? found->second.as_object() : patched(found->second, request, status);
    }
    if (line == "POST /api/v1/namespaces/default/events HTTP/1.1") {
      const std::lock_guard lock(mutex_);
      events_.push_back(request.json());
      status = "201 Created";
      return events_.back();
    }
    status = "403 Forbidden";
    return failure("Forbidden", line + " is not allowed");
  }

  boost::json::object patched(boost::json::value& node, const FakeReceiver::Heard& request,
                              std::string& status) {
    ++patches_;
    if (request.head.find("Content-Type: application/merge-patch+json") == std::string::npos) {
      status = "415 Unsupported Media Type";
      return failure("UnsupportedMediaType", "not a patch");
    }
    const boost::json::object patch = request.json();
    const boost::json::value* version =
        patch.at("metadata").as_object().if_contains("resourceVersion");
    if (version != nullptr && *version != node.at("metadata").at("resourceVersion")) {
      status = "409 Conflict";
      return failure("Conflict", "the object has been modified");
    }
    merge(node, patch);
    count_up(node);
    return node.as_object();
  }

  // Two at a time; "continue" is the name of the next one.
  boost::json::object list(const std::string& query) const {
    const std::lock_guard lock(mutex_);
    std::string from;
    const bool goes_on = RE2::PartialMatch(query, "continue=([^&]+)", &from);
    auto next = goes_on ? nodes_.find(from) : nodes_.begin();
    boost::json::array items;
    for (; next != nodes_.end() && items.size() < 2; ++next) items.push_back(next->second);
    boost::json::object metadata;
    if (next != nodes_.end()) metadata["continue"] = next->first;
    return {{"kind", "NodeList"}, {"metadata", metadata}, {"items", items}};
  }

  mutable std::mutex mutex_;
  std::map<std::string, boost::json::value> nodes_;
  std::vector<boost::json::object> events_;
  int patches_ = 0;
  FakeReceiver receiver_;
};

}  // namespace faultline
