// What launchers and schedulers say of the processes that they started.
#pragma once

#include <boost/describe.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace faultline {

// A process of the job ended badly.
struct ProcessExit {
  static constexpr std::string_view kKind = "process_exit";
  std::string teller;      // torchrun, srun, mpirun, hydra, kubernetes, ray, shell
  std::string host;        // empty: not said
  std::vector<int> ranks;  // global; empty: not said
  int local_rank = -1;
  std::int64_t pid = 0;
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::string reason;      // OOMKilled, Out Of Memory, Killed, …: as printed
  std::string error_file;  // of torchrun's table
  bool first = false;      // the teller takes it for the first failure
  bool told_to = false;    // the teller itself sent the signal: a consequence
  bool operator==(const ProcessExit&) const = default;
};
BOOST_DESCRIBE_STRUCT(ProcessExit, (),
                      (teller, host, ranks, local_rank, pid, exit_code, signal, reason, error_file,
                       first, told_to))

}  // namespace faultline
