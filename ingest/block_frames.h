// Blocks one behind the other, as the body of a request: before each a line with its length.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "model/result.h"

namespace faultline {

std::string framed(std::string_view block);

// Cuts a body into its blocks, however its bytes come.
class BlockFrames {
 public:
  using Use = std::function<Result<void>(std::string_view block)>;

  // Gives each block that is complete. After an error feed nothing more.
  Result<void> feed(std::string_view bytes, const Use& use);
  bool at_end() const { return held_.empty(); }
  std::size_t held_bytes() const { return held_.size(); }

 private:
  std::string held_;
};

}  // namespace faultline
