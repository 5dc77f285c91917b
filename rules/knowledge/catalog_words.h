// The words that the catalog's files may use, and how a wrong one is refused. Only the readers of
// those files need this.
#pragma once

#include <fmt/format.h>

#include <boost/describe.hpp>
#include <boost/mp11/algorithm.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/cause.h"

namespace faultline {

// A place in a file; every error message begins with it.
struct CatalogPlace {
  std::string_view file;
  std::size_t line = 0;

  // Throws std::runtime_error: "xid.csv:12: what is wrong; the correction".
  [[noreturn]] void refuse(std::string_view why) const;
};

// Makes a text safe to quote in an error message: one line, not too long, without control
// characters.
std::string in_one_line(std::string_view text);

// "info, warning, error or critical"
std::string any_of(std::span<const std::string_view> words);

// Refuses a word that is not one of `words`; `what` names its field.
void require_word(const CatalogPlace& place, std::string_view what, std::string_view word,
                  std::span<const std::string_view> words);

Cause require_class(const CatalogPlace& place, std::string_view name);

template <class Enum>
Enum enum_word(const CatalogPlace& place, std::string_view what, std::string_view word) {
  std::vector<std::string_view> words;
  Enum value{};
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<Enum>>([&](auto enumerator) {
    words.push_back(enumerator.name);
    if (word == enumerator.name) value = enumerator.value;
  });
  require_word(place, what, word, words);
  return value;
}

}  // namespace faultline
