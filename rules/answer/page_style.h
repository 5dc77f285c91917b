// The style of the page at /; the HTML file includes it.
#pragma once

#include <string_view>
#include <vector>

namespace faultline {

struct StyleFile {
  std::string_view name;
  std::string_view text;
};

const std::vector<StyleFile>& style_files();

inline std::string_view page_style() { return style_files().front().text; }

}  // namespace faultline
