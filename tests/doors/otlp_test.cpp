#include "doors/otlp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doors/protobuf.h"
#include "read_into.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ProtobufWriter attribute(std::string_view key, std::string_view value) {
  return ProtobufWriter().bytes(1, key).message(2, ProtobufWriter().bytes(1, value));
}

constexpr std::string_view kFirst = "2026-03-05T02:57:29.123456Z stdout F the line\n";

TEST(OtlpJson, ReadsRecordsWithTheAttributesOfTheirResource) {
  Given given;
  ASSERT_TRUE(read_otlp_json(
      R"({"resourceLogs":[{
        "scopeLogs":[{"logRecords":[
          {"timeUnixNano":"1772679449123456789","body":{"stringValue":"the line"},
           "attributes":[{"key":"log.file.path","value":{"stringValue":"/logs/a.log"}},
                         {"key":"rank","value":{"intValue":"3"}}]},
          {"observedTimeUnixNano":1772679450000000000,"body":{"stringValue":"later"}}]}],
        "resource":{"attributes":[{"key":"slurm.job.id","value":{"stringValue":"812"}},
                                  {"key":"host.name","value":{"stringValue":"gpu-3"}}]}}]})",
      given.lines));
  EXPECT_THAT(given.all(),
              ElementsAre("812|gpu-3|-1|gpu-3/peer\n2026-03-05T02:57:30Z stdout F later\n",
                          "812|gpu-3|3|gpu-3/logs/a.log/rank3\n" + std::string(kFirst)));
}

TEST(OtlpJson, PassesARecordOfFieldsOnAsAnObject) {
  Given given;
  ASSERT_TRUE(read_otlp_json(
      R"({"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1772679449000000000",
        "body":{"kvlistValue":{"values":[
          {"key":"MESSAGE","value":{"stringValue":"NVRM: Xid"}},
          {"key":"_HOSTNAME","value":{"stringValue":"gpu-3"}},
          {"key":"_TRANSPORT","value":{"stringValue":"kernel"}}]}}}]}]}]})",
      given.lines));
  EXPECT_THAT(given.all(),
              ElementsAre("unlabelled|gpu-3|-1|gpu-3/kernel\n"
                          R"({"MESSAGE":"NVRM: Xid","_HOSTNAME":"gpu-3","_TRANSPORT":"kernel",)"
                          R"("time":"2026-03-05T02:57:29Z"})"
                          "\n"));
}

TEST(OtlpJson, KeepsWhatLiesDeeperInABody) {
  Given given;
  ASSERT_TRUE(read_otlp_json(
      R"({"resourceLogs":[{"scopeLogs":[{"logRecords":[
        {"body":{"kvlistValue":{"values":[{"key":"log","value":{"kvlistValue":{"values":[
          {"key":"message","value":{"stringValue":"NCCL WARN x"}}]}}}]}}},
        {"body":{"arrayValue":{"values":[{"stringValue":"a"},{"intValue":"7"}]}}}]}]}]})",
      given.lines));
  EXPECT_THAT(given.all(), ElementsAre("unlabelled||-1|10.0.0.9/peer\n"
                                       R"({"log":{"message":"NCCL WARN x"}})"
                                       "\n"
                                       R"(["a","7"])"
                                       "\n"));
}

TEST(OtlpJson, TakesARequestWithoutLogs) {
  Given given;
  EXPECT_TRUE(read_otlp_json("{}", given.lines));
  EXPECT_TRUE(read_otlp_json(R"({"resourceLogs":[{"scopeLogs":[{}]},{}]})", given.lines));
  EXPECT_THAT(given.all(), IsEmpty());
  EXPECT_FALSE(read_otlp_json("", given.lines));
  EXPECT_FALSE(read_otlp_json("[]", given.lines));
  EXPECT_FALSE(read_otlp_json(R"({"resourceLogs":[)", given.lines));
}

TEST(OtlpProtobuf, GivesTheSameAsJson) {
  const ProtobufWriter record =
      ProtobufWriter()
          .fixed64(1, 1772679449123456789)
          .bytes(3, "ERROR")
          .message(5, ProtobufWriter().bytes(1, "the line"))
          .message(6, attribute("log.file.path", "/logs/a.log"))
          .message(6, ProtobufWriter().bytes(1, "rank").message(2, ProtobufWriter().number(3, 3)));
  const ProtobufWriter later = ProtobufWriter()
                                   .message(5, ProtobufWriter().bytes(1, "later"))
                                   .fixed64(11, 1772679450000000000);
  const std::string request =
      ProtobufWriter()
          .message(1, ProtobufWriter()
                          .message(2, ProtobufWriter().message(2, record).message(2, later))
                          .message(1, ProtobufWriter()
                                          .message(1, attribute("slurm.job.id", "812"))
                                          .message(1, attribute("host.name", "gpu-3"))))
          .message();
  Given given;
  ASSERT_TRUE(read_otlp_protobuf(request, given.lines));
  EXPECT_THAT(given.all(),
              ElementsAre("812|gpu-3|-1|gpu-3/peer\n2026-03-05T02:57:30Z stdout F later\n",
                          "812|gpu-3|3|gpu-3/logs/a.log/rank3\n" + std::string(kFirst)));
  for (std::size_t length = 1; length < request.size(); ++length) {
    Given cut;
    EXPECT_FALSE(read_otlp_protobuf(request.substr(0, length), cut.lines)) << length;
  }
}

TEST(OtlpProtobuf, KeepsWhatLiesDeeperInABody) {
  const ProtobufWriter inner = ProtobufWriter().message(1, attribute("message", "NCCL WARN x"));
  const ProtobufWriter fields = ProtobufWriter().message(
      1, ProtobufWriter().bytes(1, "log").message(2, ProtobufWriter().message(6, inner)));
  const ProtobufWriter record = ProtobufWriter().message(5, ProtobufWriter().message(6, fields));
  Given given;
  ASSERT_TRUE(read_otlp_protobuf(
      ProtobufWriter()
          .message(1, ProtobufWriter().message(2, ProtobufWriter().message(2, record)))
          .message(),
      given.lines));
  EXPECT_THAT(given.all(), ElementsAre("unlabelled||-1|10.0.0.9/peer\n"
                                       R"({"log":{"message":"NCCL WARN x"}})"
                                       "\n"));
}

TEST(OtlpProtobuf, ReadsFieldsOfTheJournal) {
  const ProtobufWriter fields = ProtobufWriter()
                                    .message(1, attribute("MESSAGE", "NVRM: Xid"))
                                    .message(1, attribute("_TRANSPORT", "kernel"));
  Given given;
  ASSERT_TRUE(read_otlp_protobuf(
      ProtobufWriter()
          .message(1,
                   ProtobufWriter().message(
                       2, ProtobufWriter().message(
                              2, ProtobufWriter().message(5, ProtobufWriter().message(6, fields)))))
          .message(),
      given.lines));
  EXPECT_THAT(given.all(), ElementsAre("unlabelled||-1|10.0.0.9/kernel\n"
                                       R"({"MESSAGE":"NVRM: Xid","_TRANSPORT":"kernel"})"
                                       "\n"));
}

}  // namespace
}  // namespace faultline
