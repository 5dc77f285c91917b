// Text of NCCL and PyTorch as people post it: without the prefixes of the lines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/cause.h"
#include "pasted.h"
#include "simulated_diagnosis.h"
#include "workshop.h"

namespace faultline {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

Diagnosis posted(const std::string& text) {
  Workshop workshop;
  workshop.write("job/posted.txt", text);
  return diagnosis_of(workshop.folder() / "job");
}

std::vector<std::string> said(const std::vector<Finding>& findings) {
  std::vector<std::string> all;
  for (const Finding& finding : findings)
    all.push_back(std::string(name_of(finding.cause)) + " " + finding.title);
  return all;
}

const Finding& first_cause(const Diagnosis& diagnosis) {
  static const Finding kNone;
  return diagnosis.root_causes.empty() ? kNone : diagnosis.root_causes.front();
}

struct Row {
  const char* why;
  std::string text;
  const char* cause;  // the beginning of its class and title
};

TEST(Posted, AWarningWithoutItsFrameMeansWhatItMeansWithOne) {
  const Row rows[] = {
      {"of RDMA",
       "NET/IB : Got completion from peer 10.61.2.14<50112> with status=12 opcode=0 len=0 vendor "
       "err "
       "129 (Send) localGid ::ffff:10.62.0.3 remoteGids::ffff:10.62.0.14 hca mlx5_7\n",
       "network.transport_error The other end stopped answering"},
      {"with its place",
       "misc/socket.cc:521 socketStartConnect: Connect to 10.61.2.14<41877> failed "
       ": No route to host\n",
       "launch.connect_failed A host that no line names could not connect to 10.61.2.14"},
      {"that names no peer", "Call to connect returned Connection refused\n",
       "launch.connect_failed A host that no line names could not connect to a peer"},
      {"of a function", "bootstrapNetInit:88 Bootstrap : no socket interface found\n",
       "launch.connect_failed NCCL finds no network interface"},
      {"of a plug-in", "NET/OFI Request 0x7e11 completed with error. RC: 103. Error: timed out\n",
       "network.transport_error A request of the network plug-in failed"},
      {"of CUDA", "Cuda failure 716 'misaligned address'\n",
       "software.gpu_memory_fault The program's own kernel failed"},
      {"of CUDA, as people spell it", "CUDA failure 'out of memory'\n", "software.cuda_oom A rank"},
      {"in a quotation of a mail",
       "> NET/IB : Got completion with error 12, opcode 0, len 0, vendor "
       "err 129\n",
       "network.transport_error The other end stopped answering"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.why);
    const Diagnosis diagnosis = posted(row.text);
    EXPECT_THAT(said(diagnosis.root_causes), ElementsAre(StartsWith(row.cause)));
    EXPECT_LT(first_cause(diagnosis).confidence, 0.8);
    EXPECT_THAT(first_cause(diagnosis).subject.ranks, IsEmpty());
  }
}

TEST(Posted, TheLastErrorOfPyTorchsBlockIsReadAlsoWithoutATraceback) {
  const std::string head =
      "torch.distributed.DistBackendError: NCCL error in: "
      "../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1691, unhandled system error (run with "
      "NCCL_DEBUG=INFO for details), NCCL version 2.19.3\n"
      "ncclSystemError: System call (e.g. socket, malloc) or external library call failed or "
      "device "
      "error.\n";
  const std::string quote =
      "Last error:\nsocketStartConnect: Connect to 10.61.2.14<38211> failed : Connection refused\n";
  const std::string label = "[rank6]: ";
  const std::string labelled = label + head.substr(0, head.find('\n') + 1) + label +
                               head.substr(head.find('\n') + 1) + label + "Last error:\n" + label +
                               quote.substr(quote.find('\n') + 1);
  const std::string traceback =
      "Traceback (most recent call last):\n  File \"fit.py\", line 31, in fit\n    "
      "dist.barrier()\n";
  for (const std::string& text : {head + quote, labelled, traceback + head + quote}) {
    SCOPED_TRACE(text);
    const Diagnosis diagnosis = posted(text);
    ASSERT_THAT(said(diagnosis.root_causes), ElementsAre(StartsWith("launch.connect_failed ")));
    EXPECT_THAT(first_cause(diagnosis).title, HasSubstr("10.61.2.14"));
    EXPECT_THAT(said(diagnosis.symptoms), Contains(HasSubstr("ncclSystemError")));
  }
  const Diagnosis unquoted = posted(head);
  EXPECT_THAT(said(unquoted.root_causes), ElementsAre(HasSubstr("ncclSystemError")));
  EXPECT_LT(first_cause(unquoted).confidence, 0.5);
}

TEST(Posted, AClassOfErrorsAloneAccusesNobodyAndSaysWhereToLook) {
  const struct {
    const char* text;
    const char* title;
    const char* command;
  } rows[] = {
      {"NCCL error: ncclSystemError (system error)\n", "A system call failed", "/dev/shm"},
      {"ncclUnhandledCudaError: Call to CUDA function failed.\n", "A CUDA call failed", "dmesg"},
      {"ncclInternalError: Internal check failed.\n", "A check within NCCL failed", "NCCL_DEBUG"},
      {"ncclRemoteError: A call failed possibly due to a network error or a remote process exiting "
       "prematurely.\n",
       "A peer exited", "exitcode"},
      {"RuntimeError: NCCL error: unhandled system error during bootstrap init\n",
       "NCCL could not form its communicator", "NCCL_SOCKET_IFNAME"},
      {"ncclCommInitRank failed: unhandled system error\n", "NCCL could not form its communicator",
       "NCCL_SOCKET_IFNAME"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.text);
    const Diagnosis diagnosis = posted(row.text);
    ASSERT_EQ(diagnosis.root_causes.size(), 1U);
    const Finding& finding = diagnosis.root_causes[0];
    EXPECT_EQ(finding.cause, Cause::nccl_error);
    EXPECT_THAT(finding.title, StartsWith(row.title));
    EXPECT_LT(finding.confidence, 0.5);
    EXPECT_THAT(finding.subject.ranks, IsEmpty());
    std::string commands;
    for (const Action& action : finding.actions) commands += action.command + "\n";
    EXPECT_THAT(commands, HasSubstr(row.command));
  }
  for (const char* text :
       {"NCCL error: ncclInvalidArgument (invalid argument)\n",
        "ncclInvalidUsage: This usually reflects invalid usage of NCCL library.\n"})
    EXPECT_THAT(said(posted(text).root_causes), ElementsAre(StartsWith("software.invalid_usage")));
}

TEST(Posted, WhoLostAPeerPointsAtIt) {
  const Diagnosis diagnosis =
      posted("ncclRemoteError: Error while communicating with remote rank 11\n");
  ASSERT_THAT(said(diagnosis.root_causes), ElementsAre(StartsWith("network.peer_lost Rank 11 ")));
  EXPECT_THAT(first_cause(diagnosis).subject.ranks, ElementsAre(11));
  EXPECT_LT(first_cause(diagnosis).confidence, 0.5);
  const Diagnosis gloo = posted(
      "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by "
      "peer "
      "[10.61.2.14]:20011\n");
  EXPECT_THAT(first_cause(gloo).title, HasSubstr("10.61.2.14"));
  EXPECT_THAT(first_cause(gloo).subject.ranks, IsEmpty());
}

TEST(Posted, WhatTheLauncherSaysOfTheFirstExitStandsBesideThoseWhoLostAPeer) {
  const Diagnosis diagnosis = posted(
      "[rank1]: torch.distributed.DistBackendError: NCCL error in: "
      "../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1691, remote process exited or there "
      "was a "
      "network error, NCCL version 2.19.3\n"
      "============================================================\n"
      "fit.py FAILED\n"
      "------------------------------------------------------------\n"
      "Root Cause (first observed failure):\n"
      "[0]:\n"
      "  time      : 2026-03-05_02:11:40\n"
      "  host      : trn-4.lab\n"
      "  rank      : 3 (local_rank: 3)\n"
      "  exitcode  : 37 (pid: 88121)\n"
      "  error_file: <N/A>\n"
      "  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html\n"
      "============================================================\n");
  std::vector<std::string> all = said(diagnosis.root_causes);
  for (const auto* list : {&diagnosis.symptoms, &diagnosis.observations})
    for (const std::string& one : said(*list)) all.push_back(one);
  EXPECT_THAT(all, Contains(HasSubstr("Rank 3 on trn-4 ended with exit code 37")));
  for (const Finding& finding : diagnosis.root_causes)
    EXPECT_THAT(finding.subject.ranks, testing::Not(Contains(1)));
}

TEST(Posted, ARecorderThatIsOffIsAStepAndNoFault) {
  const Diagnosis diagnosis = posted(
      "[rank6]:[E ProcessGroupNCCL.cpp:744] Stack trace of the failed collective not found, "
      "potentially because FlightRecorder is disabled. You can enable it by setting "
      "TORCH_NCCL_TRACE_BUFFER_SIZE to a non-zero value.\n");
  ASSERT_EQ(diagnosis.root_causes.size(), 1U);
  EXPECT_EQ(first_cause(diagnosis).cause, Cause::collective_timeout);
  ASSERT_FALSE(first_cause(diagnosis).actions.empty());
  EXPECT_THAT(first_cause(diagnosis).actions[0].command,
              HasSubstr("TORCH_NCCL_TRACE_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1"));
}

TEST(Posted, OneStackOfGdbTellsWhereItsProcessStands) {
  const std::string frames =
      "#0  0x00007f01 in poll () from /lib/x86_64-linux-gnu/libc.so.6\n"
      "#1  0x00007f02 in ncclReduceScatter () from /opt/nccl/lib/libnccl.so.2\n"
      "#2  0x00007f03 in c10d::ProcessGroupNCCL::_reduce_scatter_base(at::Tensor&) () from "
      "/opt/libtorch_cuda.so\n";
  for (const std::string& text :
       {frames, "Thread 1 (Thread 0x7e1 (LWP 9917) \"python3\"):\n" + frames}) {
    const Diagnosis diagnosis = posted(text);
    EXPECT_THAT(diagnosis.root_causes, IsEmpty());
    EXPECT_THAT(said(diagnosis.observations), Contains(HasSubstr("ncclReduceScatter")));
    EXPECT_EQ(diagnosis.verdict, Verdict::unknown);
  }
}

TEST(Posted, TheLastLineOfATracebackIsAPossibleCauseAndOneLongBeforeTheEndIsNone) {
  const std::string raised = "[rank3]: yaml.scanner.ScannerError: a mapping is not allowed here\n";
  const Diagnosis last = posted("step 7 loss 2.1\n" + raised);
  ASSERT_THAT(said(last.root_causes), ElementsAre(HasSubstr("ScannerError")));
  EXPECT_THAT(first_cause(last).subject.ranks, ElementsAre(3));
  EXPECT_LT(first_cause(last).confidence, 0.5);

  EXPECT_THAT(posted("step 7 loss 2.1\n" + raised + "step 8 loss 2.0\n").root_causes, IsEmpty());
  std::string after;
  for (int step = 8; step < 40; ++step) after += "step " + std::to_string(step) + " loss 2.0\n";
  EXPECT_THAT(posted(raised + after).root_causes, IsEmpty());
}

// Harmless texts that quote the errors above.
TEST(Posted, TextThatTalksAboutAnErrorIsNoFault) {
  const char* texts[] = {
      "NET/IB : Got completion with error 12, opcode 0, len 0, vendor err 129 means that the peer "
      "is "
      "gone.\n",
      "If you see `NET/IB : Got completion with error 12, opcode 0` look at the link.\n",
      "Bootstrap : no socket interface found is what NCCL prints without an interface.\n",
      "# socketStartConnect: Connect to 10.61.2.14<4567> failed : Connection refused\n",
      "echo \"Call to connect returned Connection refused\"\n",
      "+ grep -c 'Cuda failure 716' train.log\n",
      "$ grep \"CUDA error: an illegal memory access was encountered\" train.log\n",
      "// RuntimeError: CUDA error: an illegal memory access was encountered\n",
      "RuntimeError: CUDA error: misaligned address usually means that an offset is odd.\n",
      "When \"CUDA error: unspecified launch failure\" appears, look at the kernel.\n",
      "- ncclSystemError: a call of the system failed.\n",
      "Handles ncclInvalidUsage and ncclInvalidArgument.\n",
      "The error ncclRemoteError: another process died.\n",
      "See RuntimeError: NCCL error in: ../a/ProcessGroupNCCL.cpp:12, unhandled system error\n",
      "Stack trace of the failed collective not found, potentially because FlightRecorder is "
      "disabled "
      "is a hint.\n",
      "#0 Introduction (a draft)\n",
  };
  for (const char* text : texts) {
    const Diagnosis diagnosis = posted(text);
    for (const Finding& finding : diagnosis.root_causes)
      EXPECT_LT(finding.confidence, 0.5) << text << finding.title;
    EXPECT_NE(diagnosis.verdict, Verdict::failed) << text;
  }
}

// What `grep -r Xid logs` prints: if a line names no host, the name of its file or folder does.
TEST(Posted, LinesThatGrepFoundAreOfTheHostThatTheirFileIsCalledBy) {
  const std::string xid = "NVRM: Xid (PCI:0000:4c:00): 79, GPU has fallen off the bus.\n";
  for (const auto& [before, host] : {
           std::pair<std::string, std::string>{"gpu-7:[Wed Nov  8 13:03:59 2023] ", "gpu-7"},
           {"gpu-7:[  123.456789] ", "gpu-7"},
           {"gpu-7:12:[  123.456789] ", "gpu-7"},
           {"dmesg-node-7.log:[  123.456789] ", "node-7"},
           {"logs/node-7/dmesg.txt:12:[  123.456789] ", "node-7"},
           {"node-7.log:Mar  5 02:00:00 node-9 kernel: ", "node-9"},
           {"gpu7.log:[  123.456789] ", ""},
           {"run-3:[  123.456789] ", ""},
           {"kern.log:[  123.456789] ", ""},
       }) {
    SCOPED_TRACE(before);
    const Diagnosis diagnosis = pasted(before + xid);
    EXPECT_EQ(cause_of(diagnosis), "gpu.off_bus");
    EXPECT_EQ(hosts_of(diagnosis),
              host.empty() ? std::vector<std::string>() : std::vector<std::string>{host});
  }
  const Diagnosis of_rank = pasted(
      "logs/rank3.log:RuntimeError: CUDA error: an illegal memory access was encountered\n"
      "logs/rank3.log:[rank3]: RuntimeError: CUDA error: an illegal memory access was "
      "encountered\n");
  EXPECT_EQ(of_rank.root_causes.front().subject.ranks, std::vector<int>{3});
}

// Editors may drop the last newline, and so does `curl -d`.
TEST(Posted, TextWithoutItsLastNewlineTellsTheSame) {
  for (const std::string& text : {
           std::string("Traceback (most recent call last):\n"
                       "  File \"train.py\", line 35, in __getitem__\n"
                       "    noised = split[1]\n"
                       "IndexError: list index out of range\n"
                       "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: 1) "
                       "local_rank: 4 (pid: 24321) of binary: /opt/bin/python\n"
                       "Root Cause (first observed failure):\n"
                       "[0]:\n"
                       "  time      : 2026-03-05_02:56:03\n"
                       "  host      : gpu-7\n"
                       "  rank      : 4 (local_rank: 4)\n"
                       "  exitcode  : 1 (pid: 24321)\n"
                       "  error_file: <N/A>\n"
                       "  traceback : To enable traceback see: https://pytorch.org/docs\n"
                       "============================================================\n"),
           std::string("srun: error: gpu-7: task 3: Out Of Memory\n"),
           std::string("One or more tensors were submitted to be reduced, gathered or broadcasted "
                       "by subset of ranks and are waiting for remainder of ranks for more than "
                       "60 seconds.\nMissing ranks:\n6: [allreduce.0, allreduce.1]\n"),
           std::string("Events:\n  Type     Reason            Age   From               Message\n"
                       "  ----     ------            ----  ----               -------\n"
                       "  Warning  FailedScheduling  2m    default-scheduler  0/6 nodes are "
                       "available: 6 Insufficient nvidia.com/gpu.\n"),
       }) {
    SCOPED_TRACE(text);
    const Diagnosis whole = pasted(text);
    const Diagnosis without = pasted(text.substr(0, text.size() - 1));
    ASSERT_FALSE(whole.root_causes.empty());
    EXPECT_EQ(title_of(without), title_of(whole));
    EXPECT_EQ(confidence_of(without), confidence_of(whole));
  }
}

}  // namespace
}  // namespace faultline
