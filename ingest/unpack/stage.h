// A stage of unpacking: bytes are pushed in, and what it makes of them is pushed on to the next
// one.
#pragma once

#include <memory>
#include <string_view>

#include "model/result.h"

namespace faultline::unpacking {

class Stage {
 public:
  virtual ~Stage() = default;

  // After an error only finish() may be called.
  virtual Result<void> feed(std::string_view bytes) = 0;

  // Nothing more comes. Delivers what was held back and closes what is open, even if it returns an
  // error. Must be called once, also after feed() failed.
  virtual Result<void> finish() = 0;
};

using StagePtr = std::unique_ptr<Stage>;

}  // namespace faultline::unpacking
