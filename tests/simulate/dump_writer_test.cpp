// Dumps are the same as those of PyTorch's own writers, byte for byte.
#include "simulate/dump_writer.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "simulated.h"

namespace faultline::simulation {
namespace {

using Value = DumpValue;

Value text(std::string its) { return {std::move(its)}; }
Value number(std::int64_t its) { return {its}; }
std::string bytes(std::initializer_list<int> its) {
  std::string all;
  for (const int byte : its) all += static_cast<char>(byte);
  return all;
}

TEST(DumpWriter, PicklesNumbersByTheirSize) {
  const Value list{Value::List{
      {number(0), number(255), number(256), number(-1), number(1'741'142'831'123'456'789)}}};
  EXPECT_EQ(pickled(list), bytes({0x80, 2,    ']',  '(',  'K',  0,    'K',  255, 'M',  0,
                                  1,    'J',  255,  255,  255,  255,  0x8a, 8,   0x15, 0xe3,
                                  0x54, 0x10, 0x2e, 0xc8, 0x29, 0x18, 'e',  '.'}));
}

TEST(DumpWriter, PicklesATextOnceAndRefersToItThen) {
  const Value tuple{Value::Tuple{{text("0"), text("0")}}};
  EXPECT_EQ(pickled(tuple), bytes({0x80, 2, 'X', 1, 0, 0, 0, '0', 'q', 0, 'h', 0, 0x86, '.'}));
}

TEST(DumpWriter, PicklesASharedFrameOnce) {
  Value frame{Value::Dictionary{}, 7};
  const Value list{Value::List{{frame, frame}}};
  EXPECT_EQ(pickled(list), bytes({0x80, 2, ']', '(', '}', '(', 'u', 'q', 0, 'h', 0, 'e', '.'}));
}

TEST(DumpWriter, PicklesFractionsFlagsAndNothing) {
  const Value list{Value::List{{Value{0.5}, Value{true}, Value{false}, Value{Value::None{}}}}};
  EXPECT_EQ(pickled(list), bytes({0x80, 2, ']', '(', 'G', 0x3f, 0xe0, 0, 0, 0, 0, 0, 0, 0x88, 0x89,
                                  'N', 'e', '.'}));
}

TEST(DumpWriter, SortsMembersInJson) {
  Value::Dictionary dictionary;
  dictionary.members.push_back({"version", text("2.10")});
  dictionary.members.push_back({"entries", Value{Value::List{}}});
  EXPECT_EQ(as_json({std::move(dictionary)}), R"({"entries":[],"version":"2.10"})");
}

Simulated dumped(const std::string& torch, bool json) {
  Options options = small_job("rank_behind");
  options.evidence = "dumps";
  options.torch = torch;
  options.json_dumps = json;
  return simulated(options);
}

TEST(TorchDump, HoldsWhatItsVersionOfTheSchemaKnows) {
  const auto keys = [](const std::string& torch) {
    const Simulated job = dumped(torch, true);
    const auto dump = boost::json::parse(job.files.at("logs/gpu-node-1/rank_0.json")).as_object();
    return dump.at("entries").as_array().front().as_object();
  };
  EXPECT_FALSE(keys("2.2").contains("record_id"));
  EXPECT_TRUE(keys("2.3").contains("record_id"));
  EXPECT_FALSE(keys("2.3").contains("process_group"));
  EXPECT_TRUE(keys("2.4").contains("process_group"));
  EXPECT_FALSE(keys("2.4").contains("timeout_ms"));
  EXPECT_TRUE(keys("2.5").contains("timeout_ms"));
  EXPECT_TRUE(keys("2.9").contains("thread_name"));
}

TEST(TorchDump, IsCalledAsItsVersionCallsIt) {
  EXPECT_TRUE(dumped("2.7", false).files.contains("logs/gpu-node-1/nccl_trace_rank_0"));
  EXPECT_TRUE(dumped("2.9", false).files.contains("logs/gpu-node-1/comm_lib_trace_rank_0"));
}

TEST(TorchDump, IsNotThereBeforeThereWereAny) {
  Options options = small_job("rank_behind");
  options.evidence = "dumps";
  options.torch = "2.1";
  EXPECT_FALSE(checked(options));
}

}  // namespace
}  // namespace faultline::simulation
