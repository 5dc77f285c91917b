// Whether a word in the place of a host's name names a host.
#pragma once

#include <algorithm>
#include <string_view>

namespace faultline {

// "-" is syslog's nil, and every host calls itself localhost.
constexpr bool names_a_host(std::string_view name) {
  constexpr std::string_view kNone[] = {"",          "-",  "localhost", "localhost.localdomain",
                                        "127.0.0.1", "::1"};
  return std::ranges::find(kNone, name) == std::ranges::end(kNone);
}

}  // namespace faultline
