// What the environment of a process says of its job and rank.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace faultline {

struct ProcessLabels {
  std::string job;
  int rank = -1;
  bool operator==(const ProcessLabels&) const = default;
};

// The value of a variable of the environment; empty: there is none.
using Environment = std::function<std::string(const std::string& name)>;
ProcessLabels labels_of(const Environment& environment);
// Of this process.
std::string own_environment(const std::string& name);

using Variables = std::map<std::string, std::string>;
// Of the process with this folder (/proc/PID). Empty also if it ends meanwhile or may not be looked
// at.
Variables variables_of(const std::string& process);
ProcessLabels labels_in(const Variables& variables);

// The processes that there are. `proc`: /proc.
std::vector<int> process_ids(const std::string& proc);

}  // namespace faultline
