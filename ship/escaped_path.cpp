#include "ship/escaped_path.h"

#include <fmt/format.h>

namespace faultline {

std::string escaped_path(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte >= 0x7f || c == '%')
      out += fmt::format("%{:02X}", byte);
    else
      out += c;
  }
  return out;
}

std::string path_from(std::string_view escaped) {
  std::string out;
  for (std::size_t i = 0; i < escaped.size(); ++i) {
    if (escaped[i] != '%' || i + 2 >= escaped.size()) {
      out += escaped[i];
      continue;
    }
    out += static_cast<char>(std::stoi(std::string(escaped.substr(i + 1, 2)), nullptr, 16));
    i += 2;
  }
  return out;
}

}  // namespace faultline
