#include "ingest/unpack/wide_text_stage.h"

#include <utility>

namespace faultline::unpacking {
namespace {

constexpr std::size_t kBuffer = std::size_t{64} << 10;
constexpr std::uint32_t kByteOrderMark = 0xfeff;
constexpr std::uint32_t kNoCharacter = 0xfffd;  // stands for what cannot be read

}  // namespace

WideTextStage::WideTextStage(std::size_t width, bool big_endian, StagePtr next)
    : width_(width), big_endian_(big_endian), next_(std::move(next)) {}

Result<void> WideTextStage::feed(std::string_view bytes) {
  for (const char c : bytes) {
    const std::uint32_t byte = static_cast<unsigned char>(c);
    unit_ = big_endian_ ? unit_ << 8 | byte : unit_ | byte << (8 * unit_bytes_);
    if (++unit_bytes_ < width_) continue;
    take_unit(std::exchange(unit_, 0));
    unit_bytes_ = 0;
    if (text_.size() >= kBuffer)
      if (auto passed_on = pass_on(); !passed_on) return passed_on;
  }
  return pass_on();
}

void WideTextStage::take_unit(std::uint32_t unit) {
  if (std::exchange(at_start_, false) && unit == kByteOrderMark) return;
  const bool low = unit >= 0xdc00 && unit < 0xe000;
  if (const std::uint32_t high = std::exchange(high_surrogate_, 0); high != 0) {
    if (low && width_ == 2) return append(0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
    append(kNoCharacter);
  }
  if (unit >= 0xd800 && unit < 0xdc00 && width_ == 2)
    high_surrogate_ = unit;
  else
    append(unit > 0x10ffff || low || (unit >= 0xd800 && unit < 0xdc00) ? kNoCharacter : unit);
}

void WideTextStage::append(std::uint32_t character) {
  if (character < 0x80) {
    text_ += static_cast<char>(character);
    return;
  }
  int more = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
  constexpr std::uint32_t kLead[] = {0, 0xc0, 0xe0, 0xf0};
  text_ += static_cast<char>(kLead[more] | character >> (6 * more));
  while (more-- > 0) text_ += static_cast<char>(0x80 | (character >> (6 * more) & 0x3f));
}

Result<void> WideTextStage::pass_on() {
  if (text_.empty()) return {};
  Result<void> fed = next_->feed(text_);
  text_.clear();
  return fed;
}

Result<void> WideTextStage::finish() { return next_->finish(); }

}  // namespace faultline::unpacking
