#include "store/batch_codec.h"

#include <fmt/format.h>

#include "model/batch_bytes.h"
#include "model/call_columns.h"
#include "store/compressed.h"
#include "store/error.h"

namespace faultline {

std::string encode_batch(const Batch& batch) {
  const std::uint64_t calls = batch.facts() - batch.events.size();
  const std::string content = write_batch(batch);
  if (content.size() > kMaxContentBytes || calls > kMaxCallsPerBatch)
    throw StoreError(
        fmt::format("batch of {} calls, {} bytes is too large to store", calls, content.size()));
  return compressed(content);
}

Result<Batch> decode_batch(std::string_view bytes) {
  const Result<std::string> content = decompressed(bytes, kMaxContentBytes);
  if (!content)
    return Error{Error::Kind::invalid_input,
                 fmt::format("stored batch {}", content.error().message)};
  return read_batch(*content);
}

}  // namespace faultline
