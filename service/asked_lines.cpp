#include "service/asked_lines.h"

#include "rules/knowledge/broken_warnings.h"

namespace faultline {

// The version first: a catalog that is replaced in between is then taken anew.
AskedLines::AskedLines(const LiveCatalog& catalog)
    : catalog_(catalog), version_(catalog.version()), signatures_(catalog.get()->signatures) {}

const Signatures& AskedLines::in_force() const {
  if (const std::uint64_t now = catalog_.version(); now != version_) {
    version_ = now;
    signatures_ = catalog_.get()->signatures;
  }
  return *signatures_;
}

bool AskedLines::wants(std::string_view text, std::string_view dialect) const {
  return in_force().wants(text, dialect);
}

bool AskedLines::reads_like_kernel(std::string_view text) const {
  return in_force().reads_like_kernel(text);
}

std::optional<std::size_t> AskedLines::nccl_warning_in(std::string_view text) const {
  return in_force().nccl_warning_in(text);
}

bool AskedLines::completes(const Remark& begun, std::string_view text) const {
  return faultline::completes(in_force(), begun, text);
}

}  // namespace faultline
