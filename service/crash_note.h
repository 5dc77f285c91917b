// What a process that crashes still says: what the thread that crashed was at.
#pragma once

#include <filesystem>
#include <string>

namespace faultline {

// A crash appends a line to the file: "crashed", and what its thread was at.
void note_crashes_in(const std::filesystem::path& file);
void note_no_crashes();

// What this thread is at. Null: nothing that matters. It must live until the next call.
void crash_note(const std::string* at) noexcept;

}  // namespace faultline
