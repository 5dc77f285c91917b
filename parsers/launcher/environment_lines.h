// What scripts, `env` and launchers say about a job before it starts: variables, and how many
// processes there will be. Also the settings that PyTorch says it uses.
//
// The facts are Settings. Group "script": a variable, as written. "launch": a number. "torch": a
// setting in effect.
#pragma once

#include <string_view>
#include <vector>

#include "parsers/parser.h"

namespace faultline {

// export NCCL_DEBUG=INFO
// NCCL_DEBUG=INFO TORCH_NCCL_BLOCKING_WAIT=1 torchrun --nnodes 2 --nproc_per_node 8 train.py
// mpirun -np 16 -x NCCL_IB_HCA=mlx5_0 ./train
// os.environ["NCCL_TIMEOUT"] = "3600"
bool parse_environment_line(std::string_view text, std::vector<Reading>& readings);

//   min_nodes        : 2
//   global_world_sizes=[16, 16, 16, 16]
// dist_world_size=64
bool parse_world_size(std::string_view text, std::vector<Reading>& readings);

// ProcessGroupNCCL initialization options: size: 8, global rank: 3, TIMEOUT(ms): 600000, ...
// ProcessGroupNCCL environments: NCCL version: 2.27.5, TORCH_NCCL_BLOCKING_WAIT: 0, ...
bool parse_torch_settings(std::string_view text, std::vector<Reading>& readings);

}  // namespace faultline
