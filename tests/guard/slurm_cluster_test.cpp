// What the guard reads of scontrol; ./dev cluster slurm tries it with real daemons.
#include "guard/slurm_cluster.h"

#include <gtest/gtest.h>

#include <string>

namespace faultline {
namespace {

// As Slurm 22.05 prints it.
std::string slurm_line(const std::string& state, const std::string& reason = "") {
  return "NodeName=gpu-node-2 Arch=x86_64 CoresPerSocket=1  CPUAlloc=0 CPUTot=8 CPULoad=2.75 "
         "AvailableFeatures=(null) Gres=(null) NodeAddr=127.0.0.1 NodeHostName=host-2 Port=21802 "
         "Version=22.05.8 OS=Linux 6.1.0 #1 SMP  RealMemory=1 State=" +
         state + " ThreadsPerCore=1 TmpDisk=0 Partitions=train  LastBusyTime=2026-11-29T06:38:01 " +
         reason + "\n";
}

TEST(SlurmNodes, TellStatesInWhichJobsBegin) {
  for (const char* good :
       {"IDLE", "ALLOCATED", "MIXED", "MIXED+COMPLETING", "IDLE+CLOUD+POWERED_DOWN"})
    EXPECT_TRUE(slurm_nodes_in(slurm_line(good)).at(0).schedulable) << good;
  for (const char* bad : {"IDLE*", "IDLE+DRAIN", "DOWN", "DOWN*+DRAIN", "IDLE+NOT_RESPONDING",
                          "ALLOCATED+MAINTENANCE", "FUTURE", "", "SOMETHING_NEW"})
    EXPECT_FALSE(slurm_nodes_in(slurm_line(bad)).at(0).schedulable) << bad;
}

TEST(SlurmNodes, AreKnownAgainByTheReasonOfTheGuard) {
  const std::string reason =
      "Reason=faultline: gpu.off_bus (finding=f1 incident=i1 time=2026-11-29T06:00:00Z) "
      "[root@2026-11-29T06:38:01]";
  const GuardNode node = slurm_nodes_in(slurm_line("IDLE+DRAIN", reason)).at(0);
  EXPECT_EQ(node.name, "gpu-node-2");
  EXPECT_EQ(node.also, std::vector<std::string>{"host-2"});
  EXPECT_TRUE(node.taken);
  EXPECT_EQ(node.memory.marks,
            (std::vector<GuardMark>{{"f1", "i1", *parse_rfc3339("2026-11-29T06:00:00Z")}}));
  EXPECT_TRUE(slurm_nodes_in(slurm_line("MIXED+DRAIN", reason)).at(0).taken);
  // Such a node is not given back: it is down for another reason, too.
  for (const char* other : {"IDLE", "DOWN+DRAIN", "DOWN*+DRAIN", "IDLE+DRAIN+NOT_RESPONDING"})
    EXPECT_FALSE(slurm_nodes_in(slurm_line(other, reason)).at(0).taken) << other;
}

TEST(SlurmNodes, ThatAPersonDrainedAreNotTheGuards) {
  for (const char* reason :
       {"Reason=memory [root@2026-11-29T06:38:01]", "Reason=faultline: [root@2026-11-29T06:38:01]",
        "Reason=see faultline: gpu.off_bus (finding=f1 incident=i1 time=2026-11-29T06:00:00Z)",
        "Reason=faultline: x (finding=../x incident=i1 time=2026-11-29T06:00:00Z)"})
    EXPECT_FALSE(slurm_nodes_in(slurm_line("IDLE+DRAIN", reason)).at(0).taken) << reason;
}

TEST(SlurmNodes, TellWhenTheyBootedAndWhetherTheyHaveGpus) {
  std::string line = slurm_line("IDLE", "BootTime=2026-11-29T05:38:01 SlurmdStartTime=None");
  GuardNode node = slurm_nodes_in(line).at(0);
  EXPECT_EQ(node.booted, *parse_rfc3339("2026-11-29T05:38:01Z"));
  EXPECT_FALSE(node.has_gpus);
  EXPECT_FALSE(slurm_nodes_in(slurm_line("DOWN", "BootTime=None")).at(0).booted);
  line.replace(line.find("(null)", line.find(" Gres=")), 6, "gpu:h200:8(S:0-1)");
  EXPECT_TRUE(slurm_nodes_in(line).at(0).has_gpus);
}

TEST(SlurmNodes, AreAllRead) {
  EXPECT_EQ(slurm_nodes_in(slurm_line("IDLE") + slurm_line("DOWN")).size(), 2U);
  EXPECT_TRUE(
      slurm_nodes_in("slurm_load_node error: Unable to contact slurm controller\n").empty());
}

}  // namespace
}  // namespace faultline
