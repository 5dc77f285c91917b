// Lines that each name something new, such as another host: what a hostile sender can multiply.
#pragma once

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

namespace faultline {

inline std::string flood_stamp(int i) {
  const int s = i % 86400;
  return fmt::format("2026-11-22T{:02}:{:02}:{:02}.{:06}+00:00", s / 3600, s / 60 % 60, s % 60,
                     i % 1'000'000);
}

struct FloodKind {
  std::string_view name;
  std::string (*line)(int);
};

inline constexpr std::array kFloodXids{79, 48, 31, 94, 63};

inline const std::array kFloodKinds{
    FloodKind{"xids",
              [](int i) {
                return fmt::format(
                    "{} node-1 kernel: NVRM: Xid (PCI:{:04x}:{:02x}:00): {}, pid={}, "
                    "name=python3, GPU has fallen off the bus.",
                    flood_stamp(i), i / 256 % 65536, i % 256,
                    kFloodXids[static_cast<std::size_t>(i) % kFloodXids.size()], i);
              }},
    FloodKind{"outlived",  // switch errors of a host, and its ranks, which all went on
              [](int i) {
                if (i % 2 != 0)
                  return fmt::format(
                      "2026-11-22T08:00:00.{:06}+00:00 node-0 kernel: nvidia-nvswitch{}: SXid "
                      "(PCI:{:04x}:{:02x}:00.0): 20034, Fatal, Link 33 LTSSM Fault Up",
                      i % 1'000'000, i, i / 256 % 65536, i % 256);
                return fmt::format(
                    "2026-11-22T07:00:00+00:00 node-0:{0}:{0} [0] NCCL INFO ncclCommInitRank comm "
                    "{1:#x} rank {2} nranks 100000 cudaDev 0 nvmlDev 0 busId {3:x}000 commId 0xabc "
                    "- Init COMPLETE\n2026-11-22T10:00:00+00:00 node-0:{0}:{0} [0] NCCL INFO "
                    "AllReduce: opCount 1 sendbuff 0x1 recvbuff 0x1 count 8 datatype 7 op 0 root 0 "
                    "comm {1:#x} [nranks=100000] stream 0x1",
                    1000 + i, 0x1000 + i * 16, i / 2, i + 1);
              }},
    FloodKind{
        "fabric",  // hosts whose GPUs, switches and PCIe ports report errors
        [](int i) {
          const std::string line =
              fmt::format("{} node-{} kernel: ", flood_stamp(i), i % 5 < 3 ? i / 5 : i);
          const std::string pci = fmt::format("(PCI:0000:{:02x}:00)", i / 5 % 256);
          switch (i % 5) {
            case 0:
              return line + "NVRM: Xid " + pci +
                     ": 79, pid=1, name=python3, GPU has fallen off the bus.";
            case 1:
              return line +
                     "nvidia-nvswitch0: SXid (PCI:0000:86:00.0): 20034, Fatal, Link 33 "
                     "LTSSM Fault Up";
            case 2:
              return line + "NVRM: Xid " + pci +
                     ": 74, pid=1, name=python3, NVLink: fatal error detected on link "
                     "3(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)";
            case 3:
              return line + "NVRM: Xid " + pci +
                     ": 154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 "
                     "(None)";
            default:
              return line + "pcieport 0000:00:01.0: pciehp: Slot(1): Link Down";
          }
        }},
    FloodKind{"strangers",  // ranks of one host, and programs that fault on their GPUs
              [](int i) {
                const int gpu = i / 2 + 1;
                if (i % 2 != 0)
                  return fmt::format(
                      "{} node-0 kernel: NVRM: Xid (PCI:{:04x}:{:02x}:00): 31, pid={}, "
                      "name=python3, Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS "
                      "GPCCLIENT_T1_0 faulted @ 0x7f01_00000000. Fault is of type FAULT_PDE",
                      flood_stamp(i), gpu / 256 % 65536, gpu % 256, 10'000'000 + i);
                return fmt::format(
                    "node-0:{0}:{0} [0] NCCL INFO ncclCommInitRank comm {1:#x} rank {2} nranks "
                    "100000 cudaDev 0 nvmlDev 0 busId {3:x}000 commId 0xabc - Init COMPLETE",
                    5000 + i, 0x1000 + i * 16, i / 2, gpu);
              }},
    FloodKind{
        "boots",  // hosts that boot, with a rank on each, and Xids of others
        [](int i) {
          if (i % 2 == 0)
            return fmt::format(
                "node-{0}:100:100 [0] NCCL INFO ncclCommInitRank comm {1:#x} rank {0} nranks "
                "100000 cudaDev 0 nvmlDev 0 busId 1b000 commId 0xabc - Init COMPLETE",
                i / 2, 0x1000 + i * 16);
          return fmt::format(
              "{0} node-{1} kernel: NVRM: loading NVIDIA UNIX x86_64 Kernel Module 550.54\n"
              "{0} node-{1} kernel: Linux version 5.15.0\n"
              "{0} x-{1} kernel: NVRM: Xid (PCI:0000:1b:00): 79, pid=1, name=python3, GPU has "
              "fallen off the bus.",
              flood_stamp(i), i / 2);
        }},
    FloodKind{"nics",  // ranks with a NIC, and kernel lines of an unknown host about others
              [](int i) {
                if (i % 2 != 0)
                  return fmt::format(
                      "[{0}.000000] mlx5_core {1:04x}:{2:02x}:00.0 eth{0}: Link down\n"
                      "[{0}.500000] mlx5_core {1:04x}:{2:02x}:00.0: Port module event: module 0, "
                      "Cable unplugged",
                      100'000 + i, i / 256 % 65536, i % 256);
                return fmt::format(
                    "node-{0}:100:100 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB "
                    "ib0:10.{1}.{2}.{3}<0>\n"
                    "node-{0}:100:100 [0] NCCL INFO ncclCommInitRank comm {4:#x} rank {5} nranks "
                    "100000 cudaDev 0 nvmlDev 0 busId 1b000 commId 0xabc - Init COMPLETE",
                    i, i / 65536 % 256, i / 256 % 256, i % 256, 0x1000 + i * 16, i / 2);
              }},
    FloodKind{"hosts",
              [](int i) {
                return fmt::format(
                    "{} node-{} kernel: Out of memory: Killed process {} (python3) total-vm:1kB, "
                    "anon-rss:1kB",
                    flood_stamp(i), i, 1000 + i);
              }},
    FloodKind{"warnings",
              [](int i) {
                return fmt::format(
                    "node-{}:{}:{} [{}] transport/net_ib.cc:{} NCCL WARN Call to thing{} "
                    "failed : reason {}",
                    i % 64, 1000 + i % 97, 1000 + i, i % 8, i % 5000, i, i);
              }},
    FloodKind{"warning-hosts",
              [](int i) {
                return fmt::format(
                    "node-{}:100:101 [0] transport/net_ib.cc:121 NCCL WARN NET/IB : Got "
                    "completion from peer 10.0.{}.{}<4791> with status=12 opcode=0 len=0 "
                    "vendor err 129 (Recv)",
                    i, i / 256 % 256, i % 256);
              }},
    FloodKind{"tracebacks",
              [](int i) {
                return fmt::format(
                    "[rank{0}]: Traceback (most recent call last):\n[rank{0}]:   File "
                    "\"/app/train{0}.py\", line {1}, in <module>\n[rank{0}]:     main()\n"
                    "[rank{0}]: ValueError: bad value {0}",
                    i, i % 1000);
              }},
    FloodKind{"communicators",
              [](int i) {
                return fmt::format(
                    "node-1:100:101 [0] NCCL INFO ncclCommInitRank comm {:#x} rank 0 "
                    "nranks 2 cudaDev 0 nvmlDev 0 busId 1b000 commId {:#x} - Init "
                    "COMPLETE",
                    0x1000 + i * 16, 0x9000 + i);
              }},
    FloodKind{"ranks",
              [](int i) {
                return fmt::format(
                    "node-{0}:{1}:{1} [{2}] NCCL INFO ncclCommInitRank comm {3:#x} rank "
                    "{4} nranks 100000 cudaDev {2} nvmlDev {2} busId {5}b000 commId 0xabc "
                    "- Init COMPLETE",
                    i / 8, 100 + i % 8, i % 8, 0x1000 + i * 16, i, 1 + i % 8);
              }},
    FloodKind{"ports",
              [](int i) {
                return fmt::format(
                    "{} node-{} kernel: mlx5_core 0000:{:02x}:00.0 mlx5_{}: Port: 1 Link "
                    "DOWN",
                    flood_stamp(i), i / 8, i % 8, i % 8);
              }},
    FloodKind{"scheduler",  // nodes that went down, and the jobs that ran on them and on others
              [](int i) {
                if (i % 2 == 0)
                  return fmt::format(
                      "NodeName=node-{} Arch=x86_64 State=DOWN "
                      "BootTime=2026-11-22T10:00:00 Reason=gone",
                      i / 2);
                return fmt::format(
                    "JobId={0} JobName=train\n   JobState=NODE_FAIL Reason=NodeDown\n   "
                    "StartTime=2026-11-22T08:00:00 EndTime=2026-11-22T10:00:00\n   "
                    "NodeList=node-[{1},{2}-{3}]",
                    1000 + i, i / 2, 10'000'000 + i, 10'000'003 + i);
              }},
    FloodKind{"timeouts", [](int i) {
                return fmt::format(
                    "[rank{0}]:[E1122 10:00:00.{1:06} ProcessGroupNCCL.cpp:607] [Rank {0}] "
                    "Watchdog caught collective operation timeout: WorkNCCL(SeqNum={0}, "
                    "OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for "
                    "600001 milliseconds before timing out.",
                    i, i % 1'000'000);
              }}};

}  // namespace faultline
