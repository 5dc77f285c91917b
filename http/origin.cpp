#include "http/origin.h"

namespace faultline {

bool crosses_origins(const Request& request) {
  const std::string_view site = request.header("Sec-Fetch-Site");
  if (!site.empty() && site != "same-origin" && site != "none") return true;
  std::string_view origin = request.header("Origin");
  if (origin.empty()) return false;
  const std::size_t host = origin.find("://");
  if (host == std::string_view::npos) return true;  // "null": a page that hides where it is from
  origin.remove_prefix(host + 3);
  return !equal_ignoring_case(origin, request.header("Host"));
}

}  // namespace faultline
