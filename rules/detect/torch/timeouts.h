// Collectives that ran out of time: which ranks waited, which were only told, and which never came.
#pragma once

#include "rules/knowledge/suspicion.h"
#include "rules/picture/who/torch_crew.h"

namespace faultline {

std::vector<Suspicion> find_torch_timeouts(const View& view, const TorchCrew& crew);

}  // namespace faultline
