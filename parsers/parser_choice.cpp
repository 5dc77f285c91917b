#include "parsers/parser_choice.h"

#include <vector>

namespace faultline {
namespace {

bool is_short(const Parser& parser) { return parser.hint.size() < LiteralSearch::kMinBytes; }

std::vector<LiteralSearch::Literal> searched_hints() {
  std::vector<LiteralSearch::Literal> hints;
  std::uint32_t number = 0;
  for (const Parser& parser : all_parsers()) {
    if (!is_short(parser)) hints.push_back({std::string(parser.hint), number});
    ++number;
  }
  return hints;
}

}  // namespace

ParserChoice::ParserChoice() : hints_(searched_hints()) {
  const auto parsers = all_parsers();
  for (std::size_t i = 0; i < parsers.size(); ++i) short_hints_.set(i, is_short(parsers[i]));
}

ParserChoice::Set ParserChoice::of(std::string_view text) const {
  Set chosen;
  hints_.find(text, [&](std::uint32_t number) {
    chosen.set(number);
    return false;
  });
  const auto parsers = all_parsers();
  for (std::size_t i = short_hints_._Find_first(); i < kMostParsers; i = short_hints_._Find_next(i))
    if (text.find(parsers[i].hint) != std::string_view::npos) chosen.set(i);
  return chosen;
}

const ParserChoice& parser_choice() {
  static const ParserChoice choice;
  return choice;
}

}  // namespace faultline
