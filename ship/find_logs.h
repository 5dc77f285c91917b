// Which logs the paths of the command line mean: files, the files below folders, patterns.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace faultline {

struct FoundLogs {
  std::set<std::string> logs;     // paths; of a rotated log that of the log itself
  std::set<std::string> folders;  // that were looked into
  bool too_many = false;
};

// Takes up to `most` logs. `patterns`: as glob(7). A path that does not exist is a log that may
// come. `except`: a folder that holds none. `known`: logs that are followed; their parts are no
// logs of their own.
FoundLogs find_logs(const std::vector<std::string>& patterns, const std::set<std::string>& known,
                    const std::string& except, std::size_t most);

}  // namespace faultline
