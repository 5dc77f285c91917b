// dcgmi health -c: a table of what DCGM's watches have seen.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

// JSON has "Failure Pending page retirements …" in one string: these are its parts.
struct HealthValue {
  std::string_view result;
  std::string_view message;
};
HealthValue health_value(std::string_view text);

bool begins_dcgmi_health(std::string_view text);
std::unique_ptr<Document> make_dcgmi_health();

}  // namespace faultline
