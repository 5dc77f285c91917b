// Writes lines that each name something new, such as another host: what a hostile sender can
// multiply.
//
//   generate_flood xids 100000 > flood.log
//
// Kinds: see below. The same words give the same bytes.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

namespace {

std::string stamp(int i) {
  const int s = i % 86400;
  return fmt::format("2026-11-22T{:02}:{:02}:{:02}.{:06}+00:00", s / 3600, s / 60 % 60, s % 60,
                     i % 1'000'000);
}

struct Kind {
  std::string_view name;
  std::string (*line)(int);
};

constexpr std::array kXids{79, 48, 31, 94, 63};

const std::array kKinds{
    Kind{"xids",
         [](int i) {
           return fmt::format(
               "{} node-1 kernel: NVRM: Xid (PCI:{:04x}:{:02x}:00): {}, pid={}, "
               "name=python3, GPU has fallen off the bus.",
               stamp(i), i / 256 % 65536, i % 256,
               kXids[static_cast<std::size_t>(i) % kXids.size()], i);
         }},
    Kind{"hosts",
         [](int i) {
           return fmt::format(
               "{} node-{} kernel: Out of memory: Killed process {} (python3) total-vm:1kB, "
               "anon-rss:1kB",
               stamp(i), i, 1000 + i);
         }},
    Kind{"warnings",
         [](int i) {
           return fmt::format(
               "node-{}:{}:{} [{}] transport/net_ib.cc:{} NCCL WARN Call to thing{} "
               "failed : reason {}",
               i % 64, 1000 + i % 97, 1000 + i, i % 8, i % 5000, i, i);
         }},
    Kind{"warning-hosts",
         [](int i) {
           return fmt::format(
               "node-{}:100:101 [0] transport/net_ib.cc:121 NCCL WARN NET/IB : Got "
               "completion from peer 10.0.{}.{}<4791> with status=12 opcode=0 len=0 "
               "vendor err 129 (Recv)",
               i, i / 256 % 256, i % 256);
         }},
    Kind{"tracebacks",
         [](int i) {
           return fmt::format(
               "[rank{0}]: Traceback (most recent call last):\n[rank{0}]:   File "
               "\"/app/train{0}.py\", line {1}, in <module>\n[rank{0}]:     main()\n"
               "[rank{0}]: ValueError: bad value {0}",
               i, i % 1000);
         }},
    Kind{"communicators",
         [](int i) {
           return fmt::format(
               "node-1:100:101 [0] NCCL INFO ncclCommInitRank comm {:#x} rank 0 "
               "nranks 2 cudaDev 0 nvmlDev 0 busId 1b000 commId {:#x} - Init "
               "COMPLETE",
               0x1000 + i * 16, 0x9000 + i);
         }},
    Kind{"ranks",
         [](int i) {
           return fmt::format(
               "node-{0}:{1}:{1} [{2}] NCCL INFO ncclCommInitRank comm {3:#x} rank "
               "{4} nranks 100000 cudaDev {2} nvmlDev {2} busId {5}b000 commId 0xabc "
               "- Init COMPLETE",
               i / 8, 100 + i % 8, i % 8, 0x1000 + i * 16, i, 1 + i % 8);
         }},
    Kind{"ports",
         [](int i) {
           return fmt::format(
               "{} node-{} kernel: mlx5_core 0000:{:02x}:00.0 mlx5_{}: Port: 1 Link "
               "DOWN",
               stamp(i), i / 8, i % 8, i % 8);
         }},
    Kind{"timeouts", [](int i) {
           return fmt::format(
               "[rank{0}]:[E1122 10:00:00.{1:06} ProcessGroupNCCL.cpp:607] [Rank {0}] "
               "Watchdog caught collective operation timeout: WorkNCCL(SeqNum={0}, "
               "OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for "
               "600001 milliseconds before timing out.",
               i, i % 1'000'000);
         }}};

}  // namespace

int main(int argc, char** argv) try {
  const auto* const kind =
      argc == 3 ? std::ranges::find(kKinds, argv[1], &Kind::name) : kKinds.end();
  if (kind == kKinds.end()) {
    fmt::print(stderr, "usage: generate_flood KIND LINES; kinds:");
    for (const Kind& one : kKinds) fmt::print(stderr, " {}", one.name);
    fmt::print(stderr, "\n");
    return 2;
  }
  const int lines = std::atoi(argv[2]);
  for (int i = 0; i < lines; ++i) {
    const std::string line = kind->line(i) + "\n";
    std::fwrite(line.data(), 1, line.size(), stdout);
  }
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "generate_flood: {}\n", error.what());
  return 1;
}
