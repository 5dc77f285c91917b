#include "rules/picture/who/kernel_logs.h"

#include <cstdint>

namespace faultline {

std::set<std::string> hosts_with_kernel_log(const View& view) {
  std::set<std::string> hosts;
  const auto& sources = view.job.sources().all();
  for (std::uint32_t i = 0; i < sources.size(); ++i)
    if (sources[i].dialects.contains("kernel")) hosts.insert(view.job.sources().host_of(i));
  return hosts;
}

}  // namespace faultline
