// Where PyTorch itself compares ranks: fingerprints of calls, parameters without a gradient.
#pragma once

#include "rules/knowledge/suspicion.h"
#include "rules/picture/who/torch_crew.h"

namespace faultline {

std::vector<Suspicion> find_torch_disagreements(const View& view, const TorchCrew& crew);

}  // namespace faultline
