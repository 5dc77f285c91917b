#include "rules/knowledge/confidence.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace faultline {
namespace {

struct Point {
  double firmness;
  double stated;
};

// Between what detectors give and what ./dev accuracy measured (docs/confidence.md): real logs are
// less kind than simulated ones. In between by a straight line.
constexpr Point kPoints[] = {
    {0.00, 0.00}, {0.05, 0.01}, {0.40, 0.50}, {0.50, 0.58}, {0.55, 0.72}, {0.60, 0.79},
    {0.69, 0.79}, {0.70, 0.89}, {0.75, 0.89}, {0.80, 0.89}, {0.83, 0.95}, {0.85, 0.97},
    {0.90, 0.97}, {0.95, 0.98}, {0.98, 0.99}, {1.00, 0.99},
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
