#include "store/prints.h"

namespace faultline {
namespace {

constexpr std::size_t kLeastBytes = 19;

// A digest is written in full: none of its bits can be predicted.
void write_digest(std::uint64_t digest, ByteWriter& out) {
  for (int shift = 0; shift < 64; shift += 8) out.byte(static_cast<std::uint8_t>(digest >> shift));
}

std::uint64_t read_digest(ByteReader& in) {
  std::uint64_t digest = 0;
  for (int shift = 0; shift < 64; shift += 8) digest |= std::uint64_t{in.byte()} << shift;
  return digest;
}

}  // namespace

std::string write_prints(const std::vector<HeldBlock>& blocks) {
  ByteWriter out;
  out.number(blocks.size());
  std::int64_t batch = 0;
  std::uint64_t offset = 0;
  for (const HeldBlock& block : blocks) {
    const Fingerprint& print = block.print;
    // Unsigned, so that nothing overflows: numbers read from a damaged page may be written again.
    out.signed_number(static_cast<std::int64_t>(static_cast<std::uint64_t>(block.batch) -
                                                static_cast<std::uint64_t>(batch)));
    out.signed_number(static_cast<std::int64_t>(print.from_offset - offset));
    out.number((print.to_offset - print.from_offset) << 1U | (print.starts_body ? 1U : 0U));
    write_digest(print.digest, out);
    write_digest(print.head_digest, out);
    batch = block.batch;
    offset = print.to_offset;
  }
  return out.take();
}

std::vector<HeldBlock> read_prints(std::string_view bytes) {
  ByteReader in(bytes);
  std::vector<HeldBlock> blocks(in.count(kLeastBytes));
  std::int64_t batch = 0;
  std::uint64_t offset = 0;
  for (HeldBlock& block : blocks) {
    Fingerprint& print = block.print;
    batch = static_cast<std::int64_t>(static_cast<std::uint64_t>(batch) +
                                      static_cast<std::uint64_t>(in.signed_number()));
    block.batch = batch;
    print.from_offset = offset + static_cast<std::uint64_t>(in.signed_number());
    const std::uint64_t size = in.number();
    print.to_offset = print.from_offset + (size >> 1U);
    print.starts_body = (size & 1U) != 0;
    print.digest = read_digest(in);
    print.head_digest = read_digest(in);
    offset = print.to_offset;
  }
  if (!in.at_end()) throw BadBytes("has bytes after its end");
  return blocks;
}

}  // namespace faultline
