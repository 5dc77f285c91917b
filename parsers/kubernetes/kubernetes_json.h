// `kubectl get nodes,pods -o json`: one object or a list. It gives the same facts as `kubectl
// describe`.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/json/json_document.h"

namespace faultline {

bool begins_kubernetes_json(std::string_view first_key);
std::unique_ptr<JsonReport> make_kubernetes_json();

}  // namespace faultline
