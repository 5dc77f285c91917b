// SQLite takes the first frame of its write-ahead log that does not match its checksum for the end
// of the log. That is right after a crash or a failed write. But if the disk has damaged a frame in
// the middle, all that was committed after it would vanish without a word.
#pragma once

#include <filesystem>

namespace faultline {

// Whether whole transactions lie behind what SQLite takes for the end of this database's log.
// Nobody may have the database open.
bool is_more_behind_the_end_of_log(const std::filesystem::path& database);

}  // namespace faultline
