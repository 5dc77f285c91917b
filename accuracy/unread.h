// Lines that look like trouble and that no rule reads: their share, and their most frequent forms.
#pragma once

#include <filesystem>
#include <string>

namespace faultline::accuracy {

// Reads every file below the folder.
std::string unread_report(const std::filesystem::path& folder);

}  // namespace faultline::accuracy
