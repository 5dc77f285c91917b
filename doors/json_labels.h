// Gives the scalar members of a JSON object as labels, under the path to them: kubernetes.pod_name.
#pragma once

#include <simdjson.h>

#include <functional>
#include <string>
#include <string_view>

namespace faultline {

using GiveLabel = std::function<void(std::string_view name, std::string_view value)>;

// `path`: that of the object, or empty. Longer values than a label has are left out.
void give_labels(simdjson::dom::object object, std::string& path, const GiveLabel& give);

// A text, a number or a truth value as a text; empty: it is something else. `room` holds it if it
// is no text.
std::string_view text_of(simdjson::dom::element value, std::string& room);

}  // namespace faultline
