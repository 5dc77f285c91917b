// Signatures of calls in few bytes.
#pragma once

#include <vector>

#include "model/bytes.h"
#include "model/call.h"

namespace faultline {

inline void write_signatures(const std::vector<Signature>& signatures, ByteWriter& out) {
  out.number(signatures.size());
  for (const Signature& signature : signatures) {
    out.text(signature.function);
    out.number(signature.count);
    out.signed_number(signature.datatype);
    out.signed_number(signature.operation);
    out.signed_number(signature.root);
    out.byte(
        static_cast<std::uint8_t>((signature.count_is_size ? 1 : 0) | (signature.done ? 2 : 0)));
  }
}

inline std::vector<Signature> read_signatures(ByteReader& in) {
  std::vector<Signature> signatures(in.count(6));
  for (Signature& signature : signatures) {
    signature.function = in.text();
    signature.count = in.number();
    signature.datatype = in.signed_int();
    signature.operation = in.signed_int();
    signature.root = in.signed_int();
    const std::uint8_t is = in.byte();
    signature.count_is_size = (is & 1) != 0;
    signature.done = (is & 2) != 0;
  }
  return signatures;
}

}  // namespace faultline
