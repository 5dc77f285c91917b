#include "simulate/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "simulate/chance.h"
#include "simulate/job.h"

namespace faultline::simulation {
namespace {

constexpr int kSteps = 4;
constexpr int kFirstStep = 12;  // after waiting and warming up
constexpr int kLayers = 4;
constexpr int kComputing = 7;  // streams
constexpr int kTensor = 20;
constexpr int kData = 24;
constexpr int kPipeline = 28;

// Milliseconds.
constexpr double kGemm = 2.6;
constexpr double kAttention = 1.7;
constexpr double kOptimizer = 6;
constexpr double kActivations = 0.8;  // an all-reduce of a tensor-parallel group
constexpr double kBucket = 4;         // a reduction of a layer's gradients
constexpr double kParameters = 4;     // gathering what the optimizer wrote
constexpr double kNorm = 0.2;
constexpr double kHop = 0.6;  // between stages; interleaved stages wait little

// ncclDevKernel_AllReduce_Sum_bf16_RING_LL(…), as each version names its kernels.
std::string kernel_name(const NcclVersion& version, Function function) {
  const bool exchange = is_peer_to_peer(function);
  const bool reduces = function == Function::all_reduce || function == Function::reduce_scatter;
  if (version.since(19)) {
    constexpr std::string_view kArguments = "(ncclDevKernelArgsStorage<4096ul>)";
    if (exchange) return fmt::format("ncclDevKernel_SendRecv{}", kArguments);
    return fmt::format("ncclDevKernel_{}{}_RING_LL{}", name_of(function),
                       reduces ? "_Sum_bf16" : "", kArguments);
  }
  if (version.since(12)) {
    constexpr std::string_view kArguments = "(ncclDevComm*, unsigned long, ncclWork*)";
    if (exchange) return fmt::format("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t{}", kArguments);
    return fmt::format("ncclKernel_{}_RING_LL_Sum_{}{}", name_of(function),
                       reduces ? "__nv_bfloat16" : "int8_t", kArguments);
  }
  if (exchange) return "ncclSendRecvKernel_copy_i8(ncclColl)";
  return fmt::format("nccl{}RingLLKernel_{}(ncclColl)", name_of(function),
                     reduces ? "sum_f16" : "copy_i8");
}

std::string_view collective_name(Function function) {
  switch (function) {
    case Function::all_gather:
      return "_allgather_base";
    case Function::reduce_scatter:
      return "_reduce_scatter_base";
    case Function::send:
      return "send";
    default:
      return "allreduce";
  }
}

// A rank's trace while it is written; times in microseconds since the base.
class Trace {
 public:
  Trace(const Cluster& cluster, const NcclVersion& version, int attempt, int rank)
      : version_(version),
        device_(cluster.local_of(rank)),
        pid_(cluster.pid(rank, attempt)),
        chance_(chance(cluster.options().seed, 0x7ace, rank)) {}

  double now = 0;

  // Kernels never take the same time twice.
  void compute(std::string_view name, double ms) {
    const double us = ms * 1e3 * (0.97 + 0.06 * chance_.fraction());
    work("kernel", name, kComputing, now, us);
    now += us + 4;
  }
  void copy(double ms) {
    work("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", kComputing, now, ms * 1e3);
    now += ms * 1e3 + 4;
  }
  void idle(double ms) {
    event("cpu_op", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", pid_, pid_,
          now, ms * 1e3 * 0.98, "");
    now += ms * 1e3;
  }

  void communicate(Function function, int stream, double from, double until, int group_size) {
    const auto name = kernel_name(version_, function);
    if (!version_.since(18)) {
      work("kernel", name, stream, from, until - from);
      return;
    }
    event("kernel", name, device_, stream, from, until - from,
          fmt::format(R"("device": {}, "context": 1, "stream": {}, "correlation": {}, )"
                      R"("Collective name": "{}", "dtype": "BFloat16", "Group size": {})",
                      device_, stream, ++correlation_, collective_name(function), group_size));
  }

  void step(int number, double begin) {
    event("gpu_user_annotation", fmt::format("ProfilerStep#{}", number), device_, kComputing, begin,
          now - begin, "");
  }

  std::string events;

 private:
  void work(std::string_view category, std::string_view name, int stream, double from, double us) {
    event(category, name, device_, stream, from, us,
          fmt::format(R"("device": {}, "context": 1, "stream": {}, "correlation": {})", device_,
                      stream, ++correlation_));
  }

  void event(std::string_view category, std::string_view name, std::int64_t pid, std::int64_t tid,
             double from, double us, std::string_view arguments) {
    fmt::format_to(
        std::back_inserter(events),
        R"(  {{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {:.3f}, "dur": {:.3f})",
        category, name, pid, tid, from, us);
    if (!arguments.empty())
      fmt::format_to(std::back_inserter(events), R"(, "args": {{{}}})", arguments);
    events += "},\n";
  }

  const NcclVersion& version_;
  int device_;
  std::int64_t pid_;
  Chance chance_;
  int correlation_ = 8'800;
};

class Profiler {
 public:
  Profiler(const Cluster& cluster, const Communicators& communicators, const NcclVersion& version,
           int attempt, const ProfiledRun& run)
      : cluster_(cluster), communicators_(communicators), run_(run) {
    for (const int rank : run.ranks) traces_.emplace(rank, Trace(cluster, version, attempt, rank));
    if (const auto slot = communicators.slot_of(Group::tensor)) {
      for (const int rank : run.ranks)
        tensor_[communicators.seats(rank)[static_cast<std::size_t>(*slot)].communicator].push_back(
            rank);
      tensor_size_ = communicators.at(tensor_.begin()->first).size();
    }
  }

  std::map<int, Trace>& write() {
    for (int step = 0; step < kSteps; ++step) one_step(step);
    return traces_;
  }

 private:
  void one_step(int step) {
    std::map<int, double> begin;
    std::map<int, Lateness> late;
    for (auto& [rank, trace] : traces_) {
      begin[rank] = trace.now;
      late[rank] = run_.late ? run_.late(rank, step) : Lateness{};
      trace.idle(2.5 + late[rank].idles);
      trace.copy(0.6);
    }
    for (int layer = 0; layer < kLayers; ++layer) {
      for (auto& [rank, trace] : traces_) {
        trace.compute("ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn",
                      kGemm * late[rank].computes);
        trace.compute("flash_fwd_kernel", kAttention * late[rank].computes);
      }
      in_tensor_groups();
    }
    hop();
    std::map<int, double> reduced;  // when the last gradients of a rank are reduced
    for (int layer = 0; layer < kLayers; ++layer) {
      for (auto& [rank, trace] : traces_) {
        trace.compute("flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel",
                      kAttention * 2 * late[rank].computes);
        for (int i = 0; i < 3; ++i)
          trace.compute("ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x4_nt",
                        kGemm * late[rank].computes);
      }
      in_tensor_groups();
      behind_the_computing(reduced);
    }
    hop();
    for (auto& [rank, trace] : traces_) trace.now = std::max(trace.now, reduced[rank]);
    together(run_.ranks, Function::all_reduce, kData, kNorm, cluster_.ranks());
    for (auto& [rank, trace] : traces_)
      trace.compute(
          "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor>",
          kOptimizer * late[rank].computes);
    together(run_.ranks, Function::all_gather, kData, kParameters, cluster_.ranks());
    for (auto& [rank, trace] : traces_) trace.step(kFirstStep + step, begin[rank]);
  }

  // All ranks wait for the last one, and for the transfer.
  void together(const std::vector<int>& ranks, Function function, int stream, double ms,
                int group_size) {
    double last = 0;
    for (const int rank : ranks) last = std::max(last, traces_.at(rank).now);
    const double end = last + ms * 1e3 * run_.network;
    for (const int rank : ranks) {
      Trace& trace = traces_.at(rank);
      trace.communicate(function, stream, trace.now, end, group_size);
      trace.now = end + 3;
    }
  }

  void in_tensor_groups() {
    for (const auto& [communicator, ranks] : tensor_)
      together(ranks, Function::all_reduce, kTensor, kActivations, tensor_size_);
  }

  // Reduces gradients while the backward pass goes on.
  void behind_the_computing(std::map<int, double>& free) {
    double last = 0;
    for (auto& [rank, trace] : traces_) last = std::max({last, trace.now, free[rank]});
    const double end = last + kBucket * 1e3 * run_.network * run_.hidden;
    for (auto& [rank, trace] : traces_) {
      trace.communicate(Function::reduce_scatter, kData, std::max(trace.now, free[rank]), end,
                        cluster_.ranks());
      free[rank] = end + 3;
    }
  }

  void hop() {
    if (communicators_.stages() == 1) return;
    for (auto& [rank, trace] : traces_) {
      const double end = trace.now + kHop * 1e3 * run_.network;
      trace.communicate(Function::send, kPipeline, trace.now, end, 2);
      trace.now = end + 3;
    }
  }

  const Cluster& cluster_;
  const Communicators& communicators_;
  const ProfiledRun& run_;
  std::map<int, Trace> traces_;
  std::map<int, std::vector<int>> tensor_;  // profiled ranks, by their group
  int tensor_size_ = 1;
};

}  // namespace

std::map<int, std::string> profiles_of(const Cluster& cluster, const Communicators& communicators,
                                       const NcclVersion& version, int attempt,
                                       const ProfiledRun& run) {
  Profiler profiler(cluster, communicators, version, attempt, run);
  const auto base = std::chrono::duration_cast<std::chrono::nanoseconds>(
      (beginning_of(attempt) + kTraining).time_since_epoch());
  std::map<int, std::string> all;
  for (auto& [rank, trace] : profiler.write()) {
    std::string text = "{\n  \"schemaVersion\": 1,\n";
    fmt::format_to(
        std::back_inserter(text),
        "  \"deviceProperties\": [{{\"id\": {}, \"name\": \"NVIDIA H100 80GB HBM3\", "
        "\"totalGlobalMem\": 85520809984, \"computeMajor\": 9, \"computeMinor\": 0}}],\n",
        cluster.local_of(rank));
    // Older versions show the rank only in the name of the file.
    if (version.since(18))
      fmt::format_to(std::back_inserter(text),
                     "  \"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": {}, "
                     "\"world_size\": {}, \"nccl_version\": \"{}\"}},\n",
                     rank, cluster.ranks(), version.name);
    fmt::format_to(std::back_inserter(text),
                   "  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": {},\n"
                   "  \"traceEvents\": [\n",
                   base.count());
    text += trace.events;
    fmt::format_to(std::back_inserter(text),
                   "  {{\"ph\": \"M\", \"name\": \"process_labels\", \"pid\": {0}, \"tid\": 0, "
                   "\"args\": {{\"labels\": \"GPU {0}\"}}}}\n  ],\n"
                   "  \"traceName\": \"/tmp/trace_rank{1}.json\"\n}}\n",
                   cluster.local_of(rank), rank);
    all.emplace(rank, std::move(text));
  }
  return all;
}

}  // namespace faultline::simulation
