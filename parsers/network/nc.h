// nc -zv HOST PORT: one line says whether a program listens there.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_nc(std::string_view text);
std::unique_ptr<Document> make_nc();

}  // namespace faultline
