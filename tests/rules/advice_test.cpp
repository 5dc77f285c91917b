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

TEST(Advice, PrintsWhatIsUnknownSoThatNoCommandRunsOnTheWrongThing) {
  EXPECT_EQ(fill_in("nvidia-smi -i {gpu_smi} # {host}, {rank}", {}),
            "nvidia-smi -i <gpu_smi> # <host>, <rank>");
  EXPECT_EQ(fill_in("rank {rank}", {.rank = 0}), "rank 0");
}

TEST(Advice, LeavesBracesThatAreNoPlaceholder) {
  EXPECT_EQ(fill_in("a { b", kSubject), "a { b");
  EXPECT_EQ(fill_in("a } b", kSubject), "a } b");
}

TEST(Advice, NamesNoPlaceWhenTheHostIsUnknown) {
  const Action action{.what = "Look at {host}.", .where = "{host}", .command = "true"};
  EXPECT_EQ(fill_in(action, kSubject),
            (Action{.what = "Look at gpu-node-3.", .where = "gpu-node-3", .command = "true"}));
  EXPECT_EQ(fill_in(action, {}),
            (Action{.what = "Look at <host>.", .where = "", .command = "true"}));
}

TEST(Advice, FindsAPlaceholderThatMeansNothing) {
  EXPECT_EQ(unknown_placeholder("{host} {gpus} {rnk}"), "gpus");
  EXPECT_EQ(unknown_placeholder("{host} {gpu} {gpu_smi} {rank}"), "");
}

}  // namespace
}  // namespace faultline
