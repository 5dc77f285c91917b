#include "rules/state/traffic.h"

#include <gtest/gtest.h>

#include "job.h"

namespace faultline {
namespace {

TEST(Traffic, CountsWhatAMemberSentAndReceivedByPeer) {
  Job job;
  job.join_all(3);
  job.exchange(0, 1, 4);
  job.exchange(2, 0, 2);
  const MemberTraffic& zero = job.state.traffic().of(0);
  ASSERT_NE(zero.find(PeerCall::send, 1), nullptr);
  EXPECT_EQ(zero.find(PeerCall::send, 1)->calls, 4U);
  EXPECT_EQ(zero.find(PeerCall::receive, 2)->calls, 2U);
  EXPECT_EQ(zero.find(PeerCall::send, 2), nullptr);
  EXPECT_EQ(zero.flows(PeerCall::receive).size(), 1U);
}

TEST(Traffic, KeepsTheLastFewMessagesAndWhereTheLastOneStands) {
  Job job;
  job.join_all(2);
  for (std::uint64_t count = 1; count <= 6; ++count) job.call({0}, send_to(1, count));
  const Flow& flow = *job.state.traffic().of(0).find(PeerCall::send, 1);
  EXPECT_FALSE(flow.message(1).has_value());
  EXPECT_EQ(flow.message(2)->count, 3U);
  EXPECT_EQ(flow.message(5)->count, 6U);
  EXPECT_FALSE(flow.message(6).has_value());
  EXPECT_EQ(flow.line, 7U);
  EXPECT_EQ(flow.offset, 600U);
  EXPECT_EQ(flow.op_count, 5U);
}

TEST(Traffic, ACopyOfALogCountsOnce) {
  Job job;
  job.join_all(2);
  for (std::uint64_t op = 0; op < 3; ++op) job.call_once(0, send_to(1), "world", op);
  Source copy{"j", "rank-0.log.bak", "", -1};
  for (std::uint64_t op = 0; op < 3; ++op) {
    Batch batch;
    batch.to_offset = 100;
    batch.speakers = {Job::speaker_of(0)};
    batch.signatures = {send_to(1)};
    CallRun run;
    run.communicator = 0x1000;
    run.nranks = 2;
    run.calls = {{op, 0, 0, 0}};
    batch.runs = {run};
    job.state.apply(copy, batch, Timestamp{});
  }
  EXPECT_EQ(job.state.traffic().of(0).find(PeerCall::send, 1)->calls, 3U);
}

TEST(Traffic, NumbersOutOfRangeAreHeldToTheirBounds) {
  Signature odd = send_to(2'147'483'647, UINT64_MAX);
  odd.datatype = -7;
  Job job;
  job.join_all(2);
  job.call({0}, odd);
  const Flow* flow = job.state.traffic().of(0).find(PeerCall::send, 2'147'483'647);
  ASSERT_NE(flow, nullptr);
  EXPECT_FALSE(bytes_of(flow->last()).has_value());
}

TEST(Traffic, SizesAreComparedOnlyInAKnownUnit) {
  Payload four_floats{.count = 4, .datatype = 7};
  Payload sixteen_bytes{.count = 16, .datatype = 0};
  Payload unknown_unit{.count = 16, .count_is_size = 1, .datatype = 7};
  Payload unknown_type{.count = 4, .datatype = 99};
  EXPECT_FALSE(differ_in_size(four_floats, sixteen_bytes));
  EXPECT_TRUE(differ_in_size(four_floats, {.count = 5, .datatype = 7}));
  EXPECT_FALSE(differ_in_size(four_floats, unknown_unit));
  EXPECT_FALSE(differ_in_size(four_floats, unknown_type));
  EXPECT_TRUE(differ_in_size(unknown_type, {.count = 5, .datatype = 99}));
}

}  // namespace
}  // namespace faultline
