// Walks through JSON line by line and remembers only its place in it: the memory depends on the
// depth of the document, not on its size.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/saved_bytes.h"

namespace faultline {

struct JsonValue {
  enum class Kind { string, number, word };  // word: true, false, null
  Kind kind = Kind::word;
  std::string_view text;  // without quotation marks; escapes are not decoded

  bool is_true() const { return kind == Kind::word && text == "true"; }
  std::optional<std::int64_t> integer() const;
  std::optional<std::uint64_t> count() const;
};

// Receives the contents of a document. A path is the keys that lead to a place,
// "communicators/ranks"; the elements of an array have the path of the array.
class JsonSink {
 public:
  virtual ~JsonSink() = default;
  virtual void key(std::string_view) {}  // the path of a member whose value comes next
  virtual void value(std::string_view path, const JsonValue& value) = 0;
  virtual void closed_object(std::string_view) {}
};

class JsonWalker {
 public:
  enum class State { inside, inside_string, complete, broken };

  // Reads the next line, up to the end of the document. A string spans lines only if a terminal or
  // the like broke it.
  State read(std::string_view text, JsonSink& sink);

  // The text after the end of the document on its last line.
  std::string_view rest() const { return rest_; }

  std::size_t size() const { return path_.size() + frames_.size() + string_.size(); }
  void save(SavedBytesWriter& saved) const;
  void restore(SavedBytesReader& saved);

 private:
  enum class Expect { value, value_or_end, key, key_or_end, colon, comma_or_end };
  struct Frame {
    bool array = false;
    std::size_t path = 0;  // length of the path that leads to it
  };

  State read_on(std::string_view text, JsonSink& sink);
  bool open(bool array);
  bool close(bool array, JsonSink& sink);
  bool take_key(std::string_view key, JsonSink& sink);
  void value_ends();

  Expect expect_ = Expect::value;
  std::string path_;
  std::vector<Frame> frames_;
  bool in_string_ = false;
  std::string string_;  // the string so far, if it goes on in the next line
  std::string joined_;  // string_ and the line that continues it
  std::string_view rest_;
};

}  // namespace faultline
