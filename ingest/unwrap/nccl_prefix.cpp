#include "ingest/unwrap/nccl_prefix.h"

#include "ingest/unwrap/scan.h"
#include "ingest/unwrap/stamps.h"

namespace faultline {

bool starts_with_nccl_speaker(std::string_view text) {
  if (take(text, '[')) {
    if (!take_iso_stamp(text) || !take(text, ']')) return false;
    take_blanks(text);
  }
  std::int64_t number = 0;
  return !take_while(text, is_name).empty() && take(text, ':') && take_number(text, number) &&
         take(text, ':') && take_number(text, number) && take(text, ' ') &&
         (text.starts_with('[') || text.starts_with("NCCL "));
}

bool starts_like_nccl(std::string_view text) {
  return text.starts_with("NCCL ") || starts_with_nccl_speaker(text);
}

}  // namespace faultline
