// Which of a job's files and lines remain, by how much was sent.
#include "accuracy/tiers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace faultline::accuracy {
namespace {

using testing::ElementsAre;
using testing::Key;
using testing::Pair;

const Files kAll = {
    {"gpu-node-1/nccl.rank0.log",
     "a:1:1 [0] NCCL INFO Init COMPLETE\na:1:1 [0] NCCL INFO AllReduce: opCount 0\n"
     "a:1:1 [0] NCCL WARN oh\n"},
    {"gpu-node-1/nccl_trace_rank_0", "pickle"},
    {"gpu-node-1/torchrun.log", "failed\n"},
    {"gpu-node-1/dmesg.txt", "[1.0] NVRM: Xid\n"},
};

TEST(Tiers, HoldWhatWasSentAndAllOfTheOneBefore) {
  EXPECT_THAT(files_of(Tier::warnings, kAll),
              ElementsAre(Pair("gpu-node-1/nccl.rank0.log", "a:1:1 [0] NCCL WARN oh\n"),
                          Key("gpu-node-1/torchrun.log")));
  EXPECT_THAT(files_of(Tier::init, kAll),
              ElementsAre(Pair("gpu-node-1/nccl.rank0.log",
                               "a:1:1 [0] NCCL INFO Init COMPLETE\na:1:1 [0] NCCL WARN oh\n"),
                          Key("gpu-node-1/torchrun.log")));
  EXPECT_THAT(files_of(Tier::calls, kAll),
              ElementsAre(Key("gpu-node-1/nccl.rank0.log"), Key("gpu-node-1/torchrun.log")));
  EXPECT_THAT(files_of(Tier::recorder, kAll),
              ElementsAre(Key("gpu-node-1/nccl.rank0.log"), Key("gpu-node-1/nccl_trace_rank_0"),
                          Key("gpu-node-1/torchrun.log")));
  EXPECT_EQ(files_of(Tier::hosts, kAll), kAll);
}

}  // namespace
}  // namespace faultline::accuracy
