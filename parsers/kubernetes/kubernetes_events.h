// Events of Kubernetes: the topic and the age of each.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace faultline {

struct KubernetesTopic {
  std::string_view reason;  // the reason field of the event
  std::string_view topic;   // what the event is about
  bool over = false;        // the event says that the trouble is over
};

const KubernetesTopic* topic_of_event(std::string_view reason);  // nullptr: it does not matter

// Takes an age off the front: "4m10s", "2m (x9 over 10m)", "<unknown>". Returns seconds. Nothing:
// no age.
std::optional<std::int64_t> take_age(std::string_view& text);

struct KubernetesEvent {
  std::int64_t age = 0;  // in seconds
  std::string_view type;
  std::string_view reason;
  std::string_view object;  // "pod/llama-worker-3"; empty: the object that is described
  std::string_view from;
  std::string_view message;
};

// A row of the events of `describe`, or of `get events`.
std::optional<KubernetesEvent> described_event(std::string_view row);
std::optional<KubernetesEvent> listed_event(std::string_view row);

}  // namespace faultline
