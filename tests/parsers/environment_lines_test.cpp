// Settings that are made before a job starts, in scripts, `env` and launchers; and lines that only
// look like them.
#include "parsers/launcher/environment_lines.h"

#include <gtest/gtest.h>

#include "parsed_lines.h"

namespace faultline {
namespace {

Setting script(std::string name, std::string value) {
  return {.group = "script", .name = std::move(name), .value = std::move(value)};
}
Setting launch(std::string name, std::string value) {
  return {.group = "launch", .name = std::move(name), .value = std::move(value)};
}

Setting torch(std::string name, std::string value) {
  return {.group = "torch", .name = std::move(name), .value = std::move(value)};
}

TEST(EnvironmentLines, SayWhatIsSetBeforeTheStart) {
  expect_all<Fact>(
      parse_environment_line,
      {
          {"a script", "export NCCL_DEBUG=INFO", {script("NCCL_DEBUG", "INFO")}},
          {"what env prints", "NCCL_SOCKET_IFNAME=eth0", {script("NCCL_SOCKET_IFNAME", "eth0")}},
          {"what export -p prints",
           "declare -x NCCL_DEBUG_FILE=\"/tmp/nccl.%h.%d\"",
           {script("NCCL_DEBUG_FILE", "/tmp/nccl.%h.%d")}},
          {"set -x", "+ export 'NCCL_TIMEOUT=3600'", {}},
          {"set -x, without quotes",
           "++ export NCCL_TIMEOUT=3600",
           {script("NCCL_TIMEOUT", "3600")}},
          {"several",
           "  export NCCL_DEBUG=INFO; export NCCL_DEBUG_SUBSYS=INIT,NET",
           {script("NCCL_DEBUG", "INFO"), script("NCCL_DEBUG_SUBSYS", "INIT,NET")}},
          {"in front of a command",
           "$ NCCL_DEBUG=INFO OMP_NUM_THREADS=8 torchrun --nnodes=2 --nproc_per_node=8 train.py",
           {script("NCCL_DEBUG", "INFO"), launch("nodes", "2"), launch("processes", "8")}},
          {"one host, where none is named",
           "torchrun --standalone --nproc-per-node 4 train.py",
           {launch("processes", "4"), launch("nodes", "1")}},
          {"a command that goes on in the next line",
           "torchrun --nproc_per_node 8 \\",
           {launch("processes", "8")}},
          {"the next line", "    --nnodes 16 \\", {launch("nodes", "16")}},
          {"numbers that are not known yet",
           "torchrun --nnodes=1:4 --nproc_per_node=gpu train.py",
           {}},
          {"a variable of the shell's", "export NCCL_SOCKET_IFNAME=$IFACE", {}},
          {"options of mpirun",
           "mpirun -np 16 -x NCCL_IB_HCA=mlx5_0 -x NCCL_DEBUG=WARN -x PATH ./train",
           {script("NCCL_IB_HCA", "mlx5_0"), script("NCCL_DEBUG", "WARN")}},
          {"Python",
           "    os.environ[\"NCCL_TIMEOUT\"] = \"3600\"",
           {script("NCCL_TIMEOUT", "3600")}},
          {"the size of the job", "WORLD_SIZE=64", {script("WORLD_SIZE", "64")}},
          {"others' variables", "export PATH=/usr/bin", {}},
          {"a comment", "# export NCCL_DEBUG=INFO", {}},
          {"advice in a sentence",
           "Process group watchdog failed; run with NCCL_DEBUG=INFO for details.",
           {}},
          {"what blocking wait says of itself",
           "Work WorkNCCL(SeqNum=3) timed out in blocking wait (NCCL_BLOCKING_WAIT=1).",
           {}},
          {"a name alone", "You can enable it by setting TORCH_NCCL_TRACE_BUFFER_SIZE.", {}},
      });
}

TEST(EnvironmentLines, TellHowManyRanksThereAre) {
  expect_all<Fact>(
      parse_world_size,
      {
          {"torchrun's configuration", "  min_nodes          : 2", {launch("nodes", "2")}},
          {"the same", "  nproc_per_node     : 8", {launch("processes", "8")}},
          {"torchrun's rendezvous",
           "  global_world_sizes=[16, 16, 16]",
           {launch("world size", "16")}},
          {"DeepSpeed",
           "[2026-03-05 02:00:00,1] [INFO] [launch.py:163:main] dist_world_size=64",
           {launch("world size", "64")}},
          {"Lightning",
           "Initializing distributed: GLOBAL_RANK: 3, MEMBER: 4/32",
           {launch("world size", "32")}},
          {"Megatron",
           "using world size: 128, data-parallel size: 8, context-parallel size: 1",
           {launch("world size", "128")}},
          {"no number", "  min_nodes          : auto", {}},
          {"no rank at all", "  global_world_sizes=[0]", {}},
      });
}

TEST(TorchSettings, AreWhatIsInForceAndOfTheFirstGroupHowManyRanksThereAre) {
  expect_all<Fact>(
      parse_torch_settings,
      {
          {"the first process group",
           "ProcessGroupNCCL initialization options: size: 8, global rank: 3, TIMEOUT(ms): 600000, "
           "USE_HIGH_PRIORITY_STREAM: 0, SPLIT_FROM: 0, SPLIT_COLOR: -1, PG Name: 0",
           {launch("world size", "8"), torch("TIMEOUT(ms)", "600000")}},
          {"another one, which is a part of the job",
           "ProcessGroupNCCL initialization options: size: 4, global rank: 3, TIMEOUT(ms): 600000, "
           "USE_HIGH_PRIORITY_STREAM: 0, SPLIT_FROM: 0, SPLIT_COLOR: -1, PG Name: 12",
           {}},
          {"all in one line, up to 2.3",
           "ProcessGroupNCCL initialization options: NCCL version: 2.19.3, size: 8, global rank: "
           "3, "
           "TORCH_NCCL_ASYNC_ERROR_HANDLING: 3, TORCH_NCCL_DUMP_ON_TIMEOUT: 0, TIMEOUT(ms): 600000",
           {torch("TORCH_NCCL_ASYNC_ERROR_HANDLING", "3"),
            torch("TORCH_NCCL_DUMP_ON_TIMEOUT", "0")}},
          {"what the environment comes to",
           "ProcessGroupNCCL environments: NCCL version: 2.27.5, TORCH_NCCL_BLOCKING_WAIT: 0, "
           "TORCH_DISTRIBUTED_DEBUG: OFF",
           {torch("TORCH_NCCL_BLOCKING_WAIT", "0"), torch("TORCH_DISTRIBUTED_DEBUG", "OFF")}},
          {"of the watchdog",
           "PGNCCL Watchdog environments: TORCH_NCCL_RETHROW_CUDA_ERRORS: 1, "
           "TORCH_NCCL_PROPAGATE_ERROR: 0",
           {torch("TORCH_NCCL_RETHROW_CUDA_ERRORS", "1"),
            torch("TORCH_NCCL_PROPAGATE_ERROR", "0")}},
          {"a sentence", "This holds in all environments: NCCL_DEBUG is read once.", {}},
      });
}

}  // namespace
}  // namespace faultline
