#include "parsers/kubernetes/kubernetes_json.h"

#include <string>

#include "parsers/tool/part_json.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

constexpr std::string_view kPod = "pod";
constexpr std::string_view kNode = "nodes";

class KubernetesObjects : public PartJson {
 public:
  KubernetesObjects() : PartJson("kubectl") {}

  void key(std::string_view path) override {
    if (sense_ == Sense::unsure && (path == "metadata" || path == "items")) sense_ = Sense::mine;
  }

  void value(std::string_view path, const JsonValue& value) override {
    take_front(path, "items/");
    const std::string text = unescaped(value.text);
    if (path == "kind") return set(kKind, text);
    if (path == "metadata/name") return set(kName, text);
    if (path == "spec/nodeName") return set(kHost, text);
    if (!take_front(path, "status/")) return;
    if (path == "reason" || path == "message")
      return say(path == "reason" ? "Reason" : "Message", text);
    if (take_front(path, "conditions/")) return condition(path, text);
    if (take_front(path, "containerStatuses/") || take_front(path, "initContainerStatuses/"))
      state_of_container(path, text);
  }

  void closed_object(std::string_view path) override {
    const bool of_list = take_front(path, "items/");
    if (path == "status/conditions") return tell_condition();
    if (path == "items" || (path.empty() && !of_list)) forget();
    if (path.empty() && !of_list && sense_ == Sense::mine) give_all();
  }

 private:
  enum Word { kKind, kName, kHost, kType, kStatus, kReason, kMessage };

  void condition(std::string_view field, std::string_view text) {
    if (field == "type") set(kType, text);
    if (field == "status") set(kStatus, text);
    if (field == "reason") set(kReason, text);
    if (field == "message") set(kMessage, text);
  }

  // As `describe` prints it: "Unknown NodeStatusUnknown: Kubelet stopped posting node status."
  void tell_condition() {
    if (get(kKind) == "Node" && !get(kName).empty() && !get(kType).empty()) {
      std::string said(get(kStatus));
      if (!get(kReason).empty()) (said += ' ') += get(kReason);
      if (!get(kMessage).empty()) (said += ": ") += get(kMessage);
      find_or_open(kNode, kNode, get(kName)).value(get(kType), said);
    }
    for (const Word word : {kType, kStatus, kReason, kMessage}) set(word, {});
  }

  // state/terminated/reason, lastState/terminated/exitCode, state/waiting/reason
  void state_of_container(std::string_view path, std::string_view text) {
    std::string name;
    if (take_front(path, "lastState/"))
      name = "Last State / ";
    else if (take_front(path, "state/"))
      name = "State / ";
    else
      return;
    if (path == "terminated/reason" || path == "waiting/reason") say(name + "Reason", text);
    if (path == "terminated/exitCode") say(name + "Exit Code", text);
  }

  void say(std::string_view name, std::string_view text) {
    if (get(kKind) != "Pod" || get(kName).empty() || text.empty()) return;
    OpenPart& pod = find_or_open(kPod, kPod, get(kName));
    if (!pod.has_value(name)) pod.value(name, text);
    if (!get(kHost).empty()) pod.line.host = get(kHost);
  }

  void forget() {
    for (const Word word : {kName, kHost, kType, kStatus, kReason, kMessage}) set(word, {});
  }
};

}  // namespace

bool begins_kubernetes_json(std::string_view first_key) { return first_key == "apiVersion"; }

std::unique_ptr<JsonReport> make_kubernetes_json() { return std::make_unique<KubernetesObjects>(); }

}  // namespace faultline
