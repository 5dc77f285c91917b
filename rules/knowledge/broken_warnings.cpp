#include "rules/knowledge/broken_warnings.h"

#include "rules/knowledge/limits.h"

namespace faultline {

bool completes(const Signatures& signatures, const Remark& begun, std::string_view text) {
  if (signatures.match(begun)) return false;
  Remark whole = begun;
  whole.text = text;
  const auto match = signatures.match(whole);
  return match && match->signature->confidence >= limits::whole_warning;
}

}  // namespace faultline
