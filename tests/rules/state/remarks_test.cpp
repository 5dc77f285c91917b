#include "rules/state/remarks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job.h"

namespace faultline {
namespace {

using testing::SizeIs;

TEST(Remarks, EqualTextsAreOneWhateverPointersAndPortsTheyHold) {
  EXPECT_EQ(without_what_varies("Connection closed by remote peer 10.0.0.12<51544>"),
            without_what_varies("Connection closed by remote peer 10.0.0.12<40022>"));
  EXPECT_EQ(without_what_varies("Socket recv failed while polling for opId=0x7f31c8002a10"),
            without_what_varies("Socket recv failed while polling for opId=0x7f31c8009b44"));
  EXPECT_EQ(without_what_varies("status=12 opcode=32698 len=32696"),
            without_what_varies("status=12 opcode=32594 len=11008"));
  EXPECT_EQ(without_what_varies("Error while creating shared memory segment /dev/shm/nccl-a1B2c3"),
            without_what_varies("Error while creating shared memory segment /dev/shm/nccl-Zz81xY"));
}

TEST(Remarks, AddressesDevicesRanksAndStatusesTellTextsApart) {
  EXPECT_NE(without_what_varies("peer 10.0.0.12<51544> with status=12"),
            without_what_varies("peer 10.0.0.13<51544> with status=12"));
  EXPECT_NE(without_what_varies("status=12 vendor err 129"),
            without_what_varies("status=5 vendor err 249"));
  EXPECT_NE(without_what_varies("NET/IB : mlx5_1:1 Got async event : port error"),
            without_what_varies("NET/IB : mlx5_2:1 Got async event : port error"));
  EXPECT_NE(without_what_varies("localGid fe80::9a03:9bff:fe3a:1 remoteGid ::ffff:10.1.0.12"),
            without_what_varies("localGid fe80::9a03:9bff:fe3a:1 remoteGid ::ffff:10.1.0.13"));
  EXPECT_NE(without_what_varies("rank 1025 version 22703"),
            without_what_varies("rank 1024 version 22703"));
}

TEST(Remarks, AFoldedTextKeepsItsFirstLineAndHowOftenItCame) {
  Job job;
  job.warn(3, "Connection closed by remote peer 10.0.0.12<51544>");
  job.warn(3, "Connection closed by remote peer 10.0.0.12<40022>");
  job.warn(3, "Call to recv from 10.0.0.12<1> failed : Connection reset by peer");
  ASSERT_THAT(job.state.remarks().processes(), SizeIs(1));
  const auto& said = job.state.remarks().processes().front().said;
  ASSERT_THAT(said, SizeIs(2));
  EXPECT_EQ(said[0].count, 2U);
  EXPECT_EQ(said[0].first.line, 1U);
  EXPECT_EQ(said[0].last.line, 2U);
  EXPECT_LT(said[0].last_order, said[1].order);
}

TEST(Remarks, WhatAWarningReturnedIsTheFirstCodeAfterIt) {
  Job job;
  job.back_trace(3, "misc/socket.cc:50", 3);  // before any warning: nothing to tie it to
  job.warn(3, "NET/IB: Got completion from peer 10.0.0.12<51544> with status=12");
  job.back_trace(3, "transport/net.cc:1227", 6);
  job.back_trace(3, "proxy.cc:698", 3);
  const auto& said = job.state.remarks().processes().front().said;
  ASSERT_TRUE(said[0].returned.has_value());
  EXPECT_EQ(said[0].returned->code, 6);
  EXPECT_EQ(said[0].returned->place, "transport/net.cc:1227");
}

TEST(Remarks, AnAbortAfterDestroyedCommunicatorsIsNoCleanEnd) {
  Job job;
  job.join_all(2);
  job.end(0, "world", CommunicatorEnding::destroyed);
  EXPECT_TRUE(job.state.remarks().processes().front().ended_cleanly());
  job.end(0, "world", CommunicatorEnding::abort_started);
  EXPECT_FALSE(job.state.remarks().processes().front().ended_cleanly());
}

TEST(Remarks, ChatterDisplacesNoWarning) {
  Job job;
  for (int i = 0; i < 1000; ++i) job.remark(0, "info", fmt::format("word{}x", i));
  job.warn(0, "Cuda failure 'out of memory'");
  const RemarkingProcess& process = job.state.remarks().processes().front();
  EXPECT_LE(process.said.size(), 65U);
  EXPECT_EQ(process.said.back().remark.text, "Cuda failure 'out of memory'");
  EXPECT_EQ(job.state.remarks().left_out(), 0U);
}

TEST(Remarks, AStormOfDifferentTextsStaysSmall) {
  Job job;
  for (int i = 0; i < 100'000; ++i) job.warn(0, fmt::format("word{}x", i));
  const std::size_t kept = job.state.remarks().processes().front().said.size();
  EXPECT_LE(kept, 512U);
  EXPECT_EQ(job.state.remarks().left_out(), 100'000U - kept);
}

TEST(Remarks, AHugeTextIsKeptInPart) {
  Job job;
  job.warn(0, std::string(1'000'000, 'x'));
  const SaidRemark& said = job.state.remarks().processes().front().said.front();
  EXPECT_LE(said.remark.text.size(), 2048U);
  EXPECT_LE(said.first.text.size(), 2048U);
}

}  // namespace
}  // namespace faultline
