#include "doors/loki.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doors/protobuf.h"
#include "read_into.h"

namespace faultline {
namespace {

using testing::ElementsAre;

ProtobufWriter entry(std::uint64_t seconds, std::uint64_t nanos, std::string_view line) {
  return ProtobufWriter()
      .message(1, ProtobufWriter().number(1, seconds).number(2, nanos))
      .bytes(2, line);
}

TEST(LokiJson, GivesEachStreamASourceOfItsJobAndHost) {
  Given given;
  ASSERT_TRUE(read_loki_json(
      R"({"streams":[
        {"stream":{"job":"llama","host":"gpu-3","filename":"/logs/rank0.log"},
         "values":[["1772679449123000000","first"],["1772679449124000000","second"]]},
        {"values":[["1772679450000000000","other",{"rank":"5"}],
                   ["1772679451000000000","again"]],
         "stream":{"job":"llama","node_name":"gpu-4","pod":"w-1","container":"trainer"}}]})",
      given.lines));
  EXPECT_THAT(given.all(), ElementsAre("llama|gpu-3|-1|gpu-3/logs/rank0.log\n"
                                       "2026-03-05T02:57:29.123Z stdout F first\n"
                                       "2026-03-05T02:57:29.124Z stdout F second\n",
                                       "llama|gpu-4|-1|gpu-4/w-1/trainer\n"
                                       "2026-03-05T02:57:31Z stdout F again\n",
                                       "llama|gpu-4|5|gpu-4/w-1/trainer/rank5\n"
                                       "2026-03-05T02:57:30Z stdout F other\n"));
}

TEST(LokiJson, StampsEachLineOfAMessage) {
  Given given;
  ASSERT_TRUE(read_loki_json(
      R"({"streams":[{"stream":{},"values":[["1772679449000000000","Traceback:\n  File \"a\"\n"]]}]})",
      given.lines));
  EXPECT_THAT(given.all(), ElementsAre("unlabelled||-1|10.0.0.9/peer\n"
                                       "2026-03-05T02:57:29Z stdout F Traceback:\n"
                                       "2026-03-05T02:57:29Z stdout F   File \"a\"\n"));
}

TEST(LokiJson, WritesAKernelMessageAsSyslogDoes) {
  Given given;
  ASSERT_TRUE(read_loki_json(
      R"({"streams":[{"stream":{"job":"llama","hostname":"gpu-3","__journal__transport":"kernel"},
          "values":[["1772679449000000000","NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus."]]}]})",
      given.lines));
  EXPECT_THAT(given.all(),
              ElementsAre("llama|gpu-3|-1|gpu-3/kernel\n2026-03-05T02:57:29Z gpu-3 kernel: NVRM: "
                          "Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n"));
}

// Behind the name of a program most of what tools print would not be read.
TEST(LokiJson, WritesNoOtherProgramBeforeALine) {
  Given given;
  ASSERT_TRUE(read_loki_json(
      R"({"streams":[{"stream":{"job":"llama","hostname":"gpu-3","syslog_identifier":"python3"},
          "values":[["1772679449000000000","x"]]}]})",
      given.lines));
  EXPECT_THAT(given.all(),
              ElementsAre("llama|gpu-3|-1|gpu-3/python3\n2026-03-05T02:57:29Z stdout F x\n"));
}

// A few bytes of labels and line breaks must not become many of lines.
TEST(LokiProtobuf, OfLineBreaksDoesNotGrowWithoutBound) {
  const std::string host(400, 'h');
  const std::string body =
      ProtobufWriter()
          .message(1, ProtobufWriter()
                          .bytes(1, "{host=\"" + host + "\",program=\"x\",transport=\"kernel\"}")
                          .message(2, entry(1, 0, std::string(1'000'000, '\n') + "x"))
                          .message(2, entry(2, 0, "the next")))
          .message();
  Given given;
  given.lines.limit_growth(body.size());
  ASSERT_TRUE(read_loki_protobuf(body, given.lines));
  EXPECT_TRUE(given.lines.too_large());
  EXPECT_LT(given.lines.bytes(), 6 * body.size());
}

TEST(LokiJson, RefusesWhatIsNoPush) {
  for (const std::string_view body :
       {"", "{", "[]", "{}", R"({"streams":5})", R"({"streams":[{"stream":{}}]})"}) {
    Given given;
    EXPECT_FALSE(read_loki_json(body, given.lines)) << body;
  }
}

TEST(LokiJson, CountsAValueThatHasNoLine) {
  Given given;
  ASSERT_TRUE(read_loki_json(
      R"({"streams":[{"stream":{},"values":[["1772679449000000000"],5,["x","line without time"]]}]})",
      given.lines));
  EXPECT_EQ(given.lines.unreadable_records(), 2);
  EXPECT_THAT(given.all(), ElementsAre("unlabelled||-1|10.0.0.9/peer\nline without time\n"));
}

TEST(LokiProtobuf, GivesTheSameAsJson) {
  Given given;
  const ProtobufWriter push =
      ProtobufWriter()
          .message(1, ProtobufWriter()
                          .bytes(1, R"({job="llama", host="gpu-3",filename="/logs/a \"b\".log"})")
                          .message(2, entry(1772679449, 123'000'000, "first"))
                          .message(2, entry(1772679449, 124'000'000, "second"))
                          .number(3, 77))
          .message(
              1,
              ProtobufWriter()
                  .message(
                      2, entry(1772679450, 0, "of another stream")
                             .message(3, ProtobufWriter().bytes(1, "node_name").bytes(2, "gpu-4")))
                  .bytes(1, R"({job="llama"})"));
  ASSERT_TRUE(read_loki_protobuf(push.message(), given.lines));
  EXPECT_THAT(given.all(), ElementsAre("llama|gpu-3|-1|gpu-3/logs/a \"b\".log\n"
                                       "2026-03-05T02:57:29.123Z stdout F first\n"
                                       "2026-03-05T02:57:29.124Z stdout F second\n",
                                       "llama|gpu-4|-1|gpu-4/peer\n"
                                       "2026-03-05T02:57:30Z stdout F of another stream\n"));
}

TEST(LokiProtobuf, RefusesADamagedMessage) {
  const std::string whole =
      ProtobufWriter()
          .message(1, ProtobufWriter().bytes(1, R"({job="a"})").message(2, entry(1, 0, "line")))
          .message();
  for (std::size_t length = 1; length < whole.size(); ++length) {
    Given given;
    EXPECT_FALSE(read_loki_protobuf(whole.substr(0, length), given.lines)) << length;
  }
  Given given;
  EXPECT_TRUE(read_loki_protobuf("", given.lines));
  EXPECT_FALSE(read_loki_protobuf(
      ProtobufWriter().message(1, ProtobufWriter().bytes(1, R"({job="a)")).message(), given.lines));
}

}  // namespace
}  // namespace faultline
