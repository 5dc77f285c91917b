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

// Of a process with one GPU.
struct FloodRank {
  int host = 0;
  int pid = 0;
  int communicator = 0;
  int rank = 0;
  int ranks = 2;

  std::string says(std::string_view text) const {
    return fmt::format("node-{}:{}:{} [0] NCCL INFO {}", host, pid, pid, text);
  }
  std::string init() const {
    return says(fmt::format(
        "ncclCommInitRank comm {:#x} rank {} nranks {} cudaDev 0 nvmlDev 0 busId 1b000 commId "
        "{:#x} - Init COMPLETE",
        pointer(), rank, ranks, 0x9000 + communicator));
  }
  std::string torn_down() const {
    return says(fmt::format("comm {:#x} rank {} nranks {} cudaDev 0 busId 1b000 - Destroy COMPLETE",
                            pointer(), rank, ranks));
  }
  std::string calls(std::string_view function, int op_count, int count, int peer = 0) const {
    return says(fmt::format(
        "{}: opCount {:x} sendbuff 0x7f01 recvbuff 0x7f02 count {} datatype 7 op 0 root {} comm "
        "{:#x} [nranks={}] stream 0x55",
        function, op_count, count, peer, pointer(), ranks));
  }

 private:
  int pointer() const { return 0x100000 + communicator * 32 + rank * 16; }
};

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
    FloodKind{"reboots",  // beside ranks whose host no line names, ranks that were torn down, and
                          // Xids of processes on hosts that no line names
              [](int i) {
                const int group = i / 4;
                const FloodRank named{.host = group, .pid = 1, .rank = 2 * group, .ranks = 100'000};
                switch (i % 4) {
                  case 0:
                    return named.init() + '\n' + named.torn_down();
                  case 1:
                    return fmt::format(
                        "NCCL INFO ncclCommInitRank comm {:#x} rank {} nranks 100000 cudaDev 0 "
                        "nvmlDev 0 busId 1b000 commId 0x9000 - Init COMPLETE",
                        0x8000'0000 + i * 16, 2 * group + 1);
                  case 2:
                    return fmt::format(
                        "{0} node-{1} kernel: NVRM: loading NVIDIA UNIX x86_64 Kernel Module "
                        "550.54\n{0} node-{1} kernel: Linux version 5.15.0",
                        flood_stamp(i), group);
                  default:
                    return fmt::format(
                        "{} kernel: NVRM: Xid (PCI:{:04x}:{:02x}:00): 31, pid=1, name=python3, MMU "
                        "Fault",
                        flood_stamp(i), group / 256 % 65536, group % 256);
                }
              }},
    FloodKind{"exits",  // of processes with the number of many ranks, as in containers
              [](int i) {
                if (i % 2 == 0)
                  return FloodRank{.host = i, .pid = 1, .rank = i / 2, .ranks = 100'000}.init();
                return fmt::format(
                    "E1122 10:00:00.{:06} 77 torch/distributed/elastic/multiprocessing/api.py:874] "
                    "failed (exitcode: 1) local_rank: {} (pid: 1) of binary: /usr/bin/python{}",
                    i % 1'000'000, i / 2, i);
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
    FloodKind{"callers",  // of one communicator; every other one is a call behind
              [](int i) {
                const int number = i / 5 * 2 + i % 5 / 3;
                const FloodRank rank{number, 100, 0, number, 100'000};
                return i % 5 % 3 == 0 ? rank.init() : rank.calls("AllReduce", i % 5 % 3 - 1, 8);
              }},
    FloodKind{"forks",  // each rank makes two calls that no other makes
              [](int i) {
                const FloodRank rank{i / 3, 100, 0, i / 3, 100'000};
                return i % 3 == 0 ? rank.init() : rank.calls("AllReduce", 5, 1000 + i);
              }},
    FloodKind{"peers",  // communicators of the same two processes, which send and receive in each
              [](int i) {
                const int side = i / 4 % 2;
                const FloodRank rank{side, 100, i / 8, side};
                if (i % 4 == 0) return rank.init();
                if (i % 4 == 3) return rank.calls("AllReduce", 1, 8);
                return rank.calls(i % 4 == 1 ? "Send" : "Recv", 0, 8, 1 - side);
              }},
    FloodKind{
        "behind",  // communicators of two processes, of which one is behind; and their stacks
        [](int i) {
          const FloodRank ahead{i / 7, 100, i / 7, 0};
          const FloodRank behind{i / 7, 101, i / 7, 1};
          if (i % 7 < 2) return (i % 7 == 0 ? ahead : behind).init();
          if (i % 7 < 5) return ahead.calls("AllReduce", i % 7 - 2, 8);
          if (i % 7 == 5) return behind.calls("AllReduce", 0, 8);
          return fmt::format(
              "Process {0}: python train.py\nPython v3.10.12 (/usr/bin/python3.10)\n\nThread {0} "
              "(idle): \"MainThread\"\n    all_reduce "
              "(torch/distributed/distributed_c10d.py:2221)\n    main (train.py:10)\n",
              5000 + i);
        }},
    FloodKind{"groups",  // each rank timed out in a group of its own, or says not in which
              [](int i) {
                const std::string group =
                    i % 2 == 0 ? fmt::format("[PG ID {0} PG GUID {0}(default_pg) Rank {0}] ", i)
                               : "";
                return fmt::format(
                    "[rank{0}]:[E1122 10:00:00.{1:06} ProcessGroupNCCL.cpp:607] [Rank {0}] {2}"
                    "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=5, "
                    "OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600001 "
                    "milliseconds before timing out.",
                    i, i % 1'000'000, group);
              }},
    FloodKind{"barriers",  // rank 0 waits in vain for each other rank, again and again
              [](int i) {
                return fmt::format(
                    "[rank0]:[E1122 10:00:00.{:06} ProcessGroupGloo.cpp:2800] [Rank 0]: Rank {} "
                    "failed to pass monitoredBarrier in 1000 ms",
                    i % 1'000'000, i + 1);
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
    FloodKind{"finished-calls",  // communicators of one process, their calls, and calls that ended
              [](int i) {
                const int at = i / 3;
                if (i % 3 == 0)
                  return fmt::format(
                      "node-1:100:101 [0] NCCL INFO ncclCommInitRank comm {:#x} rank 0 nranks 2 "
                      "cudaDev 0 nvmlDev 0 busId 1b000 commId {:#x} - Init COMPLETE",
                      0x1000 + at * 16, 0x9000 + at);
                if (i % 3 == 1)
                  return fmt::format(
                      "node-1:100:101 [0] NCCL INFO AllReduce: opCount {:x} sendbuff 0x7f1 "
                      "recvbuff 0x7f2 count 1024 datatype 7 op 0 root 0 comm {:#x} [nranks=2] "
                      "stream 0x55",
                      at, 0x1000 + at * 16);
                return fmt::format("node-1:100:101 [{}] NCCL INFO AllReduce: opCount {:x} DONE",
                                   at % 4096, at);
              }},
    FloodKind{"repeated-timeouts",  // of ranks, and again at the end of processes
              [](int i) {
                const std::string front = i % 2 == 0 ? fmt::format(
                                                           "[rank{0}]:[E1122 10:00:00.{1:06} "
                                                           "ProcessGroupNCCL.cpp:607] [Rank {0}] ",
                                                           i / 32, i % 1'000'000)
                                                     : fmt::format("  what():  [Rank {}] ", i / 32);
                return front + fmt::format(
                                   "Watchdog caught collective operation timeout: "
                                   "WorkNCCL(SeqNum={}, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, "
                                   "Timeout(ms)=600000) ran for 600001 milliseconds before timing "
                                   "out.",
                                   i);
              }},
    FloodKind{"settings",  // each rank has a variable of its own, and a path to the network
              [](int i) {
                const std::string front = fmt::format("node-{}:100:101 [0] NCCL INFO ", i / 3);
                if (i % 3 == 0)
                  return front + fmt::format(
                                     "ncclCommInitRank comm {:#x} rank {} nranks 100000 cudaDev 0 "
                                     "nvmlDev 0 busId 1b000 commId 0xabc - Init COMPLETE",
                                     0x1000 + i * 16, i / 3);
                if (i % 3 == 1)
                  return front + fmt::format("NCCL_RAS_X{} set by environment to 1.", i / 3);
                return front + fmt::format("Channel 00/0 : {}[0] -> {}[0] [send] via NET/IB/0{}",
                                           i / 3, i / 3 + 1, i == 2 ? "/GDRDMA" : "");
              }},
    FloodKind{"pairs",  // of ranks that differ in their settings and in their calls
              [](int i) {
                const int pair = i / 6;
                const int rank = i / 3 % 2;
                const std::string front =
                    fmt::format("node-{}:100:100 [0] NCCL INFO ", 2 * pair + rank);
                if (i % 3 == 0)
                  return front + fmt::format(
                                     "ncclCommInitRank comm {:#x} rank {} nranks 2 cudaDev 0 "
                                     "nvmlDev 0 busId 1b000 commId {:#x} - Init COMPLETE",
                                     0x1000 + (2 * pair + rank) * 16, rank, 0x9000 + pair);
                if (i % 3 == 1)
                  return front + fmt::format("NCCL_ALGO set by environment to {}.",
                                             rank == 0 ? "Ring" : "Tree");
                return front + fmt::format(
                                   "AllReduce: opCount 0 sendbuff 0x7f1 recvbuff 0x7f2 count {} "
                                   "datatype 7 op 0 root 0 comm {:#x} [nranks=2] stream 0x55",
                                   8 + rank, 0x1000 + (2 * pair + rank) * 16);
              }},
    FloodKind{"memory-errors",  // that the kernel reports, and NCCL on other hosts
              [](int i) {
                if (i % 2 == 0)
                  return fmt::format(
                      "{} node-{} kernel: NVRM: Xid (PCI:0000:1b:00): 48, pid={}, name=python3, "
                      "DBE (double bit error) ECC Error",
                      flood_stamp(i), i, i);
                return fmt::format(
                    "rnode-{}:1000:1000 [0] transport/p2p.cc:1 NCCL WARN Cuda failure 214 "
                    "'uncorrectable ECC error encountered'",
                    i);
              }},
    FloodKind{"hung-tasks",  // and storage that did not answer, and came back
              [](int i) {
                const std::string front =
                    fmt::format("{} node-{} kernel: ", flood_stamp(i), i / 3000);
                if (i % 3 == 0)
                  return front + fmt::format("INFO: task t{}:{} blocked for more than 120 seconds.",
                                             i, 10'000 + i);
                return front + fmt::format("nfs: server s{} {}", i / 3,
                                           i % 3 == 1 ? "not responding, still trying" : "OK");
              }},
    FloodKind{"aborts",  // of ranks that printed something
              [](int i) {
                if (i % 2 == 0) return fmt::format("[rank{}]: ValueError: bad value {}", i, i);
                return fmt::format("srun: error: node-{}: tasks {}-{}: Aborted (core dumped)", i,
                                   8 * i, 8 * i + 7);
              }},
    FloodKind{"bandwidths",  // that were measured beside many ports, none of which is named
              [](int i) {
                if (i % 2 == 0)
                  return fmt::format(
                      "CA 'mlx5_{}'\n\tCA type: MT4129\n\tNumber of ports: 1\n\tPort "
                      "1:\n\t\tState: Active\n\t\tRate: 400",
                      i);
                return fmt::format(
                    "node-{0}: #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   "
                    "MsgRate[Mpps]\nnode-{0}: 65536      5000             110.42            98.77 "
                    "    0.185580",
                    i);
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
