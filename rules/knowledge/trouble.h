// Whether a line that no rule reads looks as if something went wrong (trouble.yaml).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/facts/remark.h"

namespace faultline {

// RE2 patterns.
struct TroubleWords {
  std::vector<std::string> ends;
  std::vector<std::string> fails;
  std::vector<std::string> hints;
  std::vector<std::string> quiet;
  std::vector<std::string> harmless;
};

class Trouble {
 public:
  Trouble();
  // Its patterns must be valid.
  explicit Trouble(const TroubleWords& words);
  ~Trouble();

  const TroubleWords& words() const { return words_; }

  TroubleKind kind_of(std::string_view text) const;

 private:
  class Impl;
  TroubleWords words_;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace faultline
