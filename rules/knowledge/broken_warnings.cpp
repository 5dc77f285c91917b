#include "rules/knowledge/broken_warnings.h"

namespace faultline {

bool completes(const Signatures& signatures, const Remark& begun, std::string_view text) {
  constexpr double kLeastConfidence = 0.5;
  if (signatures.match(begun)) return false;
  Remark whole = begun;
  whole.text = text;
  const auto match = signatures.match(whole);
  return match && match->signature->confidence >= kLeastConfidence;
}

}  // namespace faultline
