#include "parsers/nccl/nccl_inspector.h"

#include <gtest/gtest.h>

#include <string>

namespace faultline {
namespace {

std::string record(const std::string& operation = R"("coll":"AllReduce","coll_sn":466)") {
  return R"({"header":{"id":"0xfa","rank":7,"n_ranks":16,"nnodes":2},"metadata":{)"
         R"("dump_timestamp_us":1773143860000000,"hostname":"node-1","pid":40315},"coll_perf":{)" +
         operation + R"(,"coll_msg_size_bytes":4194304}})";
}

const RankReport& fact(const Reading& reading) { return std::get<RankReport>(reading.fact); }

TEST(NcclInspector, CountsTheOperationsThatCompleted) {
  std::vector<Reading> readings;
  ASSERT_TRUE(parse_nccl_inspector(record(), readings));
  ASSERT_EQ(readings.size(), 1U);
  EXPECT_EQ(fact(readings[0]).completed, 467U) << "the first one has number 0";
  EXPECT_EQ(readings[0].host, "node-1");
  EXPECT_EQ(readings[0].pid, 40315);
}

TEST(NcclInspector, ReadsTwoRecordsOnOneLine) {
  std::vector<Reading> readings;
  ASSERT_TRUE(
      parse_nccl_inspector(record() + record(R"("coll":"AllReduce","coll_sn":467)"), readings));
  ASSERT_EQ(readings.size(), 2U);
  EXPECT_EQ(fact(readings[1]).completed, 468U);
}

TEST(NcclInspector, DoesNotReadARecordThatBrokeOff) {
  const std::string whole = record();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::vector<Reading> readings;
    EXPECT_FALSE(parse_nccl_inspector(whole.substr(0, size), readings)) << size;
    EXPECT_TRUE(readings.empty()) << size;
  }
}

TEST(NcclInspector, SendsAndReceivesCompareWithNobodys) {
  std::vector<Reading> readings;
  EXPECT_TRUE(parse_nccl_inspector(
      R"({"header":{"id":"0xfa","rank":7,"n_ranks":16},"p2p_perf":{"p2p":"Send","p2p_sn":9}})",
      readings));
  EXPECT_TRUE(readings.empty());
}

TEST(NcclInspector, LeavesOtherJsonAlone) {
  for (const char* other : {R"({"header":{"id":"x","rank":1},"coll_perf":{}})", R"({"a":[1,2})",
                            R"({"coll_perf":1})", "{}", "{", "[]", R"({"header":{"id":"0xfa"}})"}) {
    std::vector<Reading> readings;
    EXPECT_FALSE(parse_nccl_inspector(other, readings)) << other;
    EXPECT_TRUE(readings.empty()) << other;
  }
}

}  // namespace
}  // namespace faultline
