#include "rules/detect/performance.h"

#include <algorithm>
#include <iterator>

#include "rules/detect/performance/measured.h"

namespace faultline {

std::vector<Suspicion> find_performance_faults(const View& view) {
  std::vector<Suspicion> found = suspect_late_calls(view);
  if (view.job.parts().records().empty()) return found;
  for (auto* look :
       {suspect_bandwidth_tests, suspect_profiles, suspect_barrier_times, suspect_own_times,
        suspect_least_throughput, suspect_idle_gpus, suspect_dead_processes, suspect_training})
    std::ranges::move(look(view), std::back_inserter(found));
  return found;
}

}  // namespace faultline
