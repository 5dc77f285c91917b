// Paths may hold any bytes; JSON and the names of sources may not.
#pragma once

#include <string>
#include <string_view>

namespace faultline {

// What is not printable ASCII is written as %XX, and so is %.
std::string escaped_path(std::string_view path);
std::string path_from(std::string_view escaped);

}  // namespace faultline
