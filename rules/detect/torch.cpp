#include "rules/detect/torch.h"

#include <algorithm>

#include "rules/detect/torch/crashes.h"
#include "rules/detect/torch/disagreements.h"
#include "rules/detect/torch/timeouts.h"

namespace faultline {

std::vector<Suspicion> find_torch_faults(const View& view) {
  if (view.job.torch().empty() && view.job.torch().unused().empty()) return {};
  const TorchCrew& crew = view.crew();
  std::vector<Suspicion> found = find_torch_timeouts(view, crew);
  for (auto* find : {find_torch_disagreements, find_torch_crashes})
    std::ranges::move(find(view, crew), std::back_inserter(found));
  return found;
}

}  // namespace faultline
