// What a synthetic job looks like, and what goes wrong in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/result.h"

namespace faultline::simulation {

enum class Layout { per_rank, per_host, merged };
std::optional<Layout> layout_named(std::string_view name);
std::string_view name_of(Layout layout);

// Which signs of the fault a healthy job has. old: the same lines, from before the job. bystander:
// the same lines, of a part that the job does not use. benign: other lines, which look like them
// and mean nothing. usual: the kind that the scenario lists first.
enum class Twin { usual, old, bystander, benign };
std::optional<Twin> twin_named(std::string_view name);
std::string_view name_of(Twin twin);

// When the job's hosts printed unrelated lines: while it ran, hours or a day before it, or at an
// uptime that no line relates to a date.
enum class Noise { none, today, hours, day, undated };
std::optional<Noise> noise_named(std::string_view name);
std::string_view name_of(Noise noise);

// Which logs of a job are written.
struct Evidence {
  bool nccl = false;      // NCCL's lines
  bool hosts = false;     // the output of kernels and tools of the hosts
  bool watchdog = false;  // PyTorch's lines: watchdogs, exceptions
  bool dumps = false;     // dumps of its Flight Recorder
  bool launcher = false;  // torchrun's lines

  // nccl,dumps,…; nullopt: the list has an unknown kind.
  static std::optional<Evidence> named(std::string_view list);
};

struct Options {
  std::string scenario = "healthy";
  int nodes = 2;
  int gpus_per_node = 8;
  int tensor_parallel = 0;  // 0: all GPUs of a node, 8 at most
  int pipeline_parallel = 1;
  int communicators = 0;  // of each rank; 0: as many as the parallelism needs
  int steps = 20;
  int attempts = 1;  // all but the last hang
  std::string nccl = "2.21.5";
  std::string wrapper = "none";
  Layout layout = Layout::per_rank;
  std::uint64_t seed = 1;
  bool healthy = false;     // the scenario's twin: the same job without the fault
  Twin twin = Twin::usual;  // the kind of the twin
  bool torn = false;        // processes that share a file cut each other's lines
  double lose_percent = 0;  // of NCCL's lines, at random
  std::string evidence;     // empty: nccl,hosts and what the scenario needs
  Evidence shown;           // `evidence` as flags
  std::string torch = "2.7";
  bool json_dumps = false;  // as the worker's HTTP handler writes them, else pickles
  bool timing = false;      // TORCH_NCCL_ENABLE_TIMING: the Flight Recorder records starts
  int recorded = 2000;      // entries of a Flight Recorder
  Noise noise = Noise::none;
  bool booted = true;            // kernel logs begin with the boot
  bool containers = false;       // each host numbers its processes from 1; its kernel does not
  std::string also;              // a second scenario, elsewhere in the same job; empty: none
  bool also_healthy = false;     // the second scenario's twin
  Twin also_twin = Twin::usual;  // the kind of that twin
};

// Fills in what was left open; an error if the options do not fit.
Result<Options> checked(Options options);

}  // namespace faultline::simulation
