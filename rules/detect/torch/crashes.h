// Processes that ended, and why: exceptions, what the signatures make of them, and what launchers
// say. The first one of the job is the origin; what the others raise follows from it.
#pragma once

#include "rules/knowledge/suspicion.h"
#include "rules/picture/who/torch_crew.h"

namespace faultline {

std::vector<Suspicion> find_torch_crashes(const View& view, const TorchCrew& crew);

}  // namespace faultline
