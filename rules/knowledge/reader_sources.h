// The sum of all sources that decide what is made of a line: cmake/reader_sources.cmake.
#pragma once

#include <string_view>

namespace faultline {

std::string_view reader_sources();  // 16 hexadecimal digits

}  // namespace faultline
