// Asks PyTorch's Flight Recorder for a dump, as its pipe is made for. The dump is a file of the
// job, which is shipped like its other logs.
#pragma once

#include <string>
#include <vector>

#include "ship/collect/evidence.h"
#include "ship/collect/job_processes.h"

namespace faultline {

Gathered ask_flight_recorders(const std::vector<JobProcess>& processes, const std::string& proc);

}  // namespace faultline
