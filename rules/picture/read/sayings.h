// What a rank's line means by the signatures, including the NCCL error that an exception quotes.
#pragma once

#include <optional>
#include <unordered_map>

#include "rules/knowledge/signatures.h"
#include "rules/state/torch.h"

namespace faultline {

struct View;

std::optional<SignatureMatch> meaning_of(const View& view, const TorchSaying& saying);

// Caches meanings, because rules ask for the same lines again. A view belongs to one thread.
class Meanings {
 public:
  template <class Match>
  std::optional<SignatureMatch> of(const TorchSaying& saying, Match match) const {
    if (const auto known = known_.find(&saying); known != known_.end()) return known->second;
    std::optional<SignatureMatch> meaning = match();
    if (known_.size() < kMostKept) known_.emplace(&saying, meaning);
    return meaning;
  }

 private:
  static constexpr std::size_t kMostKept = 65'536;
  mutable std::unordered_map<const TorchSaying*, std::optional<SignatureMatch>> known_;
};

}  // namespace faultline
