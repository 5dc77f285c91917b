// The address of a receiver.
#pragma once

#include <string>
#include <string_view>

#include "model/result.h"

namespace faultline {

struct Url {
  bool tls = false;
  std::string host;  // [::1] without its brackets
  std::string port;
  std::string target;  // path and query, at least "/"

  std::string host_header() const;
};

// http://host[:port][/path][?query] or https://… An error says what is wrong.
Result<Url> parse_url(std::string_view text);

// What of an address may stand in a log or a metric: its scheme and host, and a short hash if it
// has a path or a query, which may be what makes it good for anything.
std::string name_of_url(std::string_view text);

}  // namespace faultline
