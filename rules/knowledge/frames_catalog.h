// What the frames of a stack say about their thread (frames.yaml).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rules/knowledge/conditions_catalog.h"

namespace faultline {

// What a thread waits for.
enum class StackWait : std::uint8_t {
  nothing,     // it does something else
  collective,  // other ranks
  start,       // other ranks to start
  gpu,         // its GPU, which may wait for other ranks
};

// One frame, whichever tool printed it.
struct StackFrame {
  std::string_view function;
  std::string_view place;  // file and line, or library; empty: unknown
};
StackFrame frame_of(std::string_view text);

struct FrameMeaning {
  StackWait wait = StackWait::nothing;
  std::string does;  // "waits in a collective"
  NamePatterns functions;
  std::vector<std::string> files;

  bool knows(const StackFrame& frame) const;
};

// What a thread does, and the frame that shows it.
struct StackMeaning {
  const FrameMeaning* known = nullptr;  // nullptr: the user's own code, or unknown
  std::string_view frame;               // as the tool printed it; empty: no frame shows it
};

struct FramesCatalog {
  std::vector<FrameMeaning> meanings;
  std::vector<std::string> libraries;

  // The frames stand from the innermost one outwards.
  StackMeaning meaning_of(const std::vector<std::string>& frames) const;
};

}  // namespace faultline
