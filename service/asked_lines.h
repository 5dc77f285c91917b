// AskedLines: which lines a reader keeps because the catalog asks for them. It always asks the
// catalog that is in force now, because a stream may stay open for weeks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "model/noteworthy.h"
#include "rules/knowledge/live_catalog.h"

namespace faultline {

// Belongs to one reader, which uses it from one thread at a time.
class AskedLines : public Noteworthy {
 public:
  explicit AskedLines(const LiveCatalog& catalog);

  bool wants(std::string_view text, std::string_view dialect) const override;
  bool reads_like_kernel(std::string_view text) const override;
  std::optional<std::size_t> nccl_warning_in(std::string_view text) const override;
  TroubleKind trouble_in(std::string_view text) const override;
  bool knows(const Remark& remark) const override;
  bool hides(std::string_view line, bool is_cut, OpenSecret& open,
             std::string& hidden) const override;
  bool completes(const Remark& begun, std::string_view text) const override;

 private:
  const Catalog& in_force() const;

  const LiveCatalog& catalog_;
  mutable std::uint64_t version_;
  mutable std::shared_ptr<const Catalog> catalog_in_force_;
};

}  // namespace faultline
