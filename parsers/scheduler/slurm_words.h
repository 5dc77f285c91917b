// Words that Slurm's tools and daemons share: ids of jobs and steps, lists of nodes.
#pragma once

#include <optional>
#include <string_view>

namespace faultline {

struct SlurmStep {
  std::string_view job;   // 12, 12_3, 12+1
  std::string_view step;  // 0, batch, extern; empty: the whole job
};

// "12.batch", "12_3", "12_3(14)", "12.ba+" in a narrow column; nothing if it is not a step.
std::optional<SlurmStep> slurm_step(std::string_view text);

// "1:0": the code, and the signal.
bool is_exit_code(std::string_view text);

// vm1, vm[1,3], gpu[001-016],login-2
bool is_node_list(std::string_view text);

}  // namespace faultline
