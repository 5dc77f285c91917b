#include "parsers/kubernetes/kubernetes_events.h"

#include <algorithm>
#include <charconv>

#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

constexpr KubernetesTopic kTopics[] = {
    {"FailedScheduling", "scheduling"},
    {"Unschedulable", "scheduling"},
    {"NotTriggerScaleUp", "scheduling"},
    {"Scheduled", "scheduling", true},
    {"Failed", "start"},
    {"ErrImagePull", "start"},
    {"FailedMount", "start"},
    {"FailedAttachVolume", "start"},
    {"FailedMapVolume", "start"},
    {"FailedCreatePodSandBox", "start"},
    {"NetworkNotReady", "start"},
    {"FailedCreate", "start"},
    {"FailedToCreateContainer", "start"},
    {"FailedPreStartHook", "start"},
    {"FailedPostStartHook", "start"},
    {"Started", "start", true},
    {"BackOff", "back-off"},
    {"UnexpectedAdmissionError", "admission"},
    {"OutOfnvidia.com/gpu", "admission"},
    {"OutOfcpu", "admission"},
    {"OutOfmemory", "admission"},
    {"Evicted", "eviction"},
    {"TaintManagerEviction", "eviction"},
    {"Preempted", "preemption"},
    {"Preempting", "preemption"},
    {"Unhealthy", "probe"},
    {"SystemOOM", "memory"},
    {"OOMKilling", "memory"},
    {"PodOOMKilling", "memory"},
    {"CgroupOOM", "memory"},
    {"OOMKilled", "memory"},
    {"NodeNotReady", "node"},
    {"NodeReady", "node", true},
    {"FilesystemIsReadOnly", "readonlyfilesystem"},
    {"FilesystemIsNotReadOnly", "readonlyfilesystem", true},
    {"TaskHung", "hang"},
    {"DockerHung", "hang"},
    {"ContainerdHung", "hang"},
    {"KernelOops", "hang"},
    {"Ext4Error", "storage"},
    {"IOError", "storage"},
    {"Rebooted", "reboot"},
    {"VMEventScheduled", "maintenance"},
    {"PreemptScheduled", "maintenance"},
    {"TerminateScheduled", "maintenance"},
    {"RedeployScheduled", "maintenance"},
    {"RebootScheduled", "maintenance"},
    {"SpotInterrupted", "maintenance"},
    {"SpotInterruption", "maintenance"},
    {"SpotTerminating", "maintenance"},
    {"ExitedWithCode", "exit"},
    {"BackoffLimitExceeded", "job"},
    {"DeadlineExceeded", "job"},
};

constexpr std::string_view kUnknownAge = "<unknown>";

bool take_number(std::string_view& text, std::int64_t& number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || number < 0) return false;
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  return true;
}

std::int64_t seconds_of(char unit) {
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kHour = 60 * kMinute;
  constexpr std::int64_t kDay = 24 * kHour;
  constexpr std::int64_t kYear = 365 * kDay;
  switch (unit) {
    case 's':
      return 1;
    case 'm':
      return kMinute;
    case 'h':
      return kHour;
    case 'd':
      return kDay;
    case 'y':
      return kYear;
    default:
      return 0;
  }
}

std::string_view take_word(std::string_view& text) {
  text.remove_prefix(indentation(text));
  const std::string_view word = text.substr(0, text.find_first_of(" \t"));
  text.remove_prefix(word.size());
  return word;
}

bool is_type(std::string_view word) { return word == "Normal" || word == "Warning"; }

}  // namespace

const KubernetesTopic* topic_of_event(std::string_view reason) {
  const auto* found = std::ranges::find(kTopics, reason, &KubernetesTopic::reason);
  return found == std::end(kTopics) ? nullptr : found;
}

std::optional<std::int64_t> take_age(std::string_view& text) {
  constexpr std::int64_t kMost = 1'000'000;  // of a unit
  std::string_view rest = trimmed(text);
  std::int64_t age = 0;
  if (!take_front(rest, kUnknownAge)) {
    bool any = false;
    while (!rest.empty() && rest.front() != ' ' && rest.front() != '\t') {
      std::int64_t number = 0;
      if (!take_number(rest, number) || number > kMost || rest.empty()) return std::nullopt;
      const std::int64_t unit = seconds_of(rest.front());
      if (unit == 0) return std::nullopt;
      age += number * unit;
      rest.remove_prefix(1);
      any = true;
    }
    if (!any) return std::nullopt;
  }
  std::string_view more = trimmed(rest);
  if (more.starts_with("(x") && more.find(')') != more.npos) rest = more.substr(more.find(')') + 1);
  text = rest;
  return age;
}

std::optional<KubernetesEvent> described_event(std::string_view row) {
  KubernetesEvent event;
  event.type = take_word(row);
  event.reason = take_word(row);
  if (!is_type(event.type) || event.reason.empty()) return std::nullopt;
  const auto age = take_age(row);
  if (!age) return std::nullopt;
  event.age = *age;
  event.from = take_word(row);
  if (event.from.ends_with(',')) event.from = take_word(row);  // "kubelet, gpu-node-7"
  event.message = trimmed(row);
  return event;
}

std::optional<KubernetesEvent> listed_event(std::string_view row) {
  KubernetesEvent event;
  auto age = take_age(row);
  if (!age) {  // in all namespaces
    if (take_word(row).empty()) return std::nullopt;
    age = take_age(row);
  }
  if (!age) return std::nullopt;
  event.age = *age;
  event.type = take_word(row);
  event.reason = take_word(row);
  event.object = take_word(row);
  if (!is_type(event.type) || event.object.find('/') == event.object.npos) return std::nullopt;
  event.message = trimmed(row);
  return event;
}

}  // namespace faultline
