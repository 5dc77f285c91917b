// The files of rules/knowledge/catalog/, as they were when the program was built.
#pragma once

#include <string_view>
#include <vector>

namespace faultline {

struct EmbeddedFile {
  std::string_view name;  // "xid.csv"
  std::string_view text;
};

const std::vector<EmbeddedFile>& embedded_files();       // without its folders
const std::vector<EmbeddedFile>& embedded_signatures();  // of signatures/

}  // namespace faultline
