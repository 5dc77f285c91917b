// The page for people: the files of http/web/, as they were when the program was built.
#pragma once

#include <string_view>
#include <vector>

namespace faultline {

struct WebFile {
  std::string_view name;  // "app.js"
  std::string_view text;
};

const std::vector<WebFile>& web_files();

}  // namespace faultline
