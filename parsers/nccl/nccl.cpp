#include "parsers/nccl/nccl.h"

#include "parsers/nccl/nccl_forms.h"

namespace faultline {

bool parse_nccl(std::string_view text, std::vector<Reading>& readings) {
  const std::vector<NcclLine> lines = nccl_lines(text);
  std::vector<Fact> facts;
  for (const NcclLine& line : lines) {
    facts.clear();
    read_nccl_line(line, facts);
    for (Fact& fact : facts)
      readings.push_back({.fact = std::move(fact),
                          .host = std::string(line.host),
                          .pid = line.pid,
                          .device = line.device,
                          .time = time_of(line)});
  }
  return !lines.empty();
}

}  // namespace faultline
