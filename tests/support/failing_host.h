// Logs of a host on which a part fails in one job after the other.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

namespace faultline {

inline constexpr const char* kFailingHost = "gpu-node-3";
inline constexpr int kGpusOfFailingHost = 4;

// Four ranks of one host; the one on 3b:00.0 makes fewer calls.
inline std::string nccl_log(const std::string& host = kFailingHost) {
  std::string log;
  for (int rank = 0; rank < kGpusOfFailingHost; ++rank) {
    const std::string who =
        fmt::format("{}:{}:{} [{}] NCCL INFO ", host, 100 + rank, 200 + rank, rank);
    const std::string comm = fmt::format("0x55d06325{:04x}", 0x1000 + rank);
    for (const char* stage : {"START", "COMPLETE"})
      log += fmt::format(
          "{}ncclCommInitRank comm {} rank {} nranks {} cudaDev {} nvmlDev {} busId {}b000 commId "
          "0x9f3c51a07e22d001 - Init {}\n",
          who, comm, rank, kGpusOfFailingHost, rank, rank, rank + 1, stage);
    for (int call = 0; call < (rank == 2 ? 3 : 5); ++call)
      log += fmt::format(
          "{}AllReduce: opCount {:x} sendbuff 0x7f0e4fb06000 recvbuff 0x7f0e4fb06000 count 64 "
          "datatype 7 op 0 root 0 comm {} [nranks={}] stream 0x55e0b2f43d90\n",
          who, call, comm, kGpusOfFailingHost);
  }
  return log;
}

inline std::string xid_line(const std::string& day, int code, const std::string& text) {
  return fmt::format(
      "{}T02:46:59,120000+00:00 NVRM: Xid (PCI:0000:3b:00): {}, pid=4021, name=python3, {}\n", day,
      code, text);
}

inline std::string off_bus(const std::string& day) {
  return xid_line(day, 79, "GPU has fallen off the bus.");
}

// Two readings of the counters in /sys, an hour apart, of a link that goes bad in between.
inline std::string readings(const std::string& day) {
  std::string text;
  for (const auto& [hour, errors] : {std::pair{"02", 100}, {"03", 250'000}})
    text += fmt::format(
        "{}T{}:10:00+00:00 /sys/class/infiniband/mlx5_3/ports/1/counters/symbol_error:{}\n", day,
        hour, errors);
  return text;
}

inline std::string switch_fault(const std::string& day) {
  return day +
         "T02:46:59,120000+00:00 nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 24007, Fatal, Link 12 "
         "sourcetrack timeout error\n";
}

}  // namespace faultline
