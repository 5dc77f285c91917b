#include "rules/state/process_key.h"

#include <fmt/format.h>

#include "rules/state/sources.h"

namespace faultline {

ProcessKey process_of(const Source& origin, const Speaker& speaker) {
  std::string host = short_host(speaker.host.empty() ? origin.host : speaker.host);
  // Without a pid, processes of a host cannot be distinguished, but sources can.
  if (host.empty() || speaker.pid == 0) host += fmt::format("#{}", origin.name);
  return {std::move(host), speaker.pid};
}

}  // namespace faultline
