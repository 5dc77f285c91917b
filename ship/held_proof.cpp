#include "ship/held_proof.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <memory>

namespace faultline {

ProofCheck::ProofCheck(const HeldProof& proof) : proof_(proof), state_(XXH3_createState()) {
  XXH3_64bits_reset(state_);
}

ProofCheck::~ProofCheck() { XXH3_freeState(state_); }

void ProofCheck::add(std::string_view bytes) {
  const std::uint64_t from = std::clamp(proof_.from, passed_, passed_ + bytes.size()) - passed_;
  const std::uint64_t to = std::clamp(proof_.to, passed_, passed_ + bytes.size()) - passed_;
  if (from < to) XXH3_64bits_update(state_, bytes.data() + from, to - from);
  passed_ += bytes.size();
}

void ProofCheck::add_packed(std::string_view frames) {
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(),
                                                                     &ZSTD_freeDCtx);
  std::array<char, 65536> buffer;
  ZSTD_inBuffer in{frames.data(), frames.size(), 0};
  for (bool is_full = false; in.pos < in.size || is_full;) {
    ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
    if (ZSTD_isError(ZSTD_decompressStream(context.get(), &out, &in)) != 0) return;
    add({buffer.data(), out.pos});
    is_full = out.pos == out.size;
  }
}

bool ProofCheck::holds() const {
  return proof_.from < proof_.to && passed_ >= proof_.to &&
         XXH3_64bits_digest(state_) == proof_.digest;
}

}  // namespace faultline
