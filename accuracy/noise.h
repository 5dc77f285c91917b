// Uses real kernel logs of other machines as logs of a simulated job's hosts, and counts false
// accusations and true causes that lose the first place.
#pragma once

#include <filesystem>
#include <string>

#include "accuracy/reading.h"

namespace faultline::accuracy {

// The folder has an index.json that judges each log BENIGN… or FAULT…. Each benign log is diagnosed
// alone and as the kernel log of a host of a healthy job; every log is diagnosed beside jobs with a
// true cause. A real fault at the time of the job would be a cause on the job's own host, so such a
// log is then used as that of a host outside the job.
std::string noise_report(const Doctor& doctor, const std::filesystem::path& folder,
                         std::uint64_t first_seed, unsigned threads, bool list_all);

}  // namespace faultline::accuracy
