// The folder that a server keeps its data in.
#pragma once

#include <filesystem>
#include <string>

namespace faultline {

// Why the folder can neither be used nor made; empty if it can. Makes, opens and writes nothing.
std::string wrong_data_folder(const std::filesystem::path& folder);

}  // namespace faultline
