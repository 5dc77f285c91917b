// Walks through JSON line by line and remembers no more than where it stands: a document of any
// size takes the memory of its depth.
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
  std::string_view text;  // without quotation marks; escapes as they stand

  bool is_true() const { return kind == Kind::word && text == "true"; }
  std::optional<std::int64_t> integer() const;
  std::optional<std::uint64_t> count() const;
};

// Is told what a document holds. A path is the keys that lead to a place, "communicators/ranks";
// the elements of an array have the array's path.
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

  // Reads on through a line, as far as the document goes. A string goes over several lines only if
  // somebody else broke them.
  State read(std::string_view text, JsonSink& sink);

  // What followed the document's end on its last line.
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
  std::string string_;  // as far as it has come
  std::string joined_;  // it, and the line that went on with it
  std::string_view rest_;
};

}  // namespace faultline
