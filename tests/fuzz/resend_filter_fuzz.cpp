// A source is sent in bodies, and then again: whole, grown, in pieces of any size. Bytes that are
// held add nothing, and new bytes pass once and in order.
#include "service/resend_filter.h"

#include <algorithm>
#include <vector>

#include "held_blocks.h"
#include "oracle.h"

namespace {

using namespace faultline;

std::size_t least(std::size_t a, std::size_t b) { return std::min(a, b); }

// Stores a body as FileStream commits it: blocks of whole lines, and the remainder at its end.
void hold(std::string_view body, std::uint64_t at, std::size_t target,
          std::vector<Fingerprint>& held) {
  bool starts = true;
  while (!body.empty()) {
    const std::size_t newline = body.find('\n', least(target, body.size()) - 1);
    const std::size_t size = newline == std::string_view::npos ? body.size() : newline + 1;
    const std::string_view block = body.substr(0, size);
    held.push_back({.from_offset = at,
                    .to_offset = at + size,
                    .digest = digest_of(block),
                    .head_digest = digest_of(block.substr(0, kHeadBytes)),
                    .starts_body = starts});
    starts = false;
    at += size;
    body.remove_prefix(size);
  }
}

struct Sent {
  std::string fresh;
  std::uint64_t duplicate_bytes = 0;
};

Sent send(const std::vector<Fingerprint>& held, std::string_view body, std::size_t piece,
          bool whole) {
  ResendFilter filter(held_blocks(held));
  if (whole) filter.expect_whole_bodies();
  Sent sent;
  const std::size_t size = body.size();
  for (; !body.empty(); body.remove_prefix(least(piece, body.size())))
    sent.fresh += filter.feed(std::string(body.substr(0, piece)));
  sent.fresh += filter.finish();
  sent.duplicate_bytes = filter.duplicate_bytes();
  require(sent.fresh.size() + sent.duplicate_bytes == size, "each byte is new or was held");
  const std::uint64_t bytes_held = held.empty() ? 0 : held.back().to_offset;
  require(sent.duplicate_bytes <= bytes_held, "a body holds no more of a source than there is");
  return sent;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const std::size_t piece = std::size_t{1} + input.byte() * std::size_t{4};
  const std::size_t target = std::size_t{1} + input.byte() * std::size_t{16};
  const bool whole = input.byte() % 8 == 0;
  const std::string body(input.text());
  const std::string more(input.text());
  if (body.empty()) return 0;

  std::vector<Fingerprint> held;
  hold(body, 0, target, held);
  const Sent again = send(held, body, piece, whole);
  require(again.fresh.empty() && again.duplicate_bytes == body.size(),
          "the same bytes again add nothing");

  // If a file grew by less than the head that identifies it, exactly the new bytes are added; see
  // begin_boundary().
  const std::string grown = body + more;
  const Sent longer = send(held, grown, piece, whole);
  require(std::string_view(grown).ends_with(longer.fresh), "what is new passes in its order");
  const Sent at_once = send(held, grown, grown.size(), whole);
  require(longer.fresh == at_once.fresh, "the same is new however it is cut");
  if (more.size() < kHeadBytes && body.size() >= kHeadBytes)
    require(longer.fresh.size() == more.size(), "a file that grew adds what it grew by");

  // Once the new bytes are held as well, nothing is new.
  if (longer.fresh.empty()) return 0;
  hold(longer.fresh, body.size(), target, held);
  held[held.size() - 1].starts_body = held.back().starts_body && longer.duplicate_bytes == 0;
  for (Fingerprint& block : held)
    if (block.from_offset == body.size()) block.starts_body = longer.duplicate_bytes == 0;
  require(send(held, grown, piece, whole).fresh.empty(), "a file that grew, again, adds nothing");
  return 0;
}
