// What a synthetic job looks like and what is to go wrong in it.
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

// How a job without its fault comes close to it: the same lines are older than the job, or of a
// part that it does not use, or others that look like them and mean nothing.
enum class Twin { usual, old, bystander, benign };
std::optional<Twin> twin_named(std::string_view name);
std::string_view name_of(Twin twin);

// When the job's hosts said what has nothing to do with it: while it ran, hours or a day before it,
// or by an uptime whose zero nobody knows.
enum class Noise { none, today, hours, day, undated };
std::optional<Noise> noise_named(std::string_view name);
std::string_view name_of(Noise noise);

// What of a job is written down.
struct Evidence {
  bool nccl = false;      // what NCCL says
  bool hosts = false;     // what kernels and tools of the hosts say
  bool watchdog = false;  // what PyTorch says: watchdogs, exceptions
  bool dumps = false;     // what its Flight Recorders remember
  bool launcher = false;  // what torchrun says

  // nccl,dumps,…; nothing: there is no such kind.
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
  bool healthy = false;     // the scenario's twin: the same job, and nothing happens
  Twin twin = Twin::usual;  // of a healthy one: of what kind
  bool torn = false;        // processes that share a file cut each other's lines
  double lose_percent = 0;  // of NCCL's lines, by chance
  std::string evidence;     // empty: what NCCL and hosts say, and what the scenario needs besides
  Evidence shown;           // the same
  std::string torch = "2.7";
  bool json_dumps = false;  // as the worker's HTTP handler gives them, else pickles
  bool timing = false;      // TORCH_NCCL_ENABLE_TIMING: the Flight Recorder sees starts
  int recorded = 2000;      // entries of a Flight Recorder
  Noise noise = Noise::none;
  bool booted = true;            // kernel logs begin with the boot
  bool containers = false;       // each host counts its processes from 1, and the kernel otherwise
  std::string also;              // a second scenario in the same job, elsewhere in it; empty: none
  bool also_healthy = false;     // nothing comes of it
  Twin also_twin = Twin::usual;  // and in which way it comes close
};

// Says what is wrong with options, and fills in what was left open.
Result<Options> checked(Options options);

}  // namespace faultline::simulation
