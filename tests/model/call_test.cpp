#include "model/call.h"

#include <gtest/gtest.h>

#include "model/batch.h"

namespace faultline {
namespace {

TEST(Signature, IsWrittenForPeople) {
  struct Case {
    const char* why;
    Signature signature;
    const char* expected;
  };
  const Case cases[] = {
      {"a reduction names its operation",
       {.function = "AllReduce", .count = 7382228, .datatype = 7},
       "AllReduce(count 7382228, float32, sum)"},
      {"no sum where nothing is reduced",
       {.function = "AllGather", .count = 4, .datatype = 9},
       "AllGather(count 4, bfloat16)"},
      {"a root",
       {.function = "Broadcast", .count = 1, .datatype = 0, .root = 0},
       "Broadcast(count 1, int8, root 0)"},
      {"a root and an operation",
       {.function = "Reduce", .count = 1, .datatype = 8, .operation = 2, .root = 3},
       "Reduce(count 1, float64, max, root 3)"},
      {"a peer",
       {.function = "Send", .count = 512, .datatype = 6, .root = 5},
       "Send(count 512, float16, peer 5)"},
      {"the operation a user made",
       {.function = "AllReduce", .count = 1, .datatype = 7, .operation = 5},
       "AllReduce(count 1, float32, user)"},
      {"numbers no version knows",
       {.function = "AllReduce", .count = 1, .datatype = 99, .operation = -1},
       "AllReduce(count 1, datatype 99, operation -1)"},
      {"the dialect that prints size",
       {.function = "AllReduce", .count = 4194304, .datatype = 7, .count_is_size = true},
       "AllReduce(size 4194304, float32, sum)"},
      {"the end of a call", {.function = "AllReduce", .done = true}, "AllReduce done"},
      {"2.3.5 printed no name", {.count = 1, .datatype = 7}, "collective(count 1, float32)"},
      {"a function that came later, with a root",
       {.function = "Shuffle", .count = 1, .datatype = 7, .root = 2},
       "Shuffle(count 1, float32, root 2)"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    EXPECT_EQ(to_text(c.signature), c.expected);
  }
}

TEST(Signature, KnowsWhichCallsPairTwoRanks) {
  for (const char* name : {"Send", "Recv", "PutSignal", "Signal", "WaitSignal"})
    EXPECT_TRUE(Signature{.function = name}.point_to_point()) << name;
  for (const char* name : {"AllReduce", "AllGather", "Broadcast", "Reduce", "ReduceScatter",
                           "AlltoAll", "Gather", "Scatter", "", "Sender"})
    EXPECT_FALSE(Signature{.function = name}.point_to_point()) << name;
}

TEST(Signature, NamesNothingItDoesNotKnow) {
  EXPECT_EQ(datatype_name(11), "float8e5m2");
  EXPECT_EQ(datatype_name(12), "");
  EXPECT_EQ(datatype_name(-1), "");
  EXPECT_EQ(operation_name(Signature::kUserOperation), "user");
  EXPECT_EQ(operation_name(6), "");
}

TEST(Batch, CountsEventsAndCallsAsFacts) {
  Batch batch;
  EXPECT_EQ(batch.facts(), 0u);
  batch.events.resize(2);
  batch.runs.resize(2);
  batch.runs[0].calls.resize(5);
  batch.runs[1].calls.resize(1);
  EXPECT_EQ(batch.facts(), 8u);
}

TEST(Batch, IsVisitedInTheOrderOfTheSource) {
  Batch batch;
  batch.events = {{.order = 0}, {.order = 3}, {.order = 5}};
  batch.runs = {{.order = 1}, {.order = 2}, {.order = 4}, {.order = 6}};
  std::string order;
  for_each_in_order(
      batch, [&](const Event& event) { order += 'e' + std::to_string(event.order); },
      [&](const CallRun& run) { order += 'r' + std::to_string(run.order); });
  EXPECT_EQ(order, "e0r1r2e3r4e5r6");
}

}  // namespace
}  // namespace faultline
