// Processes that ended, as launchers tell of it: with which code, or by which signal.
#pragma once

#include <vector>

#include "rules/knowledge/suspicion.h"
#include "rules/picture/who/torch_crew.h"

namespace faultline {

// What launchers say, where no exception tells more.
enum class Why { told, follows, unknown };

void add_ends(const View& view, const TorchCrew& crew, Why why, std::vector<Suspicion>& found);

}  // namespace faultline
