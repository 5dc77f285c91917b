// The JSON files of http/mcp/, as they were when the program was built.
#pragma once

#include <string_view>
#include <vector>

namespace faultline {

struct McpFile {
  std::string_view name;
  std::string_view text;
};

const std::vector<McpFile>& mcp_files();

}  // namespace faultline
