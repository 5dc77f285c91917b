// Writes a trace as torch.profiler does, as large as asked for: one rank that computes, copies and
// gathers on three streams, with the CPU's operators and Python's frames, which are most of a
// trace.
//
//   generate_trace --megabytes 300 --rank 3 > trace_rank3.json
//
// The same flags give the same bytes.

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

namespace {

struct Options {
  std::uint64_t megabytes = 300;
  std::uint64_t rank = 0;
};

constexpr std::uint64_t kEventsOfStep = 6000;

class Trace {
 public:
  explicit Trace(const Options& options) : options_(options), random_(options.rank + 1) {}

  void write() {
    print(R"({
  "schemaVersion": 1,
  "deviceProperties": [
    {"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85520809984, "numSms": 132}
  ],
  "distributedInfo": {"backend": "nccl", "rank": )" +
          std::to_string(options_.rank) +
          R"(, "world_size": 8, "pg_count": 1, "nccl_version": "2.27.3"},
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": 1772675200000000000,
  "traceEvents": [
)");
    while (written_ < options_.megabytes * 1'000'000) step();
    print(R"(  {
    "ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 1.000
  }
  ],
  "traceName": "./trace_rank.json"
}
)");
  }

 private:
  void print(std::string_view text) {
    written_ += text.size();
    std::fwrite(text.data(), 1, text.size(), stdout);
  }

  // "1234.567", microseconds
  static std::string time(std::uint64_t nanoseconds) {
    std::string fraction = std::to_string(nanoseconds % 1000);
    fraction.insert(0, 3 - fraction.size(), '0');
    return std::to_string(nanoseconds / 1000) + "." + fraction;
  }

  void complete(std::string_view category, std::string_view name, std::string_view lane,
                std::uint64_t begin, std::uint64_t duration, std::string_view args) {
    std::string text = "  {\n    \"ph\": \"X\", \"cat\": \"";
    text.append(category).append("\", \"name\": \"").append(name).append("\", ").append(lane);
    text +=
        ",\n    \"ts\": " + time(begin) + ", \"dur\": " + time(duration) + ",\n    \"args\": {\n";
    text.append("      ").append(args).append("\n    }\n  },\n");
    print(text);
  }

  void step() {
    const std::uint64_t begin = now_;
    for (std::uint64_t i = 0; i < kEventsOfStep / 6; ++i) {
      const std::string id = std::to_string(++correlation_);
      const std::uint64_t length = 20'000 + random_() % 200'000;
      complete(
          "cpu_op", "aten::mm", "\"pid\": 21734, \"tid\": 21734", now_, 12'000,
          fmt::format(
              R"("External id": {0}, "Record function id": 0, "Sequence number": 8812, "Fwd thread id": 0, "Ev Idx": {0})",
              id));
      complete("python_function", "torch/nn/modules/module.py(1751): _call_impl",
               "\"pid\": 21734, \"tid\": 21734", now_, 30'000,
               fmt::format(R"("Python parent id": {0}, "Python id": {0}, "Ev Idx": {0})", id));
      complete("cuda_runtime", "cudaLaunchKernel", "\"pid\": 21734, \"tid\": 21734", now_, 4'000,
               fmt::format(R"("External id": {0}, "cbid": 211, "correlation": {0})", id));
      complete(
          "kernel",
          "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_"
          "nn_align8>(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_nn_align8::"
          "Params)",
          "\"pid\": 0, \"tid\": 7", now_, length,
          fmt::format(
              R"("External id": {0}, "queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": {0}, "registers per thread": 230, "shared memory": 98304, "blocks per SM": 1.939394, "warps per SM": 15.515152, "grid": [8, 32, 1], "block": [256, 1, 1], "est. achieved occupancy %": 24)",
              id));
      print(fmt::format(
          "  {{\n    \"ph\": \"s\", \"id\": {}, \"pid\": 21734, \"tid\": 21734, \"ts\": {},\n"
          "    \"cat\": \"ac2g\", \"name\": \"ac2g\"\n  }},\n",
          id, time(now_)));
      if (i % 8 == 0)
        complete(
            "kernel", "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
            "\"pid\": 0, \"tid\": 22", now_ + 10'000, 400'000 + random_() % 400'000,
            R"("device": 0, "stream": 22, "correlation": )" + id +
                R"(, "Collective name": "_allgather_base", "dtype": "BFloat16", "In msg nelems": 8388608, "Out msg nelems": 67108864, "Group size": 8, "Process Group Name": "0", "Process Group Description": "default_pg", "Process Group Ranks": "[0, 1, 2, 3, 4, 5, 6, 7]")");
      now_ += length + random_() % 8'000;
    }
    complete("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", "\"pid\": 0, \"tid\": 20", now_,
             90'000, "\"device\": 0, \"stream\": 20, \"bytes\": 16777216");
    now_ += 500'000;
    complete("gpu_user_annotation", "ProfilerStep#" + std::to_string(++steps_),
             "\"pid\": 0, \"tid\": 7", begin, now_ - begin, "\"External id\": 1");
  }

  Options options_;
  std::mt19937_64 random_;
  std::uint64_t written_ = 0;
  std::uint64_t now_ = 5'000'000'000;  // nanoseconds
  std::uint64_t correlation_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
  Options options;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view flag = arguments[i];
    std::uint64_t* value = flag == "--megabytes" ? &options.megabytes
                           : flag == "--rank"    ? &options.rank
                                                 : nullptr;
    if (value == nullptr) {
      std::fprintf(stderr, "generate_trace: unknown flag %s\n", arguments[i]);
      return 2;
    }
    *value = std::strtoull(arguments[i + 1], nullptr, 10);
  }
  Trace(options).write();
}
