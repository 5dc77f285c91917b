// Whatever the line: no crash, every view lies inside it, the quick reader agrees with the thorough
// one, and the result does not depend on who reads it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "parsers/nccl/nccl.h"
#include "parsers/nccl/nccl_call.h"
#include "parsers/nccl/nccl_forms.h"
#include "parsers/nccl/nccl_remark.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

bool inside(std::string_view part, std::string_view whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

// If no form matches, no fact is left behind. A fact has the kind that its form names.
void check(const faultline::NcclLine& line) {
  using namespace faultline;
  std::vector<Fact> facts;
  const NcclForm* form = read_nccl_line(line, facts);
  if (form == nullptr) return require(facts.empty());
  for (const Fact& fact : facts) {
    require(kind_of(fact) == form->becomes);
    if (line.merged) require(stands_though_cut(fact));
    if (const auto* connection = std::get_if<PeerConnection>(&fact))
      require(!connection->transport.empty() && connection->channels == 1);
    if (const auto* setting = std::get_if<Setting>(&fact))
      require(!setting->group.empty() && setting->value.size() <= line.message.size() + 4);
    if (const auto* remark = std::get_if<Remark>(&fact))
      require(remark->text.size() <= line.message.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace faultline;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::string_view text = all.substr(0, all.find('\n'));
  NcclCall call;
  for (const NcclLine& line : nccl_lines(text)) {
    for (std::string_view part :
         {line.host, line.timestamp, line.place, line.function, line.message})
      require(inside(part, text));
    check(line);
    if (parse_nccl_call(line.message, call)) require(!call.function.empty());
  }
  NcclLine quick;
  if (read_plain_info(text, quick) && parse_nccl_call(quick.message, call)) {
    const std::vector<NcclLine> lines = nccl_lines(text);
    require(lines.size() == 1 && lines[0].pid == quick.pid && lines[0].device == quick.device);
    require(lines[0].tid == quick.tid);
  }
  const std::string_view next = all.substr(std::min(text.size() + 1, all.size()));
  if (continues_warning(text, next)) require(!next.empty());
  // As a message without a prefix, which people paste.
  NcclLine bare;
  bare.message = text;
  check(bare);
  std::vector<Reading> readings;
  if (!parse_nccl(text, readings)) require(readings.empty());
  return 0;
}
