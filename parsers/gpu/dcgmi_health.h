// dcgmi health -c: what DCGM's watches have seen, as a table.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

// Of "Failure Pending page retirements …", which JSON has in one, the word and the rest.
struct HealthValue {
  std::string_view result;
  std::string_view message;
};
HealthValue health_value(std::string_view text);

bool begins_dcgmi_health(std::string_view text);
std::unique_ptr<Document> make_dcgmi_health();

}  // namespace faultline
