// Which process writes a log, and so which job and rank it is of.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "ship/part_mark.h"
#include "ship/process_labels.h"

namespace faultline {

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
