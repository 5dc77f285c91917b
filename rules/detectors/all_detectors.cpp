#include "rules/detectors/collective_mismatch.h"
#include "rules/detectors/collective_stalled.h"
#include "rules/detectors/detector.h"
#include "rules/detectors/rank_behind.h"
#include "rules/detectors/reported.h"
#include "rules/detectors/xid.h"

namespace faultline {
namespace {

constexpr Detector kDetectors[] = {
    {"xid", find_xids},
    {"collective_mismatch", find_collective_mismatches},
    {"rank_behind", find_ranks_behind},
    {"collective_stalled", find_stalled_collectives},
    {"reported", find_reported},
};

}  // namespace

std::span<const Detector> all_detectors() { return kDetectors; }

}  // namespace faultline
