#include "parsers/nccl.h"

#include "parsers/nccl_lifetime.h"
#include "parsers/nccl_line.h"

namespace faultline {

bool parse_nccl(std::string_view text, std::vector<Reading>& readings) {
  std::vector<NcclLine> lines = nccl_lines(text);
  for (const NcclLine& line : lines) {
    auto fact = parse_nccl_lifetime(line.message);
    if (!fact) continue;
    Reading reading{.fact = std::move(*fact),
                    .host = std::string(line.host),
                    .pid = line.pid,
                    .device = line.device,
                    .time = std::nullopt};
    if (!line.timestamp.empty()) reading.time = parse_rfc3339(line.timestamp);
    readings.push_back(std::move(reading));
  }
  return !lines.empty();
}

}  // namespace faultline
