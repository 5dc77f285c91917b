// Real kernel logs of other machines as the logs of a simulated job's hosts: whom they make
// accused, and which true cause loses the first place beside them.
#pragma once

#include <filesystem>
#include <string>

#include "accuracy/reading.h"

namespace faultline::accuracy {

// Of a folder with an index.json that judges each log BENIGN… or FAULT…. Each benign log alone and
// as the kernel log of a host of a healthy job; every log beside jobs with a true cause. What tells
// of a fault of now on the job's own host would be a cause: such logs are a stranger's then.
std::string noise_report(const Doctor& doctor, const std::filesystem::path& folder,
                         std::uint64_t first_seed, unsigned threads, bool list_all);

}  // namespace faultline::accuracy
