// What kubectl prints of pods and nodes: describe, get pods, get nodes and get events, whole or
// only a part.
//
//   Name:   llama-worker-3              NAME       READY  STATUS     RESTARTS  AGE  IP    NODE
//   Node:   gpu-node-7/10.0.3.17        llama-w-3  0/1    OOMKilled  0         95m  10.. gpu-node-7
//     Last State:     Terminated        LAST SEEN  TYPE     REASON        OBJECT         MESSAGE
//       Reason:       OOMKilled         4m10s      Warning  NodeNotReady  pod/llama-w-3  Node is …
//   Events:
//     Type     Reason   Age                From     Message
//     Warning  BackOff  4m (x12 over 10m)  kubelet  Back-off restarting failed container …
//
// A pod becomes a part of kind "pod" with the name "pod", on the host that is its node; a node
// becomes a part of kind "nodes". Only the latest event of each topic is kept, which may say that
// the trouble is over.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_kubectl(std::string_view text);
std::unique_ptr<Document> make_kubectl();

}  // namespace faultline
