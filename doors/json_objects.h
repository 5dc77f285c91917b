// The objects in a body of JSON: one on each line, one behind the other, or in a list.
#pragma once

#include <cstddef>
#include <string_view>

namespace faultline {

// Takes the next object, or a piece that is none, off the front of a text.
struct JsonPiece {
  std::string_view text;
  bool is_object = false;
};

class JsonObjects {
 public:
  explicit JsonObjects(std::string_view body) : rest_(body) {}

  // False: there is nothing more.
  bool next(JsonPiece& piece);

 private:
  std::size_t object_length();

  std::string_view rest_;
  std::size_t failed_ = 0;  // beginnings of objects that do not end
};

}  // namespace faultline
