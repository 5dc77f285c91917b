#include "rules/detectors/collective_mismatch.h"
#include "rules/detectors/collective_stalled.h"
#include "rules/detectors/configuration.h"
#include "rules/detectors/detector.h"
#include "rules/detectors/duplicate_gpu.h"
#include "rules/detectors/flight.h"
#include "rules/detectors/kernel.h"
#include "rules/detectors/live_stall.h"
#include "rules/detectors/p2p_mismatch.h"
#include "rules/detectors/parts.h"
#include "rules/detectors/performance.h"
#include "rules/detectors/rank_behind.h"
#include "rules/detectors/rank_missing.h"
#include "rules/detectors/remarks.h"
#include "rules/detectors/reported.h"
#include "rules/detectors/sxid.h"
#include "rules/detectors/torch.h"
#include "rules/detectors/went_past.h"
#include "rules/detectors/xid.h"

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
    {"reported", find_reported},
    {"torch", find_torch_faults},
    {"configuration", find_configuration_faults},
};

}  // namespace

std::span<const Detector> all_detectors() { return kDetectors; }

}  // namespace faultline
