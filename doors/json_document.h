// The one way in which the doors parse JSON.
#pragma once

#include <simdjson.h>

#include <new>
#include <string_view>

namespace faultline {

// `root` is valid until the parser's next use. Throws std::bad_alloc if there is no memory: that is
// no mistake of the sender, who must send the body again.
inline simdjson::error_code parse_json(simdjson::dom::parser& parser, std::string_view text,
                                       simdjson::dom::element& root) {
  const simdjson::error_code error = parser.parse(text.data(), text.size()).get(root);
  if (error == simdjson::MEMALLOC) throw std::bad_alloc();
  return error;
}

}  // namespace faultline
