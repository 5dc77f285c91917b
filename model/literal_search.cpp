#include "model/literal_search.h"

#include <algorithm>
#include <cassert>

namespace faultline {
namespace {

// Longer strides find hardly anything faster, and need more windows.
constexpr std::size_t kMaxStride = 8;

}  // namespace

LiteralSearch::LiteralSearch(std::vector<Literal> literals) : literals_(std::move(literals)) {
  stride_ = kMaxStride;
  for (const Literal& literal : literals_) {
    assert(literal.text.size() >= kMinBytes);
    stride_ = std::min(stride_, literal.text.size() - kMinBytes + 1);
  }
  for (std::uint32_t i = 0; i < literals_.size(); ++i)
    for (std::uint32_t offset = 0; offset < stride_; ++offset)
      probes_.push_back({window_at(literals_[i].text, offset), i, offset});
  std::ranges::sort(probes_, {}, &Probe::window);
  for (const Probe& probe : probes_) may_begin_.set(slot(probe.window));
}

std::span<const LiteralSearch::Probe> LiteralSearch::probes_of(std::uint32_t window) const {
  const auto [begin, end] = std::ranges::equal_range(probes_, window, {}, &Probe::window);
  return {begin, end};
}

bool LiteralSearch::stands(std::string_view text, std::size_t at, const Probe& probe) const {
  if (at < probe.offset) return false;
  return text.substr(at - probe.offset).starts_with(literals_[probe.literal].text);
}

}  // namespace faultline
