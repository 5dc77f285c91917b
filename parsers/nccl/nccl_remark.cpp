#include "parsers/nccl/nccl_remark.h"

#include <string>

#include "parsers/scan.h"

namespace faultline {
namespace {

Remark remark(const NcclMessage& message, std::string_view level) {
  return {.dialect = "nccl",
          .level = std::string(level),
          .place = std::string(message.place),
          .function = std::string(message.function),
          .text = std::string(message.text),
          .thread = message.thread};
}

}  // namespace

bool read_back_trace(const NcclMessage& message, std::vector<Fact>& facts) {
  std::size_t arrow = message.text.find(" -> ");
  if (arrow == std::string_view::npos) return false;
  std::string_view left = message.text.substr(0, arrow);
  if (left.ends_with(')')) {  // the function
    std::size_t open = left.rfind(" (");
    if (open == std::string_view::npos) return false;
    left = left.substr(0, open);
  }
  std::size_t colon = left.rfind(':');
  int number = 0;
  if (colon == std::string_view::npos || colon == 0 || left.find(' ') != std::string_view::npos)
    return false;
  Scan line(left.substr(colon + 1));
  if (!line.integer(number) || !line.done()) return false;

  BackTrace trace{.place = std::string(left), .thread = message.thread};
  Scan scan(message.text.substr(arrow + 4));
  if (!scan.integer(trace.code)) return false;
  std::string_view rest = scan.rest();
  if (rest.ends_with(']')) {
    std::size_t open = rest.rfind(" [");
    if (open == std::string_view::npos) return false;
    trace.thread_name = rest.substr(open + 2, rest.size() - open - 3);
    rest = rest.substr(0, open);
  }
  if (!rest.empty() && !(rest.starts_with(" (") && rest.ends_with(')'))) return false;  // strerror
  facts.emplace_back(std::move(trace));
  return true;
}

bool read_warning(const NcclMessage& message, std::vector<Fact>& facts) {
  facts.emplace_back(remark(message, "warn"));
  return true;
}

bool read_abort(const NcclMessage& message, std::vector<Fact>& facts) {
  facts.emplace_back(remark(message, "abort"));
  return true;
}

std::optional<char> continues_warning(std::string_view warning, std::string_view line) {
  constexpr std::string_view kOwnLines[] = {
      "This is usually caused by a system or configuration error in the Fabric Manager",
      "Do not force-enable NVLS", "Disable NVLS"};
  constexpr std::string_view kPieces[] = {"Got completion ", "with status=", "opcode=",   "len=",
                                          "vendor err",      "localGid ",    "remoteGid", "hca "};
  while (line.starts_with(' ') || line.starts_with('\t')) line.remove_prefix(1);
  if (warning.find("NVLink SHARP (NVLS) Multicast memory") != std::string_view::npos)
    for (std::string_view beginning : kOwnLines)
      if (line.starts_with(beginning)) return '\n';
  if (warning.starts_with("NET/"))
    for (std::string_view beginning : kPieces)
      if (line.starts_with(beginning)) return ' ';
  return std::nullopt;
}

}  // namespace faultline
