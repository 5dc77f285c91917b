// HeldProof: how a server shows which bytes of a stream it has.
#pragma once

#include <xxhash.h>

#include <cstdint>
#include <string_view>

namespace faultline {

// A block of a stream, as the server has it: XXH3-64 of the bytes.
struct HeldProof {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t digest = 0;
};

// Gets a stream from its beginning, and tells whether the block of the proof is in it.
class ProofCheck {
 public:
  explicit ProofCheck(const HeldProof& proof);
  ~ProofCheck();
  ProofCheck(const ProofCheck&) = delete;
  ProofCheck& operator=(const ProofCheck&) = delete;

  void add(std::string_view bytes);
  // Bytes as the spool holds them: frames of zstd, one behind the other.
  void add_packed(std::string_view frames);
  std::uint64_t passed() const { return passed_; }
  bool holds() const;

 private:
  HeldProof proof_;
  XXH3_state_t* state_;
  std::uint64_t passed_ = 0;
};

}  // namespace faultline
