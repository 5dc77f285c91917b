// Query parameters that are words of an enum.
#pragma once

#include <fmt/format.h>
#include <boost/describe/enum_from_string.hpp>
#include <boost/describe/enumerators.hpp>
#include <boost/mp11/algorithm.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/query.h"

namespace faultline {

// Several words, separated by commas; empty if the parameter is absent.
template <class Enum>
Result<std::vector<Enum>> enumerators(const QueryString& query, std::string_view name) {
  std::vector<Enum> values;
  if (!query.has(name)) return values;
  const std::string text = *query.text(name);
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const std::string word = text.substr(from, comma - from);
    from = comma + 1;
    Enum value{};
    if (!boost::describe::enum_from_string(word.c_str(), value)) {
      std::string known;
      boost::mp11::mp_for_each<boost::describe::describe_enumerators<Enum>>([&](auto enumerator) {
        known += fmt::format("{}{}", known.empty() ? "" : ", ", enumerator.name);
      });
      return Error{Error::Kind::invalid_input, fmt::format("{} must be one of {}, not \"{}\"", name,
                                                           known, printable_name(word))};
    }
    values.push_back(value);
  }
  return values;
}

// One word.
template <class Enum>
Result<std::optional<Enum>> enumerator(const QueryString& query, std::string_view name) {
  const auto values = enumerators<Enum>(query, name);
  if (!values) return values.error();
  if (values->size() > 1)
    return Error{Error::Kind::invalid_input, fmt::format("{} takes one word here", name)};
  return values->empty() ? std::optional<Enum>{} : std::optional<Enum>{values->front()};
}

}  // namespace faultline
