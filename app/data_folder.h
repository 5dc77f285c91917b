// The folder that a server keeps its data in.
#pragma once

#include <filesystem>
#include <string>

namespace faultline {

// Why it can neither be used nor made; empty: it can. Nothing is made, opened or written.
std::string wrong_data_folder(const std::filesystem::path& folder);

}  // namespace faultline
