// Text of 16 or 32 bits a character (PowerShell's `>`) becomes UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ingest/unpack/stage.h"

namespace faultline::unpacking {

class WideTextStage : public Stage {
 public:
  WideTextStage(std::size_t width, bool big_endian, StagePtr next);

  Result<void> feed(std::string_view bytes) override;
  Result<void> finish() override;

 private:
  void take_unit(std::uint32_t unit);
  void append(std::uint32_t character);
  Result<void> pass_on();

  std::size_t width_;
  bool big_endian_;
  StagePtr next_;
  std::uint32_t unit_ = 0;  // as far as its bytes came
  std::size_t unit_bytes_ = 0;
  std::uint32_t high_surrogate_ = 0;
  bool at_start_ = true;
  std::string text_;  // not passed on yet
};

}  // namespace faultline::unpacking
