// Browsers say on whose behalf they send. Without this check any page somebody looks at could write
// to a server on their machine.
#pragma once

#include <string>
#include <vector>

#include "http/message.h"

namespace faultline {

// True if a page of another origin sent this.
bool crosses_origins(const Request& request);

// The names that requests may use for this server, besides its addresses and localhost.
struct ServerNames {
  std::vector<std::string> names;
  bool any_without_dot =
      false;  // names in a cluster or a container; no page on the internet has one
};

// Whether the Host of the request names this server. Otherwise a page could let a name of its own
// lead to this machine, and would then be of the same origin.
bool is_meant_for_us(const Request& request, const ServerNames& known);

}  // namespace faultline
