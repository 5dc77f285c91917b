// A YAML file as a tree: parsed by yaml-cpp, or packed when the program was built. The catalog's
// own files come packed, because parsing them takes longer than most diagnoses.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace faultline {

class YamlNode {
 public:
  bool is_text() const { return kind_ == Kind::text; }
  bool is_list() const { return kind_ == Kind::list; }
  bool is_map() const { return kind_ == Kind::map; }

  std::size_t line() const { return line_; }       // in its file, from 1
  std::string_view text() const { return text_; }  // empty: the node is not a text
  std::span<const YamlNode> items() const {        // of a list
    return is_list() ? children_ : std::span<const YamlNode>();
  }

  struct Field;
  std::vector<Field> fields() const;                 // of a map, in the file's order
  const YamlNode* find(std::string_view key) const;  // nullptr: the map has no such field

 private:
  friend class YamlTree;
  enum class Kind : std::uint8_t { nothing, text, list, map };

  Kind kind_ = Kind::nothing;
  std::uint32_t line_ = 1;
  std::string_view text_;
  std::span<const YamlNode> children_;  // of a map: key, value, key, value
};

struct YamlNode::Field {
  const YamlNode& key;
  const YamlNode& value;
};

struct YamlFault {
  std::string what;  // empty: there is none
  std::size_t line = 1;
};

class YamlTree {
 public:
  // Reads YAML, or the bytes of pack(). On an error the tree is empty and fault() says what is
  // wrong.
  explicit YamlTree(std::string_view text);
  YamlTree(const YamlTree&) = delete;
  YamlTree& operator=(const YamlTree&) = delete;

  const YamlNode& root() const { return nodes_.empty() ? nothing_ : nodes_.front(); }
  const YamlFault& fault() const { return fault_; }

  // The tree as bytes. They must outlive every tree that is read from them.
  std::string pack() const;

 private:
  class Parsed;
  class Packed;

  YamlNode nothing_;
  std::vector<YamlNode> nodes_;  // never grows beyond what was reserved: nodes point to others
  std::string texts_;            // of a parsed file, one after the other
  YamlFault fault_;
};

}  // namespace faultline
