// nc -zv HOST PORT: whether somebody listens there, a line.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_nc(std::string_view text);
std::unique_ptr<Document> make_nc();

}  // namespace faultline
