// Which parsers a line concerns: one pass over the line finds the hints of all of them.
#pragma once

#include <bitset>
#include <string_view>

#include "model/literal_search.h"
#include "parsers/parser.h"

namespace faultline {

class ParserChoice {
 public:
  static constexpr std::size_t kMostParsers = 128;
  using Set = std::bitset<kMostParsers>;  // by place in all_parsers()

  ParserChoice();

  Set of(std::string_view text) const;

 private:
  LiteralSearch hints_;
  Set short_hints_;  // too short for the search
};

// The one for all_parsers(), made once.
const ParserChoice& parser_choice();

}  // namespace faultline
