// SQLite takes the first frame of its write-ahead log that does not match its checksum for the end
// of the log: right after a crash, and wrong where the disk has damaged a frame in the middle. What
// was committed after it, and acknowledged, would be gone without a word.
#pragma once

#include <filesystem>

namespace faultline {

enum class LogState {
  sound,    // or there is none
  torn,     // the last transaction did not get to the disk whole, or was damaged there
  damaged,  // transactions that were on the disk whole lie behind a damaged frame
};

// Of the log beside this database, which nobody has open.
LogState state_of_log(const std::filesystem::path& database);

}  // namespace faultline
