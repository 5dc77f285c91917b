// Chooses the parsers to try on a line: one pass over the line finds the hints of all parsers.
#pragma once

#include <bitset>
#include <string_view>

#include "model/literal_search.h"
#include "parsers/parser.h"

namespace faultline {

class ParserChoice {
 public:
  static constexpr std::size_t kMostParsers = 128;
  using Set = std::bitset<kMostParsers>;  // by index in all_parsers()

  ParserChoice();

  Set of(std::string_view text) const;

 private:
  LiteralSearch hints_;
  Set short_hints_;  // too short for the search
};

// The choice for all_parsers(), built once.
const ParserChoice& parser_choice();

}  // namespace faultline
