#include "ingest/block_digest.h"

#include <algorithm>
#include <new>

namespace faultline {
namespace {

XXH3_state_t* new_state() {
  XXH3_state_t* state = XXH3_createState();
  if (state == nullptr) throw std::bad_alloc();
  XXH3_64bits_reset(state);
  return state;
}

void append_head(std::string& head, std::string_view bytes) {
  head.append(bytes.substr(0, kHeadBytes - std::min(kHeadBytes, head.size())));
}

}  // namespace

std::uint64_t digest_of(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

BlockDigest::BlockDigest() : all_(new_state()), lines_(new_state()), tail_(new_state()) {}

BlockDigest::~BlockDigest() {
  XXH3_freeState(all_);
  XXH3_freeState(lines_);
  XXH3_freeState(tail_);
}

void BlockDigest::add(std::string_view bytes) {
  append_head(head_, bytes);
  all_bytes_ += bytes.size();
  const std::size_t newline = bytes.rfind('\n');
  if (newline != std::string_view::npos) {
    const std::string_view lines = bytes.substr(0, newline + 1);
    bytes.remove_prefix(newline + 1);
    XXH3_64bits_update(all_, lines.data(), lines.size());
    XXH3_copyState(lines_, all_);
    XXH3_64bits_reset(tail_);
    tail_bytes_ = 0;
    tail_head_.clear();
  }
  XXH3_64bits_update(all_, bytes.data(), bytes.size());
  XXH3_64bits_update(tail_, bytes.data(), bytes.size());
  tail_bytes_ += bytes.size();
  append_head(tail_head_, bytes);
}

BlockDigests BlockDigest::cut(bool everything) {
  const std::uint64_t bytes = everything ? all_bytes_ : whole_line_bytes();
  const BlockDigests digests{
      .all = XXH3_64bits_digest(everything ? all_ : lines_),
      .head = digest_of(std::string_view(head_).substr(
          0, static_cast<std::size_t>(std::min<std::uint64_t>(bytes, kHeadBytes))))};
  if (everything) {
    XXH3_64bits_reset(tail_);
    tail_bytes_ = 0;
    tail_head_.clear();
  }
  XXH3_copyState(all_, tail_);
  XXH3_64bits_reset(lines_);
  all_bytes_ = tail_bytes_;
  head_ = tail_head_;
  return digests;
}

}  // namespace faultline
