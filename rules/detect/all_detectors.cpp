#include "rules/detect/collective_mismatch.h"
#include "rules/detect/collective_stalled.h"
#include "rules/detect/configuration.h"
#include "rules/detect/detector.h"
#include "rules/detect/duplicate_gpu.h"
#include "rules/detect/flight.h"
#include "rules/detect/kernel.h"
#include "rules/detect/live_stall.h"
#include "rules/detect/p2p_mismatch.h"
#include "rules/detect/parts.h"
#include "rules/detect/performance.h"
#include "rules/detect/rank_behind.h"
#include "rules/detect/rank_missing.h"
#include "rules/detect/remarks.h"
#include "rules/detect/reported.h"
#include "rules/detect/stacks.h"
#include "rules/detect/stall.h"
#include "rules/detect/sxid.h"
#include "rules/detect/torch.h"
#include "rules/detect/went_past.h"
#include "rules/detect/xid.h"

namespace faultline {
namespace {

constexpr Detector kDetectors[] = {
    {"xid", find_xids},
    {"kernel", find_kernel_faults},
    {"sxid", find_sxids},
    {"parts", find_part_faults},
    {"performance", find_performance_faults},
    {"flight", find_flight_faults},
    {"remarks", find_remarks},
    {"collective_mismatch", find_collective_mismatches},
    {"collective_skipped", find_skipped_collectives},
    {"rank_behind", find_ranks_behind},
    {"p2p_mismatch", find_p2p_mismatches},
    {"rank_missing", find_missing_ranks},
    {"duplicate_gpu", find_duplicate_gpus},
    {"collective_stalled", find_stalled_collectives},
    {"live_stall", find_live_stalls},
    {"stacks", find_elsewhere_by_stacks},
    {"stall", find_stalls},
    {"reported", find_reported},
    {"torch", find_torch_faults},
    {"configuration", find_configuration_faults},
};

}  // namespace

std::span<const Detector> all_detectors() { return kDetectors; }

}  // namespace faultline
