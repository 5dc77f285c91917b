// What /openapi.json says besides the table of routes: the files of http/openapi/, as they were
// when the program was built.
#pragma once

#include <string_view>
#include <vector>

namespace faultline {

struct OpenApiFile {
  std::string_view name;  // "schemas.json": by name; "answers.json": by route, status and type
  std::string_view text;
};

const std::vector<OpenApiFile>& openapi_files();

}  // namespace faultline
