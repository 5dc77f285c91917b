#include "service/resend_filter.h"

#include <algorithm>
#include <utility>

namespace faultline {
namespace {

std::size_t size_of(const HeldBlock& block) {
  return static_cast<std::size_t>(block.print.to_offset - block.print.from_offset);
}

}  // namespace

HeldBlocks held_blocks(Store& store, const std::string& job, const std::string& source,
                       std::size_t bodies) {
  return {.starts = store.body_starts(job, source, bodies),
          .after = [&store, job, source](std::int64_t batch) {
            return store.blocks_after(job, source, batch);
          }};
}

// Tries the longest block first, because its match proves most. Blocks of equal size keep their
// order.
ResendFilter::ResendFilter(HeldBlocks held) : held_(std::move(held)) {
  std::erase_if(held_.starts, [](const HeldBlock& block) { return size_of(block) == 0; });
  std::ranges::stable_sort(held_.starts, std::ranges::greater(), size_of);
  begin_boundary();
}

// The block behind the one that was matched last.
void ResendFilter::find_next() {
  next_.reset();
  if (!last_matched_) return;
  const auto behind = [&](const HeldBlock& block) {
    return block.batch > last_matched_->batch && size_of(block) > 0;
  };
  auto block = std::ranges::find_if(window_, behind);
  for (std::int64_t from = last_matched_->batch; block == window_.end();
       from = window_.back().batch) {
    window_ = held_.after(from);
    if (window_.empty()) return;
    block = std::ranges::find_if(window_, behind);
  }
  next_ = *block;
}

void ResendFilter::begin_boundary() {
  find_next();
  candidates_.clear();
  bool lacks_next = next_ && !matched_.contains(next_->batch);
  const auto add_next = [&] {
    candidates_.push_back({.block = *next_, .follows = true});
    lacks_next = false;
  };
  for (const HeldBlock& block : held_.starts) {
    if (lacks_next && size_of(*next_) >= size_of(block)) add_next();
    if (next_ && block.batch == next_->batch) continue;
    // Inside a body, a few equal bytes prove nothing: a file may grow by a line that it began with.
    // But a body that was stored after the last match may be a branch of it.
    if (last_matched_ && size_of(block) < kHeadBytes && block.batch < last_matched_->batch)
      continue;
    candidates_.push_back({.block = block});
  }
  if (lacks_next) add_next();
}

void ResendFilter::drop(std::size_t bytes) {
  start_ += bytes;
  duplicate_bytes_ += bytes;
}

void ResendFilter::take_block(HeldBlock block) {
  const std::size_t here = std::min(size_of(block), rest().size());
  skipping_ = size_of(block) - here;
  drop(here);
  matched_.insert(block.batch);
  std::erase_if(held_.starts, [&](const HeldBlock& start) { return start.batch == block.batch; });
  last_matched_ = block;
  begin_boundary();
}

// Most candidates begin with other bytes, which their head shows.
void ResendFilter::drop_those_that_begin_otherwise() {
  const std::uint64_t usual = digest_of(rest().substr(0, kHeadBytes));
  std::erase_if(candidates_, [&](Candidate& candidate) {
    const std::size_t head = std::min(size_of(candidate.block), kHeadBytes);
    if (candidate.head_matches || rest().size() < head) return false;
    const std::uint64_t digest = head == kHeadBytes ? usual : digest_of(rest().substr(0, head));
    candidate.head_matches = digest == candidate.block.print.head_digest;
    return !candidate.head_matches;
  });
}

// Takes one whole block off the front of what is held back. False: nothing to take, or not yet.
bool ResendFilter::match_block(bool complete) {
  drop_those_that_begin_otherwise();
  for (auto candidate = candidates_.begin(); candidate != candidates_.end();) {
    const Fingerprint& block = candidate->block.print;
    const std::size_t size = size_of(candidate->block);
    if (whole_bodies_ && size > kMostHeldBytes) {
      // Its facts are stored again, which changes nothing.
      candidate = candidates_.erase(candidate);
      continue;
    }
    if (!whole_bodies_ && size > kMaxBlockBytes && rest().size() > kMaxBlockBytes &&
        rest().find('\n') == std::string_view::npos) {
      // Too long to hold back, and too long a line to be read: only its head is compared.
      take_block(candidate->block);
      return true;
    }
    if (rest().size() < size) {
      if (!complete) return false;  // wait: a shorter candidate must not win over a longer one
      ++candidate;
      continue;
    }
    if (digest_of(rest().substr(0, size)) == block.digest) {
      take_block(candidate->block);
      return true;
    }
    candidate = candidates_.erase(candidate);
  }
  return false;
}

std::string_view ResendFilter::give_up() {
  passes_all_ = true;
  candidates_.clear();
  return rest();
}

// Only the head of the overlong line was compared, so the line may end before the stored one does.
std::string_view ResendFilter::skip_overlong_line(std::string_view bytes) {
  const std::string_view of_line =
      bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(skipping_, bytes.size())));
  const std::size_t length = std::min(of_line.find('\n'), of_line.size() - 1) + 1;
  skipping_ -= length;
  duplicate_bytes_ += length;
  if (of_line[length - 1] == '\n') skipping_ = 0;
  return bytes.substr(length);
}

std::string_view ResendFilter::feed(std::string_view bytes) {
  if (passes_all_) return bytes;
  if (skipping_ > 0 && !bytes.empty()) bytes = skip_overlong_line(bytes);
  buffer_.erase(0, start_);
  start_ = 0;
  buffer_.append(bytes);
  while (!rest().empty() && match_block(false)) {
  }
  // After the last block there is nothing left to compare with, whether or not bytes follow.
  return candidates_.empty() ? give_up() : std::string_view{};
}

std::string_view ResendFilter::finish() {
  if (passes_all_) return {};
  while (!rest().empty() && match_block(true)) {
  }
  return rest().empty() ? std::string_view{} : give_up();
}

std::string_view ResendFilter::settle(bool for_long) {
  if (passes_all_ || rest().empty()) return {};
  const bool may_be_known = std::ranges::any_of(candidates_, [&](const Candidate& candidate) {
    return !for_long || candidate.head_matches || candidate.follows;
  });
  return may_be_known ? std::string_view{} : give_up();
}

}  // namespace faultline
