#include "simulate/scenario.h"

namespace faultline {
namespace {

constexpr Scenario kScenarios[] = {
    {"healthy", "", "nothing is wrong"},
};

}  // namespace

std::span<const Scenario> scenarios() { return kScenarios; }

}  // namespace faultline
