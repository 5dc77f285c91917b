#include "ship/held_proof.h"

#include <algorithm>

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

bool ProofCheck::holds() const {
  return proof_.from < proof_.to && passed_ >= proof_.to &&
         XXH3_64bits_digest(state_) == proof_.digest;
}

}  // namespace faultline
