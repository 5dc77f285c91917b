#include "simulate/scenario.h"

#include "simulate/scenarios/families.h"

namespace faultline::simulation {
namespace {

constexpr Scenario kScenarios[] = {
    {"healthy", "", "nothing is wrong", healthy},
    {"rank_behind", "collective.rank_behind", "a rank stops and nothing says why", rank_behind},
};

}  // namespace

std::span<const Scenario> scenarios() { return kScenarios; }

const Scenario* scenario_named(std::string_view name) {
  for (const Scenario& scenario : kScenarios)
    if (scenario.name == name) return &scenario;
  return nullptr;
}

}  // namespace faultline::simulation
