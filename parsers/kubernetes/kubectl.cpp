#include "parsers/kubernetes/kubectl.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "parsers/kubernetes/kubernetes_events.h"
#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

using Cells = std::vector<std::string_view>;

constexpr std::string_view kPod = "pod";
constexpr std::string_view kNode = "nodes";
constexpr std::string_view kOver = "over";
constexpr std::string_view kAge = "age";

// Cells are separated by two blanks or more; a cell may contain a single blank.
Cells wide_cells(std::string_view text) {
  Cells cells = pieces_of(text, "  ");
  std::erase_if(cells, [](std::string_view cell) { return cell.empty(); });
  return cells;
}

bool begins_with(const Cells& head, std::initializer_list<std::string_view> names) {
  return head.size() >= names.size() && std::equal(names.begin(), names.end(), head.begin());
}

Cells head_of(std::string_view text) {
  Cells head = words_of(text, 32);
  if (!head.empty() && head.front() == "NAMESPACE") head.erase(head.begin());
  return head;
}

bool is_head_of_pods(const Cells& head) {
  return begins_with(head, {"NAME", "READY", "STATUS", "RESTARTS", "AGE"});
}
bool is_head_of_nodes(const Cells& head) {
  return begins_with(head, {"NAME", "STATUS", "ROLES", "AGE", "VERSION"}) ||
         begins_with(head, {"NAME", "STATUS", "AGE", "VERSION"});  // until 1.7
}
bool is_head_of_list(const Cells& head) {
  return begins_with(head, {"LAST", "SEEN", "TYPE", "REASON", "OBJECT"});
}
bool is_head_of_events(std::string_view text) {
  return words_of(text, 8) == Cells{"Type", "Reason", "Age", "From", "Message"};
}

// "Last State:     Terminated": a name, and a value at some distance.
struct Field {
  std::string_view name;
  std::string_view value;
};

std::optional<Field> field_in(std::string_view text) {
  constexpr std::size_t kLongestName = 32;
  text = trimmed(text);
  const std::size_t colon = text.find(':');
  if (colon == text.npos || colon == 0 || colon > kLongestName) return std::nullopt;
  const Field field{text.substr(0, colon), trimmed(text.substr(colon + 1))};
  const bool is_apart = field.value.empty() || text.substr(colon + 1).starts_with("  ");
  const bool is_name = std::ranges::all_of(field.name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == ' ' || c == '-';
  });
  return is_apart && is_name ? std::optional(field) : std::nullopt;
}

bool is_state(std::string_view word) {
  return word == "Terminated" || word == "Waiting" || word == "Running";
}

bool is_name_of_object(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") == std::string_view::npos;
}

bool is_topic(const std::optional<KubernetesEvent>& event) {
  return event && topic_of_event(event->reason) != nullptr;
}

std::int64_t number_in(std::string_view text) {
  std::int64_t number = INT64_MAX;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

class Kubectl : public PartDocument {
 public:
  Kubectl() : PartDocument("kubectl") {}

 private:
  // kLeft: after a foreign line; the lines after it may be indented too.
  enum Stage { kBegin, kDescribed, kLeft, kEvents, kPods, kNodes, kList };
  // About the object that is described. kMargin: the blanks before all its lines.
  enum Word { kName, kKind, kHost, kSection, kMargin, kWords };

  Line read(std::string_view text) override {
    if (cut()) return stage_ == kBegin ? Line::after : Line::part;
    if (const Cells head = head_of(text); begin_table(head)) return Line::part;
    if (is_head_of_events(text)) return go_on(kEvents);
    if (stage_ == kPods) return read_pod(text);
    words_.resize(kWords);
    if (stage_ == kNodes) return read_node(text);
    if (const auto event = listed_event(text); is_topic(event)) {
      stage_ = kList;
      take(*event);
      return Line::part;
    }
    if (const auto event = described_event(text)) {
      if (stage_ == kBegin && !is_topic(event)) return Line::after;
      go_on(kEvents);
      take(*event);
      return Line::part;
    }
    return stage_ == kList ? read_rest_of_list(text) : read_described(text);
  }

  Line go_on(Stage stage) {
    if (stage_ > kEvents) forget_object();
    stage_ = stage;
    return Line::part;
  }

  void forget_object() {
    give_all();
    words_.assign(kWords, {});
  }

  bool begin_table(const Cells& head) {
    const Stage stage = is_head_of_pods(head)    ? kPods
                        : is_head_of_nodes(head) ? kNodes
                        : is_head_of_list(head)  ? kList
                                                 : kBegin;
    if (stage == kBegin) return false;
    give_all();
    words_.clear();
    if (stage == kPods)
      for (const std::string_view name : head) word(name);
    stage_ = stage;
    return true;
  }

  // --- get pods, get nodes, get events

  // "llama-w-3   0/1   OOMKilled   2 (5m ago)   95m   10.244.3.4   gpu-node-3"
  Line read_pod(std::string_view text) {
    Cells row = words_of(text, 32);
    const auto age = std::ranges::find_if(row, [](auto word) { return word.starts_with('('); });
    if (age != row.end() && age + 1 != row.end() && (age + 1)->ends_with(')'))
      row.erase(age, age + 2);
    constexpr std::size_t kLeast = 5;
    std::size_t ready = 1;
    if (row.size() > kLeast && row[1].find('/') == row[1].npos) ready = 2;  // with its namespace
    if (row.size() < ready + 4 || row[ready].find('/') == row[ready].npos ||
        number_in(row[ready]) == INT64_MAX || number_in(row[ready + 2]) == INT64_MAX)
      return Line::after;
    const auto node = std::ranges::find(words_, "NODE");
    const auto at = static_cast<std::size_t>(node - words_.begin()) + ready - 1;
    OpenPart& pod = open(kPod);
    pod.name("pod", row[ready - 1]);
    pod.value("status", row[ready + 1]);
    pod.value("restarts", row[ready + 2]);
    if (node != words_.end() && at < row.size()) lay_on(pod, row[at]);
    return Line::part;
  }

  // "gpu-node-7   NotReady,SchedulingDisabled   worker   45d   v1.29.3"
  Line read_node(std::string_view text) {
    const Cells row = words_of(text, 32);
    if (row.size() < 4 || (!row[1].starts_with("Ready") && !row[1].starts_with("NotReady")))
      return Line::after;
    OpenPart& node = open(kNode);
    node.name("nodes", row[0]);
    node.value("Ready", row[1]);
    // A column that a cloud adds: why the node takes no pods.
    if (row.back().starts_with("Unschedulable")) node.value("Health", row.back());
    return Line::part;
  }

  Line read_rest_of_list(std::string_view text) const {
    return listed_event(text) ? Line::part : Line::after;
  }

  // --- describe

  Line read_described(std::string_view text) {
    const auto field = field_in(text);
    const bool is_indented = indentation(text) > words_[kMargin].size();
    if (stage_ == kBegin) {
      if (!begins_kubectl(text)) return Line::after;
    } else if (!field && (!is_indented || stage_ == kLeft)) {
      stage_ = kLeft;
      return Line::foreign;
    }
    const bool begins = stage_ == kBegin;
    stage_ = kDescribed;
    if (field)
      read_field(*field, is_indented && !begins, indentation(text));
    else
      read_condition(wide_cells(text));
    return Line::part;
  }

  void read_field(const Field& field, bool is_indented, std::size_t margin) {
    const auto& [name, value] = field;
    if (!is_indented && name == "Name") {
      forget_object();
      words_[kName] = value;
      words_[kKind] = kPod;
      words_[kMargin] = std::string(margin, ' ');
    } else if (!is_indented && name == "Node") {
      words_[kHost] = value.substr(0, value.find('/'));
    } else if (name == "State" || name == "Last State") {
      words_[kSection] = name;
      if (is_state(value)) say(name, value);
    } else if (name == "Reason" || name == "Exit Code") {
      if (!is_indented) return say(name, value);
      if (!words_[kSection].empty()) say(words_[kSection] + " / " + std::string(name), value);
    } else if (!is_indented && name == "Message") {
      say(name, value);
    } else if (name == "Ready" || !is_indented) {
      words_[kSection].clear();
    }
  }

  // About the pod that is described. A part for each field, so that its evidence is its own line.
  void say(std::string_view name, std::string_view value) {
    OpenPart& part = open(kPod);
    part.name("pod", words_[kName]);
    part.value(name, value);
    lay_on(part, words_[kHost]);
  }

  // "Ready   Unknown   <date>   <date>   NodeStatusUnknown   Kubelet stopped posting node status."
  void read_condition(const Cells& cells) {
    constexpr std::size_t kLeast = 5;
    if (cells.size() < kLeast || words_[kName].empty() ||
        (cells[1] != "True" && cells[1] != "False" && cells[1] != "Unknown"))
      return;
    std::string said(cells[1]);
    for (std::size_t i = 4; i < cells.size(); ++i) (said += i == 4 ? " " : ": ") += cells[i];
    words_[kKind] = kNode;
    OpenPart& node = open(kNode);
    node.name("nodes", words_[kName]);
    node.value(cells[0], said);
  }

  // --- events of both

  void take(const KubernetesEvent& event) {
    const std::string_view told_node = node_with_status(event.message);
    // The events of a node, pasted without the lines that `describe` prints above them.
    if (event.object.empty() && words_[kName].empty() && !told_node.empty()) {
      words_[kName] = told_node;
      words_[kKind] = kNode;
    }
    const KubernetesTopic* topic = topic_of_event(event.reason);
    if (topic == nullptr) return;
    // Operators report good ends, too.
    if (topic->topic == "exit" && last_word(event.message) == "0") return;
    std::string_view name = event.object;
    const std::size_t slash = std::min(name.find('/'), name.size());
    const std::string_view kind = name.substr(0, slash);
    name.remove_prefix(std::min(slash + 1, name.size()));
    const bool is_described = kind.empty();
    if (is_described) name = words_[kName];
    const bool by_monitor = is_described && words_[kHost].empty() && watches_nodes(event.from);
    const bool of_node = kind == "node" || kind == "Node" || by_monitor ||
                         (is_described && words_[kKind] == kNode) ||
                         (is_described && !told_node.empty());
    if (of_node && name.empty()) name = told_node;
    if (of_node && name.empty() && !by_monitor) return;
    const std::string_view host = topic->reason == "Scheduled" ? last_word(event.message)
                                  : is_described && !of_node   ? words_[kHost]
                                                               : std::string_view();
    std::string said(kOver);
    if (!topic->over) ((said = event.reason) += ": ") += event.message;
    const std::string_view part = of_node ? kNode : kPod;
    keep_latest(part, name, topic->topic, said, event.age, host);
    // A pod that started was scheduled.
    if (topic->reason == "Started") keep_latest(part, name, "scheduling", kOver, event.age, host);
  }

  // The components of the node problem detector.
  static bool watches_nodes(std::string_view from) {
    return from == "kernel-monitor" || from == "docker-monitor" || from == "containerd-monitor" ||
           from == "systemd-monitor";
  }

  // "Node gpu-node-7 status is now: NodeNotReady"; empty: the message is about no status.
  static std::string_view node_with_status(std::string_view message) {
    if (!take_front(message, "Node ")) return {};
    std::string_view node;
    return take_until(message, " status is now", node) && is_name_of_object(node)
               ? node
               : std::string_view();
  }

  static std::string_view last_word(std::string_view text) {
    return text.substr(text.rfind(' ') + 1);
  }

  // If two events have the same age, the lower one is the later one.
  void keep_latest(std::string_view kind, std::string_view name, std::string_view topic,
                   std::string_view said, std::int64_t age, std::string_view host) {
    const std::string_view identity = kind;  // "pod", "nodes"
    OpenPart* part = find_if([&](const OpenPart& each) {
      return each.report.kind == kind && each.name_of(identity) == name && each.has_value(topic);
    });
    if (part == nullptr) {
      part = &open(kind);
      part->name(identity, name);
      part->value(topic, said);
      part->value(kAge, std::to_string(age));
    } else {
      auto& values = part->report.values;
      const auto known_age = std::ranges::find(values, kAge, &NamedValue::name);
      if (known_age == values.end() || number_in(known_age->value) < age) return;
      known_age->value = std::to_string(age);
      std::ranges::find(values, topic, &NamedValue::name)->value = said;
      rest_on_line(*part);
    }
    lay_on(*part, host);
  }

  static void lay_on(OpenPart& part, std::string_view node) {
    if (is_name_of_object(node)) part.line.host = node;
  }
};

}  // namespace

bool begins_kubectl(std::string_view text) {
  text.remove_prefix(indentation(text));
  if (text.starts_with("NAME") || text.starts_with("LAST SEEN")) {
    const Cells head = head_of(text);
    return is_head_of_pods(head) || is_head_of_nodes(head) || is_head_of_list(head);
  }
  if (text.starts_with("Type ")) return is_head_of_events(text);
  if (text.starts_with("Normal ") || text.starts_with("Warning "))
    return is_topic(described_event(text));
  if (text.starts_with("Name: ") || text.starts_with("State: ") ||
      text.starts_with("Last State: ")) {
    const auto field = field_in(text);
    return field &&
           (field->name == "Name" ? is_name_of_object(field->value) : is_state(field->value));
  }
  const bool may_be_age =
      !text.empty() && (text.front() == '<' || (text.front() >= '0' && text.front() <= '9'));
  return may_be_age && is_topic(listed_event(text));
}

std::unique_ptr<Document> make_kubectl() { return std::make_unique<Kubectl>(); }

}  // namespace faultline
