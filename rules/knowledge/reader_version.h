// Whether two programs read lines alike.
#pragma once

#include <string>
#include <string_view>

#include "rules/knowledge/catalog.h"

namespace faultline {

// What this program makes of a line: its code, and what it was given as data, which an operator may
// have replaced or added to. Two readers of the same version make the same of the same bytes.
// "CODE.DATA.SECRETS", 16 hexadecimal digits each.
std::string reader_version(const Catalog& catalog);

// Whether readers of these versions hide the same secrets. False if one of them is no version.
bool hide_the_same(std::string_view version, std::string_view other);

}  // namespace faultline
