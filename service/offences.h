// Offences of GPUs, as the store has them, told apart by what happened.
#pragma once

#include <vector>

#include "store/store.h"

namespace faultline {

// When what the finding tells of was last seen: the log it is of may go back to earlier jobs.
Timestamp time_of(const StoredFinding& stored);

// A kernel log goes back to earlier jobs, whose events the diagnoses of later ones may name again:
// of the offences that are one event only the first one stays.
void keep_first_of_each_event(std::vector<const Offence*>& offences);

}  // namespace faultline
