// A line of the job's logs, as evidence.
#pragma once

#include <cstdint>
#include <string>

#include "model/time.h"

namespace faultline {

struct LineRef {
  std::uint32_t source = 0;  // index into the job's sources
  std::uint64_t line = 0;    // from 1; 0: there is no such line
  std::uint64_t offset = 0;
  EventTime time;
  std::string text;

  bool known() const { return line != 0; }
};

}  // namespace faultline
