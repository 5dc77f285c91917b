#include "ingest/block_frames.h"

#include <fmt/format.h>

#include <charconv>

#include "ingest/block_check.h"

namespace faultline {
namespace {

constexpr std::string_view kHead = "faultline-block ";
constexpr std::size_t kLongestHead = kHead.size() + 9;

Error no_frame() { return {Error::Kind::invalid_input, "the body is not made of blocks"}; }

}  // namespace

std::string framed(std::string_view block) {
  return fmt::format("{}{}\n{}", kHead, block.size(), block);
}

Result<void> BlockFrames::feed(std::string_view bytes, const Use& use) {
  held_ += bytes;
  std::string_view rest = held_;
  while (true) {
    const std::size_t line = rest.substr(0, kLongestHead).find('\n');
    if (line == std::string_view::npos) {
      if (rest.size() >= kLongestHead) return no_frame();
      break;
    }
    if (!rest.starts_with(kHead)) return no_frame();
    const std::string_view number = rest.substr(kHead.size(), line - kHead.size());
    std::size_t size = 0;
    const auto [end, wrong] = std::from_chars(number.data(), number.data() + number.size(), size);
    if (wrong != std::errc() || end != number.data() + number.size() || size > kMostBytesOnTheWire)
      return no_frame();
    if (rest.size() - line - 1 < size) break;
    if (const auto used = use(rest.substr(line + 1, size)); !used) return used;
    rest.remove_prefix(line + 1 + size);
  }
  held_.erase(0, held_.size() - rest.size());
  return {};
}

}  // namespace faultline
