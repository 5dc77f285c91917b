#include "rules/knowledge/without_secrets.h"

#include <algorithm>

namespace faultline {

std::string without_secrets(const Secrets& secrets, std::string_view text) {
  std::string shown;
  std::string hidden;
  OpenSecret open;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (begin > 0) shown += '\n';
    shown += secrets.hide(line, false, open, hidden) ? std::string_view(hidden) : line;
    begin = end + 1;
  }
  return shown;
}

}  // namespace faultline
