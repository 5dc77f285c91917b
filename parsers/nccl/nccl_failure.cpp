#include "parsers/nccl/nccl_failure.h"

#include <string>

namespace faultline {
namespace {

constexpr auto kNowhere = std::string_view::npos;

// FILE:LINE 'TEXT'. PyTorch prints the same texts, with the same meaning.
bool read_failure(std::string_view text, Remark& remark) {
  const std::size_t open = text.find(" '");
  const std::size_t close = text.rfind('\'');
  if (open == kNowhere || close <= open + 1) return false;
  const std::string_view place = text.substr(0, open);
  if (place.find(' ') != kNowhere || place.find(':') == kNowhere) return false;
  remark = {
      .dialect = "torch",
      .level = "error",
      .place = std::string(place),
      .function = {},
      .text = "NCCL error: " + std::string(text.substr(open + 2, close - open - 2)),
  };
  return true;
}

}  // namespace

bool parse_nccl_failure(std::string_view text, std::vector<Reading>& readings) {
  for (const std::string_view before : {"Test NCCL failure ", "Failed, NCCL error "}) {
    const std::size_t at = text.find(before);
    if (at == kNowhere) continue;
    // Only a host name may stand before it.
    std::string_view host = text.substr(0, at);
    if (!host.empty() && (!host.ends_with(": ") || host.find(' ') != host.size() - 1)) continue;
    Remark remark;
    if (!read_failure(text.substr(at + before.size()), remark)) continue;
    host = host.substr(0, host.find(':'));
    readings.push_back({.fact = std::move(remark), .host = std::string(host), .time = {}});
    return true;
  }
  return false;
}

}  // namespace faultline
