// Which process writes a log, and so which job and rank it is of.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "ship/part_mark.h"
#include "ship/process_labels.h"

namespace faultline {

// Calls `visit` with each regular file that the process with this folder (/proc/PID) has open for
// writing.
void visit_written_files(const std::string& process,
                         const std::function<void(const FileId&)>& visit);

// Which processes have which files open for writing, as one look at all of them tells.
class LogHolders {
 public:
  // `proc`: /proc.
  explicit LogHolders(const std::string& proc);

  // If the holders of a file are of several jobs, no job; if they are of several ranks, no rank.
  // Null: no process holds it, or none that may be looked at.
  std::optional<ProcessLabels> of(const FileId& file) const;

 private:
  void look_at(const std::string& process);

  std::map<std::pair<std::uint64_t, std::uint64_t>, ProcessLabels> labels_;
};

}  // namespace faultline
