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

  // Nothing more comes. What was held back is delivered and what is open is closed, whether or not
  // there is something to complain about. Must be called once, also after feed() failed.
  virtual Result<void> finish() = 0;
};

using StagePtr = std::unique_ptr<Stage>;

}  // namespace faultline::unpacking
