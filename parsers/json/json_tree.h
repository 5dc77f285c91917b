// Reads one JSON text as a whole, although it is too large for a line.
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

  // Looks at the bytes that are new since the last call. `bytes` is the JSON from its beginning.
  void look_at(std::string_view bytes);

  bool complete() const { return complete_; }
  bool hopeless() const { return hopeless_; }  // not JSON, or nested too deep
  std::size_t end() const { return at_; }      // after the last bracket, once complete

  // For JSON that breaks off within a list of objects: the JSON up to the last whole object, with
  // the missing brackets. The JSON is the list, or has it as a member. Empty: no object is whole.
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
  std::string reason;  // why it could not be read; empty: it was read
  ValueTree tree;
};

JsonTree read_json_tree(std::string_view text);

}  // namespace faultline
