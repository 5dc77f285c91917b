#include "parsers/pattern.h"

#include <stdexcept>
#include <string>

namespace faultline {

Pattern::Pattern(std::string_view expression)
    : regex_(re2::StringPiece(expression.data(), expression.size()), RE2::Quiet) {
  if (!regex_.ok()) throw std::invalid_argument(std::string(expression) + ": " + regex_.error());
}

}  // namespace faultline
