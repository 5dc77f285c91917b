// Lines in which launchers, schedulers and shells report processes that ended: torchrun's agent,
// srun, mpirun, Hydra, DeepSpeed, operators of Kubernetes.
#pragma once

#include <string_view>
#include <vector>

#include "parsers/parser.h"

namespace faultline {

bool parse_torchrun_agent(std::string_view text, std::vector<Reading>& readings);
bool parse_srun_exit(std::string_view text, std::vector<Reading>& readings);
bool parse_mpirun_exit(std::string_view text, std::vector<Reading>& readings);
bool parse_paddle_exit(std::string_view text, std::vector<Reading>& readings);
bool parse_deepspeed_exit(std::string_view text, std::vector<Reading>& readings);
bool parse_pals_exit(std::string_view text, std::vector<Reading>& readings);
bool parse_pod_exit(std::string_view text, std::vector<Reading>& readings);
bool parse_shell_exit(std::string_view text, std::vector<Reading>& readings);
bool parse_shell_word(std::string_view text, std::vector<Reading>& readings);

// Also sets the signal, if the code says one.
void set_exit_code(ProcessExit& exit, int code);

// The number of a signal by its name or description: SIGTERM, Killed, Segmentation fault.
std::optional<int> signal_named(std::string_view name);

}  // namespace faultline
