// Lines that a person would look at and that no reader knows: the share of them, and the forms that
// are most frequent.
#pragma once

#include <filesystem>
#include <string>

namespace faultline::accuracy {

// Of every file below the folder.
std::string unread_report(const std::filesystem::path& folder);

}  // namespace faultline::accuracy
