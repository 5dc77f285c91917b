// Any lines in which secrets are hidden: each keeps its length, only stars are put in, and hiding
// twice shows nothing again. A file of shapes is read or refused.
#include "rules/knowledge/secrets.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "oracle.h"
#include "rules/knowledge/catalog.h"
#include "rules/knowledge/catalog_files.h"

namespace {

using namespace faultline;

void hide_in_lines(std::string_view text) {
  static const Catalog catalog = load_catalog();
  const Secrets& secrets = *catalog.secrets;
  OpenSecret open;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    for (const bool is_cut : {true, false}) {
      OpenSecret left = open;
      std::string hidden;
      if (!secrets.hide(line, is_cut, left, hidden)) hidden = line;
      if (!is_cut) open = left;
      require(hidden.size() == line.size(), "a line keeps its length");
      for (std::size_t i = 0; i < line.size(); ++i)
        require(hidden[i] == line[i] || hidden[i] == '*', "only stars come in");
      std::string again;
      OpenSecret nothing;
      if (!secrets.hide(hidden, is_cut, nothing, again)) again = hidden;
      for (std::size_t i = 0; i < line.size(); ++i)
        require(hidden[i] != '*' || again[i] == '*', "a star stays");
    }
  }
}

void read_shapes(std::string_view text) {
  try {
    check_secret_shapes("secrets.yaml", text);
  } catch (const std::runtime_error& error) {
    require(std::string_view(error.what()).starts_with("secrets.yaml:"),
            "a refusal names the file");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  hide_in_lines(text);
  read_shapes(text);
  return 0;
}
