// ValueTree: dictionaries, lists, numbers and text that somebody wrote down as one object: a
// pickle, a JSON text. Small and flat: a dump of thousands of entries takes a few megabytes, and
// text is not copied out of a pickle.
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

  // Together they keep a tree below 40 MB, without the texts that it copies.
  static constexpr std::size_t kMaxValues = std::size_t{1} << 20;
  static constexpr std::size_t kMaxElements = std::size_t{1} << 21;

  ValueTree() = default;
  // A smaller one: of no more than these bytes, what it takes to look at all of it included.
  explicit ValueTree(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  enum class Kind : std::uint8_t { none, boolean, integer, real, text, list, tuple, dictionary };

  Kind kind(Index value) const { return values_[value].kind; }
  bool is_sequence(Index value) const {
    return kind(value) == Kind::list || kind(value) == Kind::tuple;
  }
  bool is_container(Index value) const { return kind(value) >= Kind::list; }

  std::optional<std::int64_t> integer(Index value) const;
  std::optional<double> number(Index value) const;  // an integer, too
  std::optional<bool> boolean(Index value) const;
  std::optional<std::string_view> text(Index value) const;

  // What a container holds; a dictionary's keys and values by turns.
  template <class Visit>
  void for_each(Index container, Visit&& visit) const {
    if (!is_container(container)) return;
    for (Index at = values_[container].first; at != kNothing; at = elements_[at].next)
      visit(elements_[at].value);
  }
  std::size_t size(Index container) const { return values_[container].size; }

  // Calls visit(key, value) for keys that are text. Of a key that comes twice the last counts.
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

  // The input ended within it.
  bool unfinished(Index value) const { return values_[value].unfinished; }

  Index root() const { return root_; }
  std::size_t values() const { return values_.size(); }  // in all of it

  // How a tree is made. kNothing: it would become too large.
  Index add(Kind kind);
  Index add_boolean(bool value);
  Index add_integer(std::int64_t value);
  Index add_real(double value);
  Index add_text(std::string_view text);       // refers to what outlives the tree
  Index add_text_copy(std::string_view text);  // keeps it
  bool append(Index container, Index element);
  void set_kind(Index value, Kind kind) { values_[value].kind = kind; }
  void mark_unfinished(Index value) { values_[value].unfinished = true; }
  void set_root(Index root) { root_ = root; }

  // Why the root cannot be walked through: it contains itself, or the same parts so often or so
  // deep that it has no end in practice. Empty: it can.
  std::string_view why_endless() const;

 private:
  struct Value {
    Kind kind = Kind::none;
    bool unfinished = false;
    std::uint32_t size = 0;  // of a text in bytes, of a container in elements
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
  // Of a container, while somebody walks through: 0, not met; 1 + what it comes to, else.
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
