// What NCCL says after something else went wrong: errors that name no cause, and ranks that were
// taken down.
#pragma once

#include "rules/detect/remarks/wording.h"
#include "rules/knowledge/suspicion.h"

namespace faultline {

// `failed`: something that can be a cause was said in this job.
std::vector<Suspicion> find_aftermath(const View& view, const Sightings& sightings, bool failed);

}  // namespace faultline
