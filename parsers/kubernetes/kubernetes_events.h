// Events of Kubernetes: what each is about, and how long ago it was.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace faultline {

struct KubernetesTopic {
  std::string_view reason;  // of the event
  std::string_view topic;   // that it tells of
  bool over = false;        // it came right
};

const KubernetesTopic* topic_of_event(std::string_view reason);  // nullptr: none that matters

// "4m10s", "2m (x9 over 10m)", "<unknown>": the seconds, and what follows it. Nothing: no age.
std::optional<std::int64_t> take_age(std::string_view& text);

struct KubernetesEvent {
  std::int64_t age = 0;  // in seconds
  std::string_view type;
  std::string_view reason;
  std::string_view object;  // "pod/llama-worker-3"; empty: the one described
  std::string_view from;
  std::string_view message;
};

// A row of describe's events, or of get events.
std::optional<KubernetesEvent> described_event(std::string_view row);
std::optional<KubernetesEvent> listed_event(std::string_view row);

}  // namespace faultline
