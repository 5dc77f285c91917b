// The address of a receiver.
#pragma once

#include <string>
#include <string_view>

#include "model/result.h"

namespace faultline {

struct Url {
  bool tls = false;
  std::string host;  // an IPv6 address without its brackets
  std::string port;
  std::string target;  // path and query, at least "/"

  std::string host_header() const;
};

// http://host[:port][/path][?query] or https://… An error says what is wrong.
Result<Url> parse_url(std::string_view text);

// The part of a URL that may be shown in a log or a metric: its scheme and host. A path or a query
// may be a secret, so a short hash stands for it.
std::string name_of_url(std::string_view text);

}  // namespace faultline
