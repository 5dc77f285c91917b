#include "http/asked_lines.h"

namespace faultline {

// The version first: a catalog that is replaced in between is then taken anew.
AskedLines::AskedLines(const LiveCatalog& catalog)
    : catalog_(catalog), version_(catalog.version()), signatures_(catalog.get()->signatures) {}

bool AskedLines::wants(std::string_view text) const {
  if (const std::uint64_t now = catalog_.version(); now != version_) {
    version_ = now;
    signatures_ = catalog_.get()->signatures;
  }
  return signatures_->wants(text);
}

}  // namespace faultline
