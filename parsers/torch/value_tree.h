// ValueTree: the dictionaries, lists, numbers and text of one stored object: a pickle or a JSON
// text. It is small and flat: a dump with thousands of entries takes a few megabytes, and the text
// of a pickle is not copied.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parsers/tool/growing_blocks.h"

namespace faultline {

class ValueTree {
 public:
  using Index = std::uint32_t;
  static constexpr Index kNothing = std::numeric_limits<Index>::max();

  // Together they keep a tree below 40 MB, not counting the texts that it copies.
  static constexpr std::size_t kMaxValues = std::size_t{1} << 20;
  static constexpr std::size_t kMaxElements = std::size_t{1} << 21;

  ValueTree() = default;
  // A tree of at most so many bytes, including the memory that a walk through it needs.
  explicit ValueTree(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  enum class Kind : std::uint8_t { none, boolean, integer, real, text, list, tuple, dictionary };

  Kind kind(Index value) const { return values_[value].kind; }
  bool is_sequence(Index value) const {
    return kind(value) == Kind::list || kind(value) == Kind::tuple;
  }
  bool is_container(Index value) const { return kind(value) >= Kind::list; }

  std::optional<std::int64_t> integer(Index value) const;
  std::optional<double> number(Index value) const;  // of an integer too
  std::optional<bool> boolean(Index value) const;
  std::optional<std::string_view> text(Index value) const;

  // Visits the elements of a container; for a dictionary keys and values in turn.
  template <class Visit>
  void for_each(Index container, Visit&& visit) const {
    if (!is_container(container)) return;
    for (Index at = values_[container].first; at != kNothing; at = elements_[at].next)
      visit(elements_[at].value);
  }
  std::size_t size(Index container) const { return values_[container].size; }

  // Calls visit(key, value) for keys that are text. If a key occurs twice, the last one counts.
  template <class Visit>
  void for_each_member(Index dictionary, Visit&& visit) const {
    if (kind(dictionary) != Kind::dictionary) return;
    Index key = kNothing;
    for_each(dictionary, [&](Index value) {
      if (key == kNothing) {
        key = value;
        return;
      }
      if (const auto name = text(key)) visit(*name, value);
      key = kNothing;
    });
  }
  Index member(Index dictionary, std::string_view key) const;  // kNothing: there is none

  // Whether the input ended within the value.
  bool unfinished(Index value) const { return values_[value].unfinished; }

  Index root() const { return root_; }
  std::size_t values() const { return values_.size(); }  // in the whole tree

  // Build a tree. kNothing: it would become too large.
  Index add(Kind kind);
  Index add_boolean(bool value);
  Index add_integer(std::int64_t value);
  Index add_real(double value);
  Index add_text(std::string_view text);       // text must outlive the tree
  Index add_text_copy(std::string_view text);  // the tree keeps a copy
  bool append(Index container, Index element);
  void set_kind(Index value, Kind kind) { values_[value].kind = kind; }
  void mark_unfinished(Index value) { values_[value].unfinished = true; }
  void set_root(Index root) { root_ = root; }

  // Why a walk through the tree would never end in practice: it contains itself, is nested too
  // deeply, or contains the same parts too often. Empty: a walk ends.
  std::string_view why_endless() const;

 private:
  struct Value {
    Kind kind = Kind::none;
    bool unfinished = false;
    std::uint32_t size = 0;  // bytes of a text, elements of a container
    union {
      std::int64_t integer;
      double real;
      const char* text;
      struct {
        Index first;
        Index last;
      };
    };
  };
  struct Element {
    Index value;
    Index next;
  };
  // State of a container during a walk. met: 0 if not yet left, else 1 + the values in it.
  struct Seen {
    std::uint32_t met = 0;
    std::uint8_t height = 0;
    bool open = false;
  };

  bool fits(std::size_t more_bytes);

  GrowingBlocks<Value> values_;
  GrowingBlocks<Element> elements_;
  std::size_t bytes_ = 0;
  std::size_t most_bytes_ = std::numeric_limits<std::size_t>::max();
  std::deque<std::string> copies_;
  std::size_t copied_ = 0;
  Index root_ = kNothing;
};

}  // namespace faultline
