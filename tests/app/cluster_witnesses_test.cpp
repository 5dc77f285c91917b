// Reports about a job from outside of it, pasted as operators do: Kubernetes, the DCGM exporter, an
// excerpt of nvidia-smi, the fabric manager.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "pasted.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// --- Kubernetes

std::string described_pod(const std::string& last_state, int code) {
  return fmt::format(
      "Name:             moe-worker-5\n"
      "Namespace:        research\n"
      "Node:             h100-12/10.12.0.12\n"
      "Start Time:       Tue, 03 Mar 2026 22:10:41 +0000\n"
      "Labels:           app=moe\n"
      "                  tier=train\n"
      "Status:           Running\n"
      "Containers:\n"
      "  main:\n"
      "    Image:          registry.local/train:7\n"
      "    Command:\n"
      "      torchrun\n"
      "      --nnodes=16\n"
      "    State:          Running\n"
      "      Started:      Wed, 04 Mar 2026 01:00:03 +0000\n"
      "    Last State:     Terminated\n"
      "      Reason:       {}\n"
      "      Exit Code:    {}\n"
      "    Ready:          True\n"
      "    Restart Count:  1\n"
      "Conditions:\n"
      "  Type              Status\n"
      "  Ready             True\n"
      "Events:\n"
      "  Type    Reason   Age                From     Message\n"
      "  ----    ------   ----               ----     -------\n"
      "  Normal  Pulled   2m (x2 over 170m)  kubelet  Container image \"t:7\" already present\n"
      "  Normal  Started  2m (x2 over 170m)  kubelet  Started container main\n",
      last_state, code);
}

TEST(Kubernetes, PodThatWasKilledForMemoryIsNamedWithItsNode) {
  const Diagnosis diagnosis = pasted(described_pod("OOMKilled", 137));
  EXPECT_EQ(diagnosis.verdict, Verdict::failed);
  EXPECT_EQ(cause_of(diagnosis), "host.oom_killed");
  EXPECT_THAT(hosts_of(diagnosis), ElementsAre("h100-12"));
  EXPECT_THAT(title_of(diagnosis), HasSubstr("moe-worker-5"));
  EXPECT_THAT(diagnosis.root_causes.front().evidence.front().text, HasSubstr("OOMKilled"));
}

TEST(Kubernetes, PodThatEndedWellIsNoFault) {
  EXPECT_THAT(pasted(described_pod("Completed", 0)).root_causes, IsEmpty());
}

TEST(Kubernetes, PodThatWasKilledForAReasonThatIsNotToldDidNotCrash) {
  EXPECT_EQ(cause_of(pasted(described_pod("Error", 137))), "process.aborted");
  EXPECT_EQ(cause_of(pasted(described_pod("Error", 143))), "process.aborted");
  EXPECT_EQ(cause_of(pasted(described_pod("Error", 1))), "software.rank_crashed");
}

TEST(Kubernetes, AnswersStayWhateverBecameOfTheText) {
  expect_the_same_of_mutations(described_pod("OOMKilled", 137));
}

std::string events(const std::string& rows) {
  return "Events:\n"
         "  Type     Reason            Age                 From               Message\n"
         "  ----     ------            ----                ----               -------\n" +
         rows;
}

const std::string kNotScheduled =
    "  Warning  FailedScheduling  7m (x4 over 21m)    default-scheduler  0/40 nodes are available: "
    "40 Insufficient nvidia.com/gpu.\n";
const std::string kScheduled =
    "  Normal   Scheduled         6m12s               default-scheduler  Successfully assigned "
    "research/moe-worker-5 to h100-12\n";

TEST(Kubernetes, PodWithoutANodeIsARankThatIsMissing) {
  const Diagnosis diagnosis = pasted(events(kNotScheduled));
  EXPECT_EQ(cause_of(diagnosis), "launch.rank_missing");
  EXPECT_THAT(title_of(diagnosis), HasSubstr("40 Insufficient nvidia.com/gpu"));
}

TEST(Kubernetes, WhatWasScheduledAfterwardsIsOverInWhicheverOrderItStands) {
  EXPECT_THAT(pasted(events(kNotScheduled + kScheduled)).root_causes, IsEmpty());
  EXPECT_THAT(pasted(events(kScheduled + kNotScheduled)).root_causes, IsEmpty());
}

TEST(Kubernetes, EventsAreReadInOrderOfTheirAge) {
  const std::string head = "LAST SEEN   TYPE      REASON             OBJECT             MESSAGE\n";
  const std::string failed =
      "3m          Warning   FailedScheduling   pod/moe-worker-5   0/40 nodes are available: 40 "
      "node(s) had untolerated taint {gpu: broken}.\n";
  const std::string scheduled =
      "9m          Normal    Scheduled          pod/moe-worker-5   Successfully assigned "
      "research/moe-worker-5 to h100-12\n";
  EXPECT_EQ(cause_of(pasted(head + failed + scheduled)), "launch.rank_missing");
  EXPECT_EQ(cause_of(pasted(head + scheduled + failed)), "launch.rank_missing");
}

TEST(Kubernetes, SeveralPodsThatLackTheSameAreOneFinding) {
  std::string text =
      "NAME           READY   STATUS             RESTARTS      AGE   IP           NODE\n"
      "moe-worker-0   1/1     Running            0             95m   10.2.1.4     h100-1\n";
  for (int i = 1; i < 7; ++i)
    text += fmt::format(
        "moe-worker-{}   0/1     ImagePullBackOff   0             95m   10.2.1.{}     h100-{}\n", i,
        i + 4, i + 1);
  const Diagnosis diagnosis = pasted(text);
  ASSERT_EQ(diagnosis.root_causes.size(), 1U);
  EXPECT_EQ(cause_of(diagnosis), "launch.rank_missing");
  EXPECT_THAT(title_of(diagnosis), HasSubstr("moe-worker-4 and 2 more"));
}

TEST(Kubernetes, RestartsStandBesideTheirAge) {
  const Diagnosis diagnosis = pasted(
      "NAME           READY   STATUS      RESTARTS      AGE   IP         NODE\n"
      "moe-worker-0   1/1     Running     2 (41m ago)   95m   10.2.1.4   h100-1\n"
      "moe-worker-1   0/1     OOMKilled   1 (3m ago)    95m   10.2.1.5   h100-2\n");
  EXPECT_EQ(cause_of(diagnosis), "host.oom_killed");
  EXPECT_THAT(hosts_of(diagnosis), ElementsAre("h100-2"));
}

std::string described_node(const std::string& ready, const std::string& reason,
                           const std::string& message) {
  const std::string stamps = "Wed, 04 Mar 2026 01:44:01 +0000   Wed, 04 Mar 2026 01:47:10 +0000   ";
  return "Name:               h100-12\nRoles:              worker\nConditions:\n"
         "  Type             Status   LastHeartbeatTime                 LastTransitionTime         "
         "       Reason                       Message\n"
         "  DiskPressure     False    " +
         stamps +
         "KubeletHasNoDiskPressure     kubelet has no disk pressure\n"
         "  Ready            " +
         ready + "   " + stamps + reason + "   " + message + "\n";
}

TEST(Kubernetes, NodeWhoseKubeletFellSilentMayBeDown) {
  const Diagnosis diagnosis = pasted(
      described_node("Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status."));
  EXPECT_EQ(cause_of(diagnosis), "host.down");
  EXPECT_THAT(hosts_of(diagnosis), ElementsAre("h100-12"));
  EXPECT_LT(confidence_of(diagnosis), 0.8);
}

TEST(Kubernetes, NodeThatWentAwayUnderAPodIsSurerThanAnyOther) {
  const std::string head = "LAST SEEN   TYPE     REASON         OBJECT             MESSAGE\n";
  const std::string gone =
      "4m10s       Normal   NodeNotReady   node/h100-12       Node h100-12 status is now: "
      "NodeNotReady\n";
  const std::string ran =
      "95m         Normal   Scheduled      pod/moe-worker-5   Successfully assigned "
      "research/moe-worker-5 to h100-12\n";
  const Diagnosis alone = pasted(head + gone);
  const Diagnosis beneath = pasted(head + ran + gone);
  EXPECT_EQ(cause_of(alone), "host.down");
  EXPECT_EQ(cause_of(beneath), "host.down");
  EXPECT_GT(confidence_of(beneath), confidence_of(alone));
}

TEST(Kubernetes, EventsOfAProblemDetectorAreOfANodeThoughNoLineNamesIt) {
  const std::string events =
      "Events:\n"
      "  Type     Reason    Age    From            Message\n"
      "  ----     ------    ----   ----            -------\n"
      "  Warning  TaskHung  5m21s  kernel-monitor  INFO: task dockerd:6500 blocked for more than "
      "121 seconds.\n";
  const Diagnosis unnamed = pasted(events);
  EXPECT_EQ(cause_of(unnamed), "host.cpu_hang");
  EXPECT_THAT(hosts_of(unnamed), testing::IsEmpty());
  EXPECT_THAT(hosts_of(pasted("Name:               gpu-node-7\n" + events)),
              ElementsAre("gpu-node-7"));
}

TEST(Kubernetes, NodesAreReadWithoutTheirRoles) {
  const Diagnosis diagnosis = pasted(
      "NAME        STATUS     AGE       VERSION\n"
      "h100-12     NotReady   10d       v1.7.2\n"
      "h100-13     Ready      10d       v1.7.2\n");
  EXPECT_EQ(cause_of(diagnosis), "host.down");
  EXPECT_THAT(hosts_of(diagnosis), ElementsAre("h100-12"));
}

TEST(Kubernetes, NodeThatIsReadyIsNoFault) {
  EXPECT_THAT(
      pasted(described_node("True", "KubeletReady", "kubelet is posting ready status")).root_causes,
      IsEmpty());
}

TEST(Kubernetes, StatusOfAProcessIsNoPod) {
  EXPECT_THAT(pasted("Name:\tpython\nState:\tD (disk sleep)\nPid:\t4821\n").summary,
              Not(HasSubstr("kubectl")));
}

TEST(Kubernetes, TracebackBelowADescriptionIsStillRead) {
  const Diagnosis diagnosis = pasted(
      described_pod("Completed", 0) +
      "Traceback (most recent call last):\n"
      "  File \"/app/train.py\", line 81, in <module>\n"
      "    main()\n"
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total "
      "capacity of 79.11 GiB of which 1.2 GiB is free.\n");
  EXPECT_EQ(cause_of(diagnosis), "software.cuda_oom");
}

// --- The DCGM exporter

std::string exported(int xid, int remap_failure) {
  const auto row = [](const char* metric, int gpu, int value) {
    return fmt::format(
        "{}{{gpu=\"{}\",UUID=\"GPU-9b1f00{}-11aa-22bb-33cc-44dd55ee66f{}\",pci_bus_id=\"00000000:{}"
        "A:00.0\",device=\"nvidia{}\",modelName=\"NVIDIA H100 80GB HBM3\",Hostname=\"h100-12\","
        "DCGM_FI_DRIVER_VERSION=\"550.54.15\"}} {}\n",
        metric, gpu, gpu, gpu, gpu + 1, gpu, value);
  };
  std::string text =
      "# HELP DCGM_FI_DEV_XID_ERRORS Value of the last XID error encountered.\n"
      "# TYPE DCGM_FI_DEV_XID_ERRORS gauge\n";
  for (int gpu = 0; gpu < 8; ++gpu) text += row("DCGM_FI_DEV_XID_ERRORS", gpu, gpu == 5 ? xid : 0);
  text += "# HELP DCGM_FI_DEV_ROW_REMAP_FAILURE Whether remapping of rows has failed\n";
  for (int gpu = 0; gpu < 8; ++gpu)
    text += row("DCGM_FI_DEV_ROW_REMAP_FAILURE", gpu, gpu == 2 ? remap_failure : 0);
  text += "# HELP DCGM_FI_DEV_FB_FREE Frame buffer memory free (in MB).\n";
  for (int gpu = 0; gpu < 8; ++gpu) text += row("DCGM_FI_DEV_FB_FREE", gpu, 40000);
  return text;
}

TEST(DcgmExporter, LastXidNamesItsGpuAndIsNotSureForItHasNoDate) {
  const Diagnosis diagnosis = pasted(exported(79, 0));
  EXPECT_EQ(cause_of(diagnosis), "gpu.off_bus");
  EXPECT_THAT(diagnosis.root_causes.front().subject.gpus, ElementsAre(HasSubstr("0000:6a:00.0")));
  EXPECT_THAT(hosts_of(diagnosis), ElementsAre("h100-12"));
  EXPECT_LT(confidence_of(diagnosis), 0.8);
  EXPECT_THAT(diagnosis.root_causes.front().evidence.front().text, HasSubstr("} 79"));
}

TEST(DcgmExporter, ProgramsOwnXidAccusesNoGpu) {
  EXPECT_THAT(pasted(exported(31, 0)).root_causes, IsEmpty());
}

TEST(DcgmExporter, FailedRemappingIsSaidOfItsGpu) {
  const Diagnosis diagnosis = pasted(exported(0, 1));
  EXPECT_EQ(cause_of(diagnosis), "gpu.row_remap");
  EXPECT_THAT(diagnosis.root_causes.front().subject.gpus, ElementsAre(HasSubstr("0000:3a:00.0")));
}

TEST(DcgmExporter, QuietScrapeIsNoHealth) {
  const Diagnosis diagnosis = pasted(exported(0, 0));
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
  EXPECT_EQ(diagnosis.verdict, Verdict::unknown);
}

TEST(DcgmExporter, AnswersStayWhateverBecameOfTheText) {
  expect_the_same_of_mutations(exported(0, 1).substr(0, 4000) + exported(0, 1).substr(4000));
}

// --- Health agents that quote an Xid

TEST(HealthAgent, XidNamesItsGpuByAddressOrUuid) {
  const struct {
    const char* line;
    const char* cause;
    const char* gpu;
  } cases[] = {
      {"XID 79(GPU has fallen off the bus) detected on PCI:0000:9a:00", "gpu.off_bus",
       "0000:9a:00.0"},
      {"XID 149.4 (err status 0x00000001) NVLINK_NETIR_ERROR NVLINK: NETIR Error detected on GPU "
       "PCI:0009:01:00",
       "gpu.nvlink_error", "0009:01:00.0"},
      {"I0304 01:47:10.103482       1 health.go:159] XidCriticalError: Xid=48 on "
       "Device=GPU-9b1f00d5-11aa-22bb-33cc-44dd55ee66f5; marking device as unhealthy.",
       "gpu.ecc_uncorrectable", "GPU-9b1f00d5"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.line);
    const Diagnosis diagnosis = pasted(std::string(c.line) + "\n");
    EXPECT_EQ(cause_of(diagnosis), c.cause);
    EXPECT_LT(confidence_of(diagnosis), 0.8);
    ASSERT_FALSE(diagnosis.root_causes.empty());
    EXPECT_THAT(diagnosis.root_causes.front().subject.gpus, ElementsAre(HasSubstr(c.gpu)));
  }
}

TEST(HealthAgent, EventOnOneLineNamesItsNodeAndIsNoFaultOnceItIsHealthy) {
  const auto event = [](bool healthy) {
    return fmt::format(
        "{{\"version\":1,\"agent\":\"syslog-health-monitor\",\"componentClass\":\"GPU\","
        "\"checkName\":"
        "\"SysLogsXIDError\",\"isFatal\":true,\"isHealthy\":{},\"message\":\"XID 119\","
        "\"errorCode\":[\"119\"],\"entitiesImpacted\":[{{\"entityType\":\"PCI\",\"entityValue\":"
        "\"0000:9a:00\"}}],\"nodeName\":\"h100-12\"}}\n",
        healthy);
  };
  const Diagnosis diagnosis = pasted(event(false));
  EXPECT_EQ(cause_of(diagnosis), "gpu.gsp_timeout");
  EXPECT_THAT(hosts_of(diagnosis), ElementsAre("h100-12"));
  EXPECT_THAT(pasted(event(true)).root_causes, IsEmpty());
}

TEST(HealthAgent, EventThatAnotherProgramLogsIsReadAndItsXidMayStandInItsMessage) {
  const Diagnosis diagnosis = pasted(
      R"({"time":"2026-03-06T09:34:56.504Z","level":"INFO","msg":"Handling event","event":)"
      R"({"CreatedAt":"2026-03-06T09:34:56.45Z","HealthEvent":{"agent":"gpu-health-monitor",)"
      R"("checkName":"GpuXidError","isFatal":true,"message":"GPU has fallen off the bus (XID 79).",)"
      R"("errorCode":["DCGM_FR_FALLEN_OFF_BUS"],"entitiesImpacted":[{"entityType":"GPU",)"
      R"("entityValue":"3"}],"nodeName":"h100-12"}}})"
      "\n");
  EXPECT_EQ(cause_of(diagnosis), "gpu.off_bus");
  EXPECT_THAT(hosts_of(diagnosis), ElementsAre("h100-12"));
}

TEST(HealthAgent, XidOfAProgramIsSaidOfTheProgramAndIsNotSure) {
  const Diagnosis diagnosis = pasted("XID 31 (MMU fault) detected on PCI:0000:9a:00\n");
  EXPECT_EQ(cause_of(diagnosis), "software.gpu_memory_fault");
  EXPECT_THAT(title_of(diagnosis), HasSubstr("A program did something invalid"));
  EXPECT_LT(confidence_of(diagnosis), 0.5);
}

// --- dcgmi

TEST(DcgmiNvlink, GpuWithoutAnyLinkIsOneFindingAndGivesNvidiaSmiItsIndex) {
  const auto links = [](const std::string& third) {
    return "+----------------------+\n|  NvLink Link Status  |\n+----------------------+\nGPUs:\n"
           "    gpuId 3:\n        " +
           third + "\n    gpuId 4:\n        U U U U U U\nNvSwitches:\n    No NvSwitches found.\n";
  };
  const Diagnosis diagnosis = pasted(links("D D D D D D"));
  EXPECT_EQ(cause_of(diagnosis), "gpu.nvlink_error");
  EXPECT_EQ(diagnosis.root_causes.size(), 1U);
  EXPECT_THAT(title_of(diagnosis), HasSubstr("All NVLinks of GPU 3"));
  EXPECT_THAT(diagnosis.root_causes.front().actions.front().command, HasSubstr("-i 3"));
  EXPECT_THAT(pasted(links("U U U U U U")).root_causes, IsEmpty());
  EXPECT_THAT(pasted(links("_ _ _ _ _ _")).root_causes, IsEmpty());
}

// --- Older wordings of JAX

TEST(Jax, TheCheckByWhichItEndsItselfSaysLessThanWhyItDoes) {
  const std::string check =
      "\n*** Check failure stack trace: ***\n"
      "    @     0x7fec1f50d7d4  absl::lts_20260526::log_internal::LogMessage::SendToLog()\n";
  const std::string refused =
      "F0305 02:47:17.668489    2506 client.h:86] Terminating process because the JAX distributed "
      "service detected fatal errors. This most likely indicates that another task died\n"
      "\n"
      "RPC: /xla.coordination.CoordinationService/RegisterTask\n";
  EXPECT_EQ(cause_of(pasted(refused + check)), "launch.connect_failed");
  EXPECT_EQ(cause_of(pasted(check)), "software.rank_crashed");
  std::string steps;
  for (int step = 0; step < 20; ++step) steps += fmt::format("step {} loss 2.31\n", step);
  EXPECT_EQ(cause_of(pasted(refused + steps + check)), "software.rank_crashed");
}

TEST(Jax, TasksThatDidNotComeAreReadInTheOldWordsToo) {
  const Diagnosis diagnosis = pasted(
      "XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Barrier_id: sync_hosts4. Timed out "
      "task names:\n/job:jax_worker/replica:0/task:6\n/job:jax_worker/replica:0/task:1\n\n"
      "Additional GRPC error information from remote target unknown:\n");
  EXPECT_EQ(cause_of(diagnosis), "collective.rank_behind");
  ASSERT_FALSE(diagnosis.root_causes.empty());
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(1, 6));
}

// --- UCX

TEST(Ucx, ConnectionThatGetsNoAnswerAccusesNeitherEnd) {
  const Diagnosis diagnosis = pasted(
      "[h100-12:71220:0:71220] ib_mlx5_log.c:177  Transport retry count exceeded on mlx5_3:1/IB "
      "(synd 0x15 vend 0x81 hw_synd 0/0)\n[h100-12:71220:0:71220] ib_mlx5_log.c:177  DCI QP 0xd16 "
      "wqe[6168]: SEND s-e [rqpn 0x17de rlid 41] [va 0x7f9f745cea80 len 5770 lkey 0x15de4]\n");
  EXPECT_EQ(cause_of(diagnosis), "network.transport_error");
  EXPECT_THAT(title_of(diagnosis), HasSubstr("UCX on h100-12"));
  EXPECT_THAT(hosts_of(diagnosis), IsEmpty());
  EXPECT_LT(confidence_of(diagnosis), 0.8);
}

// --- A section of nvidia-smi -q

std::string remapped(const std::string& pending) {
  return "    Remapped Rows\n"
         "        Correctable Error                 : 0\n"
         "        Uncorrectable Error               : 2\n"
         "        Pending                           : " +
         pending +
         "\n"
         "        Remapping Failure Occurred        : No\n";
}

TEST(NvidiaSmiSection, TellsOfAGpuThatNoLineNames) {
  const Diagnosis diagnosis = pasted(remapped("Yes"));
  EXPECT_EQ(cause_of(diagnosis), "gpu.row_remap");
  EXPECT_THAT(diagnosis.root_causes.front().subject.gpus, IsEmpty());
  EXPECT_THAT(title_of(diagnosis), HasSubstr("A GPU on a host that no line names"));
}

TEST(NvidiaSmiSection, QuietOneIsNoFault) {
  EXPECT_THAT(pasted(remapped("No")).root_causes, IsEmpty());
}

// --- UFM

std::string ufm(const std::string& what, const std::string& code, const std::string& level) {
  return "2026-03-04 01:47:11.103 [901] [" + code + "] " + level +
         " [Link] [default / Switch: leaf-3 / 17]: Link went " + what +
         ": (Switch:leaf-3:17)b0cf0e0300aa0010:17 - (Computer:h100-12 mlx5_3:1)946dae0300d2b1c4:1, "
         "cable S/N: MT2245VS01234\n";
}

TEST(Ufm, LinkThatWentDownNamesBothItsEnds) {
  const Diagnosis diagnosis = pasted(ufm("down", "329", "CRITICAL"));
  EXPECT_EQ(cause_of(diagnosis), "network.link_down");
  EXPECT_THAT(title_of(diagnosis), HasSubstr("h100-12"));
  EXPECT_THAT(title_of(diagnosis), HasSubstr("leaf-3"));
  EXPECT_LT(confidence_of(diagnosis), 0.8);
}

TEST(Ufm, LinkThatCameUpAgainIsOver) {
  EXPECT_THAT(pasted(ufm("down", "329", "CRITICAL") + ufm("up", "328", "INFO")).root_causes,
              IsEmpty());
}

}  // namespace
}  // namespace faultline
