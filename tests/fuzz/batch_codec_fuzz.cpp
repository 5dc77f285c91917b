// A stored batch may be any bytes. What is accepted must come back the same when written again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model/batch_bytes.h"
#include "store/batch_codec.h"

using faultline::decode_batch;
using faultline::encode_batch;
using faultline::read_batch;
using faultline::write_batch;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)decode_batch(bytes);
  // Below the checksum, which hardly any input of a fuzzer gets past.
  const auto batch = read_batch(bytes);
  if (!batch.has_value()) return 0;
  const auto again = read_batch(write_batch(*batch));
  if (!again.has_value() || *again != *batch) std::abort();
  const auto packed = decode_batch(encode_batch(*batch));
  if (!packed.has_value() || *packed != *batch) std::abort();
  return 0;
}
