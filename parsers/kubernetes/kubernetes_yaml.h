// `kubectl get … -o yaml`: how Kubernetes describes a pod, a node, or the job of an operator
// (MPIJob, PyTorchJob), also as an excerpt of its status.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_kubernetes_yaml(std::string_view text);
std::unique_ptr<Document> make_kubernetes_yaml();

}  // namespace faultline
