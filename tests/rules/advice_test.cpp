#include "rules/knowledge/advice.h"

#include <gtest/gtest.h>

namespace faultline {
namespace {

const AdviceSubject kSubject{.host = "gpu-node-3", .gpu = "0000:3b:00.0", .rank = 27};

TEST(Advice, FillsInWhoseFaultItIs) {
  EXPECT_EQ(fill_in("Rank {rank}, GPU {gpu} on {host}", kSubject),
            "Rank 27, GPU 0000:3b:00.0 on gpu-node-3");
  EXPECT_EQ(fill_in("no placeholder", kSubject), "no placeholder");
  EXPECT_EQ(fill_in("", kSubject), "");
}

TEST(Advice, SpellsAGpuAsNvidiaSmiDoes) {
  EXPECT_EQ(fill_in("nvidia-smi -i {gpu_smi}", kSubject), "nvidia-smi -i 00000000:3B:00.0");
  EXPECT_EQ(fill_in("{gpu_smi}", {.gpu = "10000:e1:00.0"}), "00010000:E1:00.0");
}

TEST(Advice, LeavesWhatIsUnknownToWhoKnowsMore) {
  EXPECT_EQ(fill_in("nvidia-smi -i {gpu_smi} # {host}, {rank}", {.rank = 0}),
            "nvidia-smi -i {gpu_smi} # {host}, 0");
  const Action half = fill_in(Action{"Look.", "{host}", "top -p {pid} -H"}, AdviceSubject{});
  EXPECT_EQ(completed(half, {.host = "n0", .pids = {41}}), (Action{"Look.", "n0", "top -p 41 -H"}));
}

TEST(Advice, ACommandFindsOrAsksForWhatNobodyKnows) {
  struct Case {
    const char* why;
    const char* command;
    AdviceSubject subject;
    const char* printed;
  };
  const Case cases[] = {
      {"one process", "py-spy dump --pid {pid}", {.pids = {41}}, "py-spy dump --pid 41"},
      {"two processes of a host",
       "py-spy dump --pid {pid}",
       {.pids = {41, 42}},
       R"(for pid in 41 42; do py-spy dump --pid "$pid"; done)"},
      {"whoever has the rank",
       "py-spy dump --pid {pid}",
       {.rank = 7},
       R"(for pid in $(grep -lszxE '(RANK|SLURM_PROCID|OMPI_COMM_WORLD_RANK)=7' )"
       R"(/proc/[0-9]*/environ | cut -d/ -f3); do py-spy dump --pid "$pid"; done)"},
      {"whoever uses a GPU",
       "py-spy dump --pid {pid}",
       {},
       R"(for pid in $(nvidia-smi --query-compute-apps=pid --format=csv,noheader); do py-spy )"
       R"(dump --pid "$pid"; done)"},
      {"nothing is reset that nobody named",
       "nvidia-smi --gpu-reset -i {gpu_smi}",
       {},
       R"(nvidia-smi --gpu-reset -i "${GPU:?the PCI address of the GPU}")"},
      {"the interface of a known NIC",
       "ethtool {netdev}",
       {.nic = "mlx5_1"},
       R"(for netdev in $(ls /sys/class/infiniband/mlx5_1/device/net); do ethtool "$netdev"; )"
       R"(done)"},
      {"what a line named", "ping {peer}", {.fields = {{"peer", "10.0.0.3"}}}, "ping 10.0.0.3"},
      {"a stranger's log is no program",
       "ping {peer}",
       {.fields = {{"peer", "$(reboot)"}}},
       "ping '$(reboot)'"},
      {"nor can it end a word",
       "ping {peer}",
       {.fields = {{"peer", "a';reboot'"}}},
       R"(ping 'a'\'';reboot'\''')"},
      {"nor be filled in itself",
       "ping {peer} {host}",
       {.host = "a b", .fields = {{"peer", "{host}"}}},
       R"(ping "${PEER:?the address of the other end}" 'a b')"},
      {"braces of the shell and of awk",
       "echo ${HOME} ${x} | awk '{print $2}'",
       {},
       "echo ${HOME} ${x} | awk '{print $2}'"},
      {"nothing may follow a remark",
       "top -p {pid}  # now",
       {},
       R"(top -p "${PID:?the number of the process}"  # now)"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    EXPECT_EQ(completed_command(c.command, c.subject), c.printed);
  }
}

TEST(Advice, AWordOfALogIsNoOptionOfACommand) {
  const Action ping{"Ping it.", "{host}", "ping -c 3 {peer}"};
  EXPECT_EQ(completed(ping, {.fields = {{"peer", "-f"}}}).command,
            R"(ping -c 3 "${PEER:?the address of the other end}")");
}

TEST(Advice, LeavesBracesThatAreNoPlaceholder) {
  EXPECT_EQ(fill_in("a { b", kSubject), "a { b");
  EXPECT_EQ(fill_in("a } b", kSubject), "a } b");
}

TEST(Advice, NamesNoPlaceWhenTheHostIsUnknown) {
  const Action action{.what = "Look at {host}.", .where = "{host}", .command = "true"};
  EXPECT_EQ(fill_in(action, kSubject),
            (Action{.what = "Look at gpu-node-3.", .where = "gpu-node-3", .command = "true"}));
  EXPECT_EQ(completed(action, {}),
            (Action{.what = "Look at its host.", .where = "", .command = "true"}));
}

TEST(Advice, FindsPlaceholdersThatMeanNothing) {
  EXPECT_EQ(unknown_placeholders("{host} {gpus} {rnk}"),
            (std::vector<std::string_view>{"gpus", "rnk"}));
  EXPECT_EQ(unknown_placeholders("{host} {gpu} ${anything} {rank}"),
            std::vector<std::string_view>{});
}

}  // namespace
}  // namespace faultline
