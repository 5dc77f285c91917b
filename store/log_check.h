// SQLite takes the first frame of its write-ahead log that does not match its checksum for the end
// of the log. That is right after a crash, and after a write that failed; where the disk has
// damaged a frame in the middle, what was committed after it would be gone without a word.
#pragma once

#include <filesystem>

namespace faultline {

// Whether whole transactions lie behind what SQLite takes for the end of the log of this database,
// which nobody has open.
bool is_more_behind_the_end_of_log(const std::filesystem::path& database);

}  // namespace faultline
