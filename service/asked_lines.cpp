#include "service/asked_lines.h"

#include "rules/knowledge/broken_warnings.h"

namespace faultline {

// Reads the version first: if the catalog is replaced in between, the next question fetches it
// again.
AskedLines::AskedLines(const LiveCatalog& catalog)
    : catalog_(catalog), version_(catalog.version()), catalog_in_force_(catalog.get()) {}

const Catalog& AskedLines::in_force() const {
  if (const std::uint64_t now = catalog_.version(); now != version_) {
    version_ = now;
    catalog_in_force_ = catalog_.get();
  }
  return *catalog_in_force_;
}

bool AskedLines::wants(std::string_view text, std::string_view dialect) const {
  return in_force().signatures->wants(text, dialect);
}

bool AskedLines::reads_like_kernel(std::string_view text) const {
  return in_force().signatures->reads_like_kernel(text);
}

std::optional<std::size_t> AskedLines::nccl_warning_in(std::string_view text) const {
  return in_force().signatures->nccl_warning_in(text);
}

TroubleKind AskedLines::trouble_in(std::string_view text) const {
  return in_force().trouble->kind_of(text);
}

bool AskedLines::knows(const Remark& remark) const {
  return in_force().signatures->match(remark).has_value();
}

bool AskedLines::hides(std::string_view line, bool is_cut, OpenSecret& open,
                       std::string& hidden) const {
  return in_force().secrets->hide(line, is_cut, open, hidden);
}

bool AskedLines::completes(const Remark& begun, std::string_view text) const {
  return faultline::completes(*in_force().signatures, begun, text);
}

}  // namespace faultline
