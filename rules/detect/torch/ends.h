// Processes that ended, as launchers tell of it: with which code, or by which signal.
#pragma once

#include <vector>

#include "rules/knowledge/suspicion.h"
#include "rules/picture/who/torch_crew.h"

namespace faultline {

// What exceptions tell of the job's end besides.
enum class Exceptions { none, follow, tell_why };

// What launchers say, where no exception tells more.
void add_ends(const View& view, const TorchCrew& crew, Exceptions exceptions,
              std::vector<Suspicion>& found);

}  // namespace faultline
