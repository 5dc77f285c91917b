#include "rules/detect/parts.h"

#include <algorithm>
#include <iterator>

#include "rules/detect/parts/facts.h"
#include "rules/detect/past_offences.h"
#include "rules/detect/placed.h"

namespace faultline {

std::vector<Suspicion> find_part_faults(const View& view) {
  if (view.job.parts().records().empty()) return {};
  const PartFacts facts(view);
  Suspicions found;
  for (Suspicions (*look)(const PartFacts&) :
       {suspect_port_states, suspect_counters, suspect_conditions, suspect_nvlinks, suspect_mtu,
        suspect_bandwidth, suspect_loss, suspect_topology, suspect_gids, suspect_scheduler,
        suspect_pods})
    std::ranges::move(look(facts), std::back_inserter(found));
  spare_what_was_outlived(view, found);
  tell_past_offences(view, found);
  return found;
}

}  // namespace faultline
