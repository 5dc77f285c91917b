// Opens a text as a JSON document.
#pragma once

#include <simdjson.h>

#include <algorithm>
#include <new>
#include <string_view>
#include <vector>

namespace faultline {

// Whether all of the document has been read. Text after the last brace means that it is not a JSON
// document.
inline bool at_end(simdjson::ondemand::document& document) {
  const char* location = nullptr;
  return document.current_location().get(location) == simdjson::OUT_OF_BOUNDS;
}

class JsonText {
 public:
  // Strings read from the document are valid until the next call. False: it is not JSON.
  bool open(std::string_view text, simdjson::ondemand::document& document) {
    // simdjson reads whole blocks, so it reads beyond the end of the text.
    padded_.assign(text.size() + simdjson::SIMDJSON_PADDING, ' ');
    std::copy(text.begin(), text.end(), padded_.begin());
    const simdjson::error_code error =
        parser_.iterate(simdjson::padded_string_view(padded_.data(), text.size(), padded_.size()))
            .get(document);
    // The text may be JSON, so do not report that it is not.
    if (error == simdjson::MEMALLOC) throw std::bad_alloc();
    return error == simdjson::SUCCESS;
  }

 private:
  simdjson::ondemand::parser parser_;
  std::vector<char> padded_;
};

}  // namespace faultline
