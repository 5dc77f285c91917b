// Lines that a signature asks for, of a catalog that does not change.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "ingest/noteworthy.h"
#include "rules/knowledge/broken_warnings.h"
#include "rules/knowledge/signatures.h"

namespace faultline {

class AskedBySignatures : public Noteworthy {
 public:
  explicit AskedBySignatures(std::shared_ptr<const Signatures> signatures)
      : signatures_(std::move(signatures)) {}
  bool wants(std::string_view text, std::string_view dialect) const override {
    return signatures_->wants(text, dialect);
  }
  bool reads_like_kernel(std::string_view text) const override {
    return signatures_->reads_like_kernel(text);
  }
  std::optional<std::size_t> nccl_warning_in(std::string_view text) const override {
    return signatures_->nccl_warning_in(text);
  }
  bool completes(const Remark& begun, std::string_view text) const override {
    return faultline::completes(*signatures_, begun, text);
  }

 private:
  std::shared_ptr<const Signatures> signatures_;
};

}  // namespace faultline
