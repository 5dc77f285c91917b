
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "model/json.h"
#include "parsers/nccl/nccl_forms.h"

namespace faultline {
namespace {

using Init = CommunicatorInit;

constexpr std::int64_t kThread = 77;

std::optional<Fact> read(std::string_view message) {
  std::vector<Fact> facts;
  if (read_nccl_message(NcclLevel::info, {.text = message, .thread = kThread}, facts) == nullptr ||
      facts.size() != 1)
    return std::nullopt;
  return facts[0];
}

TEST(NcclLifetime, ReadsTheBeginningOfACommunicatorInEveryVersion) {
  struct Case {
    const char* why;
    const char* message;
    Init expected;
  };
  const Case cases[] = {
      {"2.3", "comm 0x10 rank 1 nranks 4", {.communicator = 16, .rank = 1, .nranks = 4}},
      {"2.3.7",
       "comm 0x10 rank 1 nranks 4 - COMPLETE",
       {.communicator = 16, .rank = 1, .nranks = 4, .complete = true}},
      {"2.4",
       "comm 0x10 rank 1 nranks 4 cudaDev 1 nvmlDev 5 - Init COMPLETE",
       {.communicator = 16,
        .rank = 1,
        .nranks = 4,
        .cuda_device = 1,
        .nvml_device = 5,
        .complete = true}},
      {"2.5 to 2.15",
       "comm 0x10 rank 1 nranks 4 cudaDev 1 busId 3b000 - Init COMPLETE",
       {.communicator = 16,
        .rank = 1,
        .nranks = 4,
        .cuda_device = 1,
        .gpu = "0000:3b:00.0",
        .complete = true}},
      {"2.16",
       "comm 0x10 rank 1 nranks 4 cudaDev 1 busId 100000 commId 0xfa - Init COMPLETE",
       {.communicator = 16,
        .rank = 1,
        .nranks = 4,
        .cuda_device = 1,
        .gpu = "0001:00:00.0",
        .communicator_id = "0xfa",
        .complete = true}},
      {"2.18",
       "comm 0x10 rank 1 nranks 4 cudaDev 1 nvmlDev 1 busId 3b000 commId 0xfa - Init START",
       {.communicator = 16,
        .rank = 1,
        .nranks = 4,
        .cuda_device = 1,
        .nvml_device = 1,
        .gpu = "0000:3b:00.0",
        .communicator_id = "0xfa"}},
      {"2.21",
       "ncclCommSplit comm 0x10 rank 1 nranks 4 cudaDev 1 nvmlDev 1 busId 3b000 parent 0x20 color "
       "2 "
       "key 1 commId 0xfa - Init COMPLETE",
       {.communicator = 16,
        .rank = 1,
        .nranks = 4,
        .cuda_device = 1,
        .nvml_device = 1,
        .gpu = "0000:3b:00.0",
        .communicator_id = "0xfa",
        .parent = 32,
        .color = 2,
        .key = 1,
        .function = "ncclCommSplit",
        .complete = true}},
      {"2.23, without a blank before the dash",
       "ncclCommSplit comm 0x10 rank 1 nranks 4 cudaDev 1 nvmlDev 1 busId 3b000 parent 0x20 color "
       "2 "
       "key 1- Init START",
       {.communicator = 16,
        .rank = 1,
        .nranks = 4,
        .cuda_device = 1,
        .nvml_device = 1,
        .gpu = "0000:3b:00.0",
        .parent = 32,
        .color = 2,
        .key = 1,
        .function = "ncclCommSplit"}},
      {"2.29",
       "[Rank 1] ncclCommInitRankConfig comm 0x10 rank 1 nranks 4 cudaDev 1 nvmlDev 1 busId 3b000 "
       "commId 0xfa - Init START",
       {.communicator = 16,
        .rank = 1,
        .nranks = 4,
        .cuda_device = 1,
        .nvml_device = 1,
        .gpu = "0000:3b:00.0",
        .communicator_id = "0xfa",
        .function = "ncclCommInitRankConfig"}},
      {"2.29, a split",
       "ncclCommSplit comm 0x10 rank 1 nranks 4 cudaDev 1 nvmlDev 1 busId 3b000 parent 0x20 "
       "childCount 3 color 2 key 1 - Init COMPLETE",
       {.communicator = 16,
        .rank = 1,
        .nranks = 4,
        .cuda_device = 1,
        .nvml_device = 1,
        .gpu = "0000:3b:00.0",
        .parent = 32,
        .child = 3,
        .color = 2,
        .key = 1,
        .function = "ncclCommSplit",
        .complete = true}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    auto fact = read(c.message);
    ASSERT_TRUE(fact);
    Init expected = c.expected;
    expected.thread = kThread;
    EXPECT_EQ(fact_to_json(*fact), fact_to_json(Fact(expected)));
  }
}

TEST(NcclLifetime, ReadsTheEndOfACommunicator) {
  struct Case {
    const char* message;
    CommunicatorEnding expected;
  };
  const Case cases[] = {
      {"comm 0x10 rank 1 nranks 4 cudaDev 1 busId 3b000 - Destroy COMPLETE",
       CommunicatorEnding::destroyed},
      {"comm 0x10 rank 1 nranks 4 cudaDev 1 busId 3b000 - Abort COMPLETE",
       CommunicatorEnding::aborted},
      {"comm 0x10 rank 1 nRanks 4 cudaDev 1 busId 3b000 - Abort START",
       CommunicatorEnding::abort_started},
      {"comm 0x10 rank 1 nRanks 4 cudaDev 1 busId 3b000 - Revoke START",
       CommunicatorEnding::revoke_started},
      {"comm 0x10 rank 1 nRanks 4 cudaDev 1 busId 3b000 - Revoke COMPLETE, result 0",
       CommunicatorEnding::revoked},
  };
  for (const Case& c : cases) {
    auto fact = read(c.message);
    ASSERT_TRUE(fact) << c.message;
    EXPECT_EQ(*fact, Fact(CommunicatorEnd{16, 1, 4, "0000:3b:00.0", c.expected})) << c.message;
  }
}

TEST(NcclLifetime, ReadsWhereARankSits) {
  EXPECT_EQ(read("comm 0x10 rank 1 nRanks 8 nNodes 2 localRanks 4 localRank 1 MNNVL 0"),
            Fact(CommunicatorShape{16, 1, 8, 2, 4, 1}));
}

TEST(NcclLifetime, LeavesLinesThatOnlyLookAlike) {
  const char* const left[] = {
      "comm 0x10 rank 1",
      "comm rank 1 nranks 4 cudaDev 1 busId 3b000 - Init COMPLETE",
      "comm 0x10 rank 1 nranks 4 cudaDev 1 busId 3b000 - Init COM",
      "comm 0x10 rank x nranks 4 cudaDev 1 busId 3b000 - Init COMPLETE",
      "comm 0x10 rank 1 nRanks 4 nNodes 1 localRanks 4",
      "comm 0x10 rank 1 nRanks 64 nNodes 1 localRanks 16 localRank 1",
      "nothing comm 0x10 rank 1 nranks 4 cudaDev 1 busId 3b000 - Init COMPLETE",
  };
  for (const char* message : left) EXPECT_FALSE(read(message)) << message;
}

}  // namespace
}  // namespace faultline
