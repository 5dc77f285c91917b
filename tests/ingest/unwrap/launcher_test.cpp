#include "ingest/unwrap/launcher.h"

#include <gtest/gtest.h>

#include "unwrapping.h"

namespace faultline {
namespace {

const std::string kNccl = "node7:4242:4243 [0] NCCL INFO AllReduce: opCount 1e";
const std::string kWarn =
    "[2025-04-06 22:31:56] node7:4242:4243 [0] init.cc:7 (f) NCCL WARN Cuda failure";

TEST(LauncherPrefixes, AreTakenOffWithWhatTheyKnow) {
  const UnwrapCase cases[] = {
      {"Ray", "(RayTrainWorker pid=615, ip=10.72.7.6) " + kNccl, {.text = kNccl, .pid = 615}},
      {"Ray, local", "(train_fn pid=77) " + kNccl, {.text = kNccl, .pid = 77}},
      {"Ray, unnamed", "(pid=77) " + kNccl, {.text = kNccl, .pid = 77}},
      {"Ray, in colours",
       "\x1b[36m(VllmWorker pid=615)\x1b[0m " + kNccl,
       {.text = kNccl, .pid = 615}},
      {"Ray, de-duplicated",
       "(Worker pid=9) " + kNccl + " [repeated 7x across cluster]",
       {.text = kNccl, .pid = 9, .repeated = 7}},
      {"Ray, de-duplicated in colours, with its advice",
       "\x1b[36m(Worker pid=9)\x1b[0m " + kNccl +
           "\x1b[32m [repeated 7x across cluster] (Ray deduplicates logs by default.)\x1b[0m",
       {.text = kNccl, .pid = 9, .repeated = 7}},
      {"Ray around PyTorch", "(Worker pid=9) [rank3]: boom", {.text = "boom", .rank = 3, .pid = 9}},
      {"an editor's line numbers", "  111  [rank3]: boom", {.text = "boom", .rank = 3}},
      {"an editor's line numbers before Slurm",
       "127  srun: error: gpu-7: task 1: Exited with exit code 1",
       {.text = "srun: error: gpu-7: task 1: Exited with exit code 1"}},
      {"grep's file and number",
       "logs/node7.log:4242:[rank3]: boom",
       {.text = "boom", .host = "node7", .rank = 3}},
      {"grep's file and number before any text of a log",
       "logs/node7.log:4242:boom",
       {.text = "boom", .host = "node7"}},
      {"grep's file that is called by a rank",
       "out/rank_7.log:[rank3]: boom",
       {.text = "boom", .rank = 3}},
      {"grep's file that is called by a rank, before any text",
       "out/rank_7.log:4242:boom",
       {.text = "boom", .rank = 7}},
      {"grep's file", "job-12.out:[rank3]: boom", {.text = "boom", .rank = 3}},
      {"grep's file, from the root",
       "/var/log/kern.log:Mar 05 02:47:11 gpu-7 kernel: msg",
       {.text = "msg", .host = "gpu-7", .wall = "~2026-03-05T02:47:11Z+1000000"}},
      {"grep's number", "4242:[rank3]: boom", {.text = "boom", .rank = 3}},
      {"a place in a source is no file of grep's",
       "train.py:12: UserWarning: slow",
       {.text = "train.py:12: UserWarning: slow"}},
      {"an address is no file of grep's",
       "10.0.0.7:29500: refused",
       {.text = "10.0.0.7:29500: refused"}},
      {"Open MPI, a line written in pieces",
       "[1,5]<stderr>:boo[1,5]<stderr>:m[1,5]<stderr>:",
       {.text = "boom", .rank = 5}},
      {"horovodrun", "[5]<stderr>:boom", {.text = "boom", .rank = 5}},
      {"a table's number is no host",
       "  89 | 08/31/2026 | 06:20:30 | IERR",
       {.text = "  89 | 08/31/2026 | 06:20:30 | IERR"}},
      {"a column of numbers", "111  4096 2.5", {.text = "111  4096 2.5"}},
      {"PyTorch exception", "[rank3]: Traceback", {.text = "Traceback", .rank = 3}},
      {"PyTorch log",
       "[rank12]:[E816 01:45:40.183 ProcessGroupNCCL.cpp:607] x",
       {.text = "x", .rank = 12, .wall = "~2025-08-16T01:45:40Z+1000000"}},
      {"torchrun: a local rank is no rank", "[default3]:" + kNccl, {.text = kNccl}},
      {"torchrun with a role", "[trainer3]:" + kNccl, {.text = kNccl}},
      {"torchrun around PyTorch", "[default3]:[rank11]: x", {.text = "x", .rank = 11}},
      {"vLLM: the place in an engine",
       "(Worker_TP11 pid=113) x",
       {.text = "x", .rank = 11, .pid = 113}},
      {"vLLM with experts", "(Worker_TP3_EP3 pid=113) x", {.text = "x", .rank = 3, .pid = 113}},
      {"vLLM of before", "(VllmWorker rank=5 pid=113) x", {.text = "x", .rank = 5, .pid = 113}},
      {"vLLM: the stage is no rank", "(Worker_PP1_TP3 pid=113) x", {.text = "x", .pid = 113}},
      {"vLLM: an engine of several", "(Worker_DP1_TP3 pid=113) x", {.text = "x", .pid = 113}},
      {"vLLM around a frame of its logger",
       "(Worker_TP1 pid=113) ERROR 03-05 02:47:11 [core.py:708]   File \"a.py\", line 3, in f",
       {.text = "  File \"a.py\", line 3, in f",
        .rank = 1,
        .pid = 113,
        .wall = "~2026-03-05T02:47:11Z+1000000"}},
      {"vLLM's logger of before",
       "INFO 03-05 02:47:11 engine.py:244] x",
       {.text = "x", .wall = "~2026-03-05T02:47:11Z+1000000"}},
      {"vLLM's logger, a file in a folder, nothing behind it",
       "ERROR 03-05 02:47:11 [v1/engine/core.py:708]",
       {.text = "", .wall = "~2026-03-05T02:47:11Z+1000000"}},
      {"a date that is none",
       "ERROR 13-05 02:47:11 [core.py:708] x",
       {.text = "ERROR 13-05 02:47:11 [core.py:708] x"}},
      {"SGLang: the place in an engine",
       "[2026-03-05 02:47:11 DP1 TP13 EP13] x",
       {.text = "x", .rank = 13, .wall = "~2026-03-05T02:47:11Z+1000000"}},
      {"SGLang: the stage is no rank",
       "[2026-03-05 02:47:11 PP1 TP3] x",
       {.text = "x", .wall = "~2026-03-05T02:47:11Z+1000000"}},
      {"srun", "3: " + kNccl, {.text = kNccl, .rank = 3}},
      {"srun, zeros", "03: " + kNccl, {.text = kNccl, .rank = 3}},
      {"srun, padded", " 3: " + kNccl, {.text = kNccl, .rank = 3}},
      {"srun, one task a node: its label counts nodes", "3: [default2]:" + kNccl, {.text = kNccl}},
      {"srun around PyTorch", "3: [rank25]: x", {.text = "x", .rank = 25}},
      {"srun, NCCL's empty line", "3: ", {.text = "", .rank = 3}},
      {"Open MPI", "[1,5]<stdout>:" + kNccl, {.text = kNccl, .rank = 5}},
      {"Open MPI, errors", "[1,15]<stderr>:" + kNccl, {.text = kNccl, .rank = 15}},
      {"HPE Cray's MPICH",
       "MPICH ERROR [Rank 5] [job id 99.0] [Thu Mar  5 02:47:11 2026] [node7] - Abort(7)",
       {.text = "Abort(7)", .host = "node7", .rank = 5, .wall = "~2026-03-05T02:47:11Z+1000000"}},
      {"Open MPI 5", "[prterun-node7-99@1,5]<stdout>:" + kNccl, {.text = kNccl, .rank = 5}},
      {"Open MPI, the program's own list", "[1,0]<stderr>:0: [x]", {.text = "0: [x]", .rank = 0}},
      {"Open MPI with a time",
       "Mon Jan 13 10:11:12 2020[1,5]<stdout>:" + kNccl,
       {.text = kNccl, .rank = 5, .wall = "~2020-01-13T10:11:12Z+1000000"}},
      {"Open MPI with a time and a blank",
       "Mon Jan 13 10:11:12 2020 [1,5]<stderr>:" + kNccl,
       {.text = kNccl, .rank = 5, .wall = "~2020-01-13T10:11:12Z+1000000"}},
      {"Open MPI with a time alone",
       "Mon Jan 13 10:11:12 2020<stdout>:" + kNccl,
       {.text = kNccl, .wall = "~2020-01-13T10:11:12Z+1000000"}},
      {"Hydra", "[3] " + kNccl, {.text = kNccl, .rank = 3}},
      {"Hydra around a warning", "[3] " + kWarn, {.text = kWarn, .rank = 3}},
      {"Hydra around the version",
       "[0] NCCL version 2.21.5+cuda12.4",
       {.text = "NCCL version 2.21.5+cuda12.4", .rank = 0}},
      {"pdsh", "worker-0: " + kNccl, {.text = kNccl, .host = "worker-0"}},
      {"pdsh around a warning", "worker-0: " + kWarn, {.text = kWarn, .host = "worker-0"}},
      {"MPIJob",
       "rdma-test-gpu-worker-1: " + kNccl,
       {.text = kNccl, .host = "rdma-test-gpu-worker-1"}},
      {"pdsh, NCCL's empty line", "worker-0: ", {.text = "", .host = "worker-0"}},
      {"pdsh around dmesg",
       "node7: [ 8423.118204] NVRM: x",
       {.text = "NVRM: x", .host = "node7", .uptime_us = 8423118204}},
      {"a level is no host", "ERROR: " + kNccl, {.text = "ERROR: " + kNccl}},
      {"docker-compose", "trainer-1  | " + kNccl, {.text = kNccl, .host = "trainer-1"}},
      {"docker-compose, any text", "trainer-1  | hello", {.text = "hello", .host = "trainer-1"}},
      {"kubectl --prefix", "[pod/llama-7/main] " + kNccl, {.text = kNccl, .host = "llama-7"}},
      {"kubectl --prefix --timestamps",
       "[pod/llama-7/main] 2024-05-01T12:34:56.789012345Z " + kNccl,
       {.text = kNccl, .host = "llama-7", .wall = "2024-05-01T12:34:56.789012Z"}},
      {"kubectl --timestamps",
       "2024-05-01T12:34:56.789Z " + kNccl,
       {.text = kNccl, .wall = "2024-05-01T12:34:56.789Z+1000"}},
      {"a stamp without a zone",
       "2024-05-01 12:34:56 " + kNccl,
       {.text = kNccl, .wall = "~2024-05-01T12:34:56Z+1000000"}},
      {"by hand", "RANK3: " + kNccl, {.text = kNccl, .rank = 3}},
      {"by hand: a node is no rank", "Node 0: " + kNccl, {.text = kNccl}},
      {"quoted", "> " + kNccl, {.text = kNccl}},
      {"quoted twice", "> > " + kWarn, {.text = kWarn}},
      {"indented", "    " + kNccl, {.text = kNccl}},
      {"indented and labelled", "\t[rank3]: x", {.text = "x", .rank = 3}},
  };
  for (const UnwrapCase& c : cases) {
    SCOPED_TRACE(c.why);
    EXPECT_EQ(unwrap_one(c.line), c.expected);
  }
}

TEST(LauncherPrefixes, LeaveNcclsOwnPrefixAlone) {
  for (const std::string& line : {
           kNccl,
           kWarn,
           std::string("NCCL version 2.21.5+cuda12.4"),
           std::string("NCCL INFO Channel 00"),
           std::string("[0] NCCL INFO AllReduce: opCount 1e"),
           std::string("[3] include/shm.h:28 NCCL WARN Call to open failed"),
           std::string("[3] 1558545003174220 NCCL INFO x"),
           std::string("init.cc:7 NCCL WARN x"),
           std::string("node7:4242:4243 NCCL CALL ncclGroupStart()"),
           std::string("3d3e22c3066f:168:168 [0] misc/shmutils.cc:72 NCCL WARN Error"),
           std::string("[2026-05-05 06:16:47.123] node7:4242:4243 [0] NCCL INFO x"),
           std::string("[2026-05-05 06:16:47] NCCL version 2.27.5+cuda12.9"),
       }) {
    EXPECT_EQ(unwrap_one(line), Told{.text = line});
  }
}

const std::string kReport = "CA 'mlx5_0'";

TEST(HostLabels, AreKnownFromTheFirstReportBehindThemOn) {
  const std::vector<Told> told = unwrap_all(
      {"gpu-7: before", "gpu-7: " + kReport, "gpu-7: after", "gpu-8: another host", "gpu-7: "});
  EXPECT_EQ(told, (std::vector<Told>{{.text = "gpu-7: before"},
                                     {.text = kReport, .host = "gpu-7"},
                                     {.text = "after", .host = "gpu-7"},
                                     {.text = "gpu-8: another host"},
                                     {.text = "", .host = "gpu-7"}}));
}

TEST(HostLabels, OfContainersNeedNoNumber) {
  const std::vector<Told> told =
      unwrap_all({"trainer   | before", "trainer   | Traceback (most recent call last):",
                  "trainer   |   File \"train.py\", line 7", "trainer   | "});
  EXPECT_EQ(told,
            (std::vector<Told>{{.text = "trainer   | before"},
                               {.text = "Traceback (most recent call last):", .host = "trainer"},
                               {.text = "  File \"train.py\", line 7", .host = "trainer"},
                               {.text = "", .host = "trainer"}}));
}

TEST(HostLabels, MayBeAddressesAndNoOtherNumbers) {
  EXPECT_EQ(unwrap_all({"192.168.3.100: " + kReport, "192.168.3.100: after"}).back(),
            (Told{.text = "after", .host = "192.168.3.100"}));
  for (const std::string label : {"1.5: ", "192.168.3: ", "2026.03.05.1000: "}) {
    SCOPED_TRACE(label);
    EXPECT_EQ(unwrap_all({label + kReport, label + "after"}).back().text, label + "after");
  }
}

TEST(HostLabels, ThatNameARankNameNoHost) {
  EXPECT_EQ(unwrap_all({"rank-7: " + kReport, "rank-7: after"}).back(),
            (Told{.text = "after", .rank = 7}));
}

TEST(HostLabels, MayStandBeforeOtherLayers) {
  for (const char* layers : {"31: [rank31]: ", "> ", "[1,31]<stderr>:", "(Worker pid=4711) ",
                             "2026 Mar  5 02:47:11.5 switch-3 NOTICE x: "}) {
    SCOPED_TRACE(layers);
    EXPECT_EQ(unwrap_all({"gpu-7: " + (layers + kReport), "gpu-7: after"}).back(),
              (Told{.text = "after", .host = "gpu-7"}));
  }
}

TEST(HostLabels, AreNoDevicesAndNoWordsOfPrograms) {
  for (const std::string label : {"mlx5_0: ", "eth0: ", "ens1f0np0: ", "host: ", "gpu 7: "}) {
    SCOPED_TRACE(label);
    EXPECT_NE(unwrap_all({label + kReport, label + "after"}).back().text, "after");
  }
}

TEST(LauncherPrefixes, LeaveAloneWhatOnlyResemblesThem) {
  for (const char* line : {
           "(a remark) and more",
           "(pid=)",
           "(worker pid=12",
           "(",
           "[1,5]",
           "[1,5]<std",
           "[rank]: x",
           "[rank3",
           "[80746] a shipper's number",
           "[pod/llama-7",
           "3:",
           "3:4",
           "12345678: more ranks than anyone has",
           "Error: ",
           "RuntimeError: CUDA error",
           "RANK3 is late",
           "Rank 3 is running collective",
           "Node 0 DMA free:8kB",
           "INFO | loaded",
           "|   0  N/A  |",
           ">>> print(1)",
           "    Link 0: 25 GB/s",
           "    at frame",
           "",
           " ",
           "]",
           "}",
           "\"",
       }) {
    EXPECT_EQ(unwrap_one(line), Told{.text = line});
  }
}

}  // namespace
}  // namespace faultline
