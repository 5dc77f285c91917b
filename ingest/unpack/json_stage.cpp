#include "ingest/unpack/json_stage.h"

#include <algorithm>
#include <utility>

#include "ingest/unpack/format.h"
#include "ingest/unwrap/shipper_json.h"

namespace faultline::unpacking {
namespace {

constexpr std::size_t kBuffer = std::size_t{64} << 10;
constexpr int kDeepest = 1000;
constexpr std::string_view kBlanks = " \t\r\n";

}  // namespace

JsonStage::Beginning JsonStage::begins(std::string_view start) {
  const Beginning unsure = start.size() >= kFormatBytes ? Beginning::no : Beginning::so_far;
  const std::size_t open = start.find_first_not_of(kBlanks);
  if (open == std::string_view::npos) return unsure;
  if (start[open] != '[' && start[open] != '{') return Beginning::no;
  const std::size_t next = start.find_first_not_of(kBlanks, open + 1);
  if (start[open] == '[') {
    if (next == std::string_view::npos) return unsure;
    return start[next] == '{' ? Beginning::yes : Beginning::no;
  }
  const std::size_t newline = start.substr(0, next).find('\n', open);
  if (newline != std::string_view::npos) return Beginning::yes;
  return next == std::string_view::npos ? unsure : Beginning::no;
}

JsonStage::JsonStage(StagePtr next) : next_(std::move(next)) {}

void JsonStage::Place::pass(char c) {
  if (in_text) {
    if (escaped)
      escaped = false;
    else if (c == '\\')
      escaped = true;
    else if (c == '"')
      in_text = false;
  } else if (c == '"') {
    in_text = true;
  } else if (c == '{' || c == '[') {
    ++depth;
  } else if (c == '}' || c == ']') {
    --depth;
  }
}

Result<void> JsonStage::feed(std::string_view bytes) {
  if (state_ == State::as_it_is) return next_->feed(bytes);
  if (state_ == State::joining) return join(bytes);
  const std::string_view looked_at = bytes.substr(0, kMostHeld - held_.size());
  held_ += looked_at;
  bytes.remove_prefix(looked_at.size());
  look_for_first();
  if (state_ == State::undecided && held_.size() < kMostHeld) return {};
  if (auto decided = decide(state_ == State::undecided ? State::as_it_is : state_); !decided)
    return decided;
  return bytes.empty() ? Result<void>{} : feed(bytes);
}

void JsonStage::look_for_first() {
  for (; looked_at_ < held_.size() && state_ == State::undecided; ++looked_at_) {
    const char c = held_[looked_at_];
    const int before = place_.depth;
    if (!place_.in_text && first_ == std::string::npos) {
      if (c == '[') in_list_ = true;
      if (c == '{') first_ = looked_at_;
    }
    place_.pass(c);
    if (place_.depth >= before || place_.depth != (in_list_ ? 1 : 0)) continue;
    const std::string_view record = std::string_view(held_).substr(first_, looked_at_ + 1 - first_);
    state_ = is_shipper_json(record) ? State::joining : State::as_it_is;
  }
}

Result<void> JsonStage::decide(State state) {
  state_ = state;
  place_ = {};
  in_list_ = false;
  const std::string held = std::exchange(held_, {});
  if (state == State::joining) buffer_ = std::make_unique_for_overwrite<char[]>(kBuffer);
  return held.empty() ? Result<void>{} : feed(held);
}

Result<void> JsonStage::join(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kBuffer);
    bytes.remove_prefix(piece.size());
    std::transform(piece.begin(), piece.end(), buffer_.get(), [this](char c) { return joined(c); });
    if (auto fed = next_->feed({buffer_.get(), piece.size()}); !fed) return fed;
  }
  return {};
}

// A comma between records becomes a newline; any other line break becomes a blank.
char JsonStage::joined(char c) {
  const bool in_text = place_.in_text;
  const int before = place_.depth;
  // No text in JSON contains a newline: what follows is something else.
  if (broken_ || (in_text && c == '\n')) {
    broken_ = true;
    return c;
  }
  if (!in_text && before == 0 && c == ']') return ' ';
  if (!in_text && before == 0 && c == '[') in_list_ = true;
  place_.pass(c);
  broken_ = place_.depth < 0 || place_.depth > kDeepest;
  if (in_text) return c;
  if (in_list_ && before == 1) {
    if (c == ',') return '\n';
    if (c == ']') in_list_ = false;
  }
  const bool bracket_of_list = (c == '[' && before == 0) || (c == ']' && place_.depth == 0);
  if (bracket_of_list || (place_.depth > 0 && (c == '\n' || c == '\r'))) return ' ';
  return c;
}

Result<void> JsonStage::finish() {
  if (state_ == State::undecided) {
    Result<void> decided = decide(State::as_it_is);
    Result<void> finished = next_->finish();
    return decided ? finished : decided;
  }
  return next_->finish();
}

}  // namespace faultline::unpacking
