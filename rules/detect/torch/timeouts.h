// Collectives that ran out of time: who waited, who was only told, and who never came.
#pragma once

#include "rules/picture/who/torch_crew.h"
#include "rules/knowledge/suspicion.h"

namespace faultline {

std::vector<Suspicion> find_torch_timeouts(const View& view, const TorchCrew& crew);

}  // namespace faultline
