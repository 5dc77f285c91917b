// Hides the secrets in a text that a person wrote, of one or more lines.
#pragma once

#include <string>
#include <string_view>

#include "rules/knowledge/secrets.h"

namespace faultline {

std::string without_secrets(const Secrets& secrets, std::string_view text);

}  // namespace faultline
