// Tells apart which stored offences are one event.
#pragma once

#include <vector>

#include "store/store.h"

namespace faultline {

// When the fault of the finding was last seen, which may be during an earlier job.
Timestamp time_of(const StoredFinding& stored);

// A kernel log goes back to earlier jobs, so the diagnoses of several jobs may name one event.
// Keeps only the first offence of each event.
void keep_first_of_each_event(std::vector<const Offence*>& offences);

}  // namespace faultline
