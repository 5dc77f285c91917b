#include "app/server_url.h"

#include "client/url.h"

namespace faultline {

std::string wrong_server_url(const std::string& text) {
  const auto url = parse_url(text);
  if (!url) return url.error().message;
  return url->target.find('?') == std::string::npos ? "" : "must have no query";
}

}  // namespace faultline
