#include "rules/confidence.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace faultline {
namespace {

struct Point {
  double firmness;
  double stated;
};

// Measured by ./dev accuracy, in between by a straight line; docs/confidence.md tells how to do so
// again. What was right more often than 0.9 while the evidence alone is no proof stays below that.
constexpr Point kPoints[] = {
    {0.00, 0.00}, {0.05, 0.02}, {0.40, 0.50}, {0.50, 0.60}, {0.60, 0.75},
    {0.69, 0.79}, {0.70, 0.83}, {0.75, 0.88}, {0.80, 0.89}, {0.83, 0.93},
    {0.85, 0.95}, {0.90, 0.97}, {0.95, 0.98}, {1.00, 0.99},
};

}  // namespace

double stated_confidence(double firmness) {
  const auto* above = std::ranges::lower_bound(kPoints, firmness, {}, &Point::firmness);
  if (above == std::begin(kPoints)) return above->stated;
  if (above == std::end(kPoints)) return std::prev(above)->stated;
  const Point& below = *std::prev(above);
  const double share = (firmness - below.firmness) / (above->firmness - below.firmness);
  return std::round((below.stated + share * (above->stated - below.stated)) * 100) / 100;
}

}  // namespace faultline
