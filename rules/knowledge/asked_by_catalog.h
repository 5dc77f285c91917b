// The lines that a catalog asks for, for a catalog that does not change.
#pragma once

#include <memory>
#include <string_view>

#include "model/noteworthy.h"
#include "rules/knowledge/broken_warnings.h"
#include "rules/knowledge/catalog.h"

namespace faultline {

class AskedByCatalog : public Noteworthy {
 public:
  explicit AskedByCatalog(const Catalog& catalog)
      : signatures_(catalog.signatures), trouble_(catalog.trouble), secrets_(catalog.secrets) {}
  bool wants(std::string_view text, std::string_view dialect) const override {
    return signatures_->wants(text, dialect);
  }
  bool reads_like_kernel(std::string_view text) const override {
    return signatures_->reads_like_kernel(text);
  }
  std::optional<std::size_t> nccl_warning_in(std::string_view text) const override {
    return signatures_->nccl_warning_in(text);
  }
  TroubleKind trouble_in(std::string_view text) const override { return trouble_->kind_of(text); }
  bool knows(const Remark& remark) const override { return signatures_->match(remark).has_value(); }
  bool hides(std::string_view line, bool is_cut, OpenSecret& open,
             std::string& hidden) const override {
    return secrets_->hide(line, is_cut, open, hidden);
  }
  bool completes(const Remark& begun, std::string_view text) const override {
    return faultline::completes(*signatures_, begun, text);
  }

 private:
  std::shared_ptr<const Signatures> signatures_;
  std::shared_ptr<const Trouble> trouble_;
  std::shared_ptr<const Secrets> secrets_;
};

}  // namespace faultline
