// `kubectl get nodes,pods -o json`: one object or a list of them. What is told of each is what
// `kubectl describe` tells.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/json/json_document.h"

namespace faultline {

bool begins_kubernetes_json(std::string_view first_key);
std::unique_ptr<JsonReport> make_kubernetes_json();

}  // namespace faultline
