// Reads one JSON text that is too large to be a line, as a whole.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "parsers/torch/value_tree.h"

namespace faultline {

// Finds where an object or an array ends, while its bytes come in pieces.
class JsonExtent {
 public:
  static constexpr std::size_t kMaxDepth = 64;

  // Looks at what has been added since the last call: `bytes` begin where the JSON begins.
  void look_at(std::string_view bytes);

  bool complete() const { return complete_; }
  bool hopeless() const { return hopeless_; }  // no JSON, or nested too deep
  std::size_t end() const { return at_; }      // behind the last bracket, once complete

  // Of one that breaks off: what stands before its unfinished element of the list of objects that
  // it is, or that is a member of it, with the missing brackets. Empty: there is no whole element.
  std::string mended(std::string_view bytes) const;

 private:
  std::size_t at_ = 0;
  bool in_text_ = false;
  bool escaped_ = false;
  bool complete_ = false;
  bool hopeless_ = false;
  std::string open_;  // brackets
  std::size_t whole_until_ = 0;
  std::string open_there_;
};

struct JsonTree {
  std::string reason;  // why it could not be read; empty: it was
  ValueTree tree;
};

JsonTree read_json_tree(std::string_view text);

}  // namespace faultline
