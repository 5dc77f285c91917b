// Whatever a driver prints after a code: no crash, and only classes that the catalog knows.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "model/cause.h"
#include "rules/knowledge/catalog.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace faultline;
  static const Catalog catalog = load_catalog();
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  const XidMeaning* meaning = catalog.xid(data[0]);
  if (meaning == nullptr) return 0;
  const XidReading reading = read_xid(catalog, *meaning, text);
  if (reading.cause > Cause::host_error) std::abort();
  return 0;
}
