// Whatever the line: no crash, every view inside it, and the quick way agrees with the
// thorough.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "parsers/nccl.h"
#include "parsers/nccl_call.h"
#include "parsers/nccl_line.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

bool inside(std::string_view part, std::string_view whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace faultline;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::string_view text = all.substr(0, all.find('\n'));
  NcclCall call;
  for (const NcclLine& line : nccl_lines(text)) {
    for (std::string_view part : {line.host, line.timestamp, line.place, line.message})
      require(inside(part, text));
    if (parse_nccl_call(line.message, call)) require(!call.function.empty());
  }
  NcclLine quick;
  if (read_plain_info(text, quick) && parse_nccl_call(quick.message, call)) {
    const std::vector<NcclLine> lines = nccl_lines(text);
    require(lines.size() == 1 && lines[0].pid == quick.pid && lines[0].device == quick.device);
  }
  std::vector<Reading> readings;
  if (!parse_nccl(text, readings)) require(readings.empty());
  return 0;
}
