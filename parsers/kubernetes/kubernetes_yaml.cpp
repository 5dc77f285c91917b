#include "parsers/kubernetes/kubernetes_yaml.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

constexpr std::string_view kPod = "pod";
constexpr std::string_view kNode = "nodes";

struct Entry {
  std::string_view key;
  std::string_view value;  // without quotes
  bool is_item = false;    // "- key: value", the first of a list's item
};

std::string_view without_quotes(std::string_view text) {
  const bool quoted = text.size() >= 2 && text.front() == text.back() &&
                      (text.front() == '"' || text.front() == '\'');
  return quoted ? text.substr(1, text.size() - 2) : text;
}

// `    reason: "Evicted"`
std::optional<Entry> entry_in(std::string_view text) {
  Entry entry;
  text = trimmed(text);
  entry.is_item = take_front(text, "- ");
  const std::size_t colon = text.find(':');
  entry.key = text.substr(0, colon);
  if (colon == text.npos || entry.key.empty() || !std::ranges::all_of(entry.key, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '.' || c == '/' || c == '-' || c == '_';
      }))
    return std::nullopt;
  text.remove_prefix(colon + 1);
  if (!text.empty() && text.front() != ' ') return std::nullopt;
  entry.value = without_quotes(trimmed(text));
  return entry;
}

// The keys of a condition stand in the order of the alphabet: its times, message, reason, status,
// type.
bool begins_condition(const Entry& entry) {
  return entry.is_item && (entry.key == "lastTransitionTime" || entry.key == "lastProbeTime" ||
                           entry.key == "lastHeartbeatTime");
}

// What kubectl prints without a margin. Any other line there is of something else.
bool is_of_top(const Entry& entry) {
  constexpr std::string_view kKeys[] = {
      "apiVersion",     "items",           "kind",       "metadata",
      "spec",           "status",          "conditions", "containerStatuses",
      "completionTime", "replicaStatuses", "startTime",  "lastReconcileTime"};
  return begins_condition(entry) || std::ranges::find(kKeys, entry.key) != std::end(kKeys);
}

bool is_job(std::string_view kind) { return kind.ends_with("Job") || kind == "JobSet"; }

// Whose status is read. Manifests and settings of other programs have the same keys.
bool is_of_a_job(std::string_view kind) {
  return kind == "Pod" || kind == "Node" || kind == "List" || is_job(kind);
}

class KubernetesYaml : public PartDocument {
 public:
  KubernetesYaml() : PartDocument("kubectl") {}

 private:
  // kSection: the last key without a value. kContainers: the blanks before the list of the states
  // of containers, while it is read. kMargin, kStatusMargin: the blanks before the fields of the
  // object's metadata and of its status. kLast: the key before.
  enum Word {
    kKind,
    kName,
    kHost,
    kSection,
    kContainers,
    kMargin,
    kStatusMargin,
    kLast,
    kMessage,
    kReason,
    kStatus,
    kWords
  };
  static constexpr std::string_view kCondition = "condition";

  Line read(std::string_view text) override {
    words_.resize(kWords);
    const auto entry = entry_in(text);
    const std::size_t margin = indentation(text);
    if (!entry) {
      // The rest of a long message, or an item of a list of texts.
      const bool goes_on = stage_ > 0 && margin > 0;
      if (goes_on && words_[kSection] == kCondition && words_[kLast] == "message")
        append(words_[kMessage], " " + std::string(trimmed(text)));
      return goes_on ? Line::part : Line::after;
    }
    if (margin == 0 && !is_of_top(*entry)) return Line::after;
    stage_ = 1;
    if (!cut() && !read_entry(*entry, margin)) return Line::after;
    words_[kLast] = entry->key;
    return Line::part;
  }

  // False: it is an object of another kind.
  bool read_entry(const Entry& entry, std::size_t margin) {
    const auto& [key, value, is_item] = entry;
    // Further in, the owners of an object and who changed it have one, too.
    if (key == "apiVersion" && margin == 0) {
      begin_object();
      return true;
    }
    if (key == "kind" && words_[kLast] == "apiVersion" && words_[kKind].empty()) {
      words_[kKind] = value;
      return is_of_a_job(value);
    }
    if (key == "metadata" && words_[kMargin].empty()) words_[kMargin].assign(margin + 2, ' ');
    if (key == "status" && value.empty()) words_[kStatusMargin].assign(margin + 2, ' ');
    // The items of a list stand below its key, not further in.
    const std::size_t containers = words_[kContainers].size();
    if (containers > 0 && margin + (is_item ? 1 : 0) < containers) words_[kContainers].clear();
    if (key == "containerStatuses") words_[kContainers].assign(margin + 1, ' ');
    read_field(entry, margin);
    return true;
  }

  void read_field(const Entry& entry, std::size_t margin) {
    const auto& [key, value, is_item] = entry;
    std::string& section = words_[kSection];
    const bool is_of_status = !is_item && !words_[kStatusMargin].empty() &&
                              margin == words_[kStatusMargin].size() && margin > 0;
    if (begins_condition(entry)) {
      for (const Word word : {kMessage, kReason, kStatus}) words_[word].clear();
      section = kCondition;
    } else if (value.empty() && key != "terminated" && key != "waiting" && key != "running") {
      section = key;
    } else if (is_of_status) {
      section.clear();
      if (words_[kKind] == "Pod" && (key == "reason" || key == "message"))
        say(key == "reason" ? "Reason" : "Message", value);
    } else if (section == kCondition) {
      read_condition(key, value);
    } else if (!words_[kContainers].empty() && (section == "state" || section == "lastState")) {
      const std::string name = section == "state" ? "State" : "Last State";
      if (key == "reason") say(name + " / Reason", value);
      if (key == "exitCode") say(name + " / Exit Code", value);
    } else if (key == "name" && margin == words_[kMargin].size() && words_[kName].empty()) {
      words_[kName] = value;
    } else if (key == "nodeName") {
      words_[kHost] = value;
    }
  }

  void begin_object() {
    give_all();
    words_.assign(kWords, {});
  }

  void read_condition(std::string_view key, std::string_view value) {
    if (key == "message") words_[kMessage] = value;
    if (key == "reason") words_[kReason] = value;
    if (key == "status") words_[kStatus] = value;
    if (key == "type") tell_condition(value);
  }

  // An excerpt has no kind.
  void tell_condition(std::string_view type) {
    const std::string& kind = words_[kKind];
    const bool holds = words_[kStatus] == "True";
    const std::string said = words_[kReason] + ": " + words_[kMessage];
    if (kind == "Node" && !words_[kName].empty()) {
      OpenPart& node = open(kNode);
      node.name("nodes", words_[kName]);
      node.value(type, words_[kStatus] + " " + said);
    } else if (type == "Failed" && holds &&
               (kind.empty() ? words_[kReason].find("Job") != std::string::npos : is_job(kind))) {
      say("Reason", words_[kReason]);
      say("Message", words_[kMessage]);
    } else if (type == "DisruptionTarget" && holds) {
      say("eviction", said);
    } else if (type == "PodScheduled") {
      say("scheduling", holds ? "over" : said);
    }
  }

  // A part for each field, so that its evidence is its own line.
  void say(std::string_view name, std::string_view value) {
    if (value.empty()) return;
    OpenPart& pod = open(kPod);
    pod.name("pod", words_[kKind] == "Pod" ? words_[kName] : std::string());
    pod.value(name, value);
    if (!words_[kHost].empty()) pod.line.host = words_[kHost];
  }
};

}  // namespace

bool begins_kubernetes_yaml(std::string_view text) {
  const auto entry = entry_in(text);
  if (!entry) return false;
  if (entry->key == "containerStatuses") return entry->value.empty();
  return !entry->value.empty() && (begins_condition(*entry) || entry->key == "apiVersion");
}

std::unique_ptr<Document> make_kubernetes_yaml() { return std::make_unique<KubernetesYaml>(); }

}  // namespace faultline
