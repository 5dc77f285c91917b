// What the agent keeps on the disk: for each log, how far it was read and sent.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/result.h"
#include "ship/log_part.h"
#include "ship/log_reader.h"

namespace faultline {

// Makes the folder and locks it. An error if it cannot, or if another process uses it.
Result<OpenDescriptor> lock_state_folder(const std::filesystem::path& folder);

// Empty if there is none yet, or if it is damaged: then logs are read from their beginnings, and
// the server knows what it has.
std::vector<ReaderState> read_state(const std::filesystem::path& folder);

// Replaces the file as a whole, and brings it to the disk. False if it cannot be written.
bool replace_file(const std::filesystem::path& path, const std::string& text);
bool write_state(const std::filesystem::path& folder, const std::vector<ReaderState>& readers);

}  // namespace faultline
