#include "ingest/unwrap/shipper_json.h"

#include <gtest/gtest.h>

#include "unwrapping.h"

namespace faultline {
namespace {

const std::string kNccl = "node7:4242:4243 [0] NCCL INFO AllReduce: opCount 1e";
const std::string kWall = "2026-03-05T02:47:11.123Z+1000";

TEST(ShipperJson, GivesTheLineItsTimeAndItsHost) {
  const Told known{.text = kNccl, .host = "n7", .wall = kWall};
  const std::string at = R"("2026-03-05T02:47:11.123Z")";
  const std::string line = R"(":")" + kNccl + R"(")";
  const UnwrapCase cases[] = {
      {"Vector",
       R"({"file":"/var/log/nccl.log","host":"n7","message)" + line +
           R"(,"source_type":"file","timestamp":)" + at + "}",
       known},
      {"Vector, Kubernetes",
       R"({"kubernetes":{"pod_name":"job-0","pod_node_name":"n7"},"message)" + line +
           R"(,"timestamp":)" + at + "}",
       known},
      {"Filebeat",
       R"({"@timestamp":)" + at + R"(,"@metadata":{"beat":"filebeat"},"log":{"offset":0,"file":{)" +
           R"("path":"/x"}},"message)" + line + R"(,"host":{"name":"n7"},"agent":{"type":"x"}})",
       known},
      {"Filebeat, flat names",
       R"({"@timestamp":)" + at + R"(,"host.name":"n7","message)" + line + "}", known},
      {"Logstash",
       R"({"@version":"1","event":{"original":"raw"},"host":{"hostname":"n7"},"message)" + line +
           R"(,"@timestamp":)" + at + "}",
       known},
      {"Fluent Bit",
       R"({"date":1772678831.123,"log)" + kNccl.substr(0, 0) + line +
           R"(,"kubernetes":{"pod_name":"job-0","host":"n7"}})",
       known},
      {"Splunk's events",
       R"({"time":1772678831.123,"host":"n7","sourcetype":"nccl","event)" + line + "}", known},
      {"Splunk's events, the time as text",
       R"({"time":"1772678831.123","host":"n7","event":{"message)" + line + "}}", known},
      {"Google Cloud Logging",
       R"({"insertId":"x","resource":{"labels":{"node_name":"n7"}},"textPayload)" + line +
           R"(,"timestamp":)" + at + "}",
       known},
      {"OpenTelemetry",
       R"({"timeUnixNano":"1772678831123000000","body":{"stringValue)" + line + R"(},"host":"n7"})",
       {.text = kNccl, .host = "n7", .wall = "2026-03-05T02:47:11.123Z"}},
      {"milliseconds", R"({"ts":1772678831123,"hostname":"n7","msg)" + line + "}", known},
      {"a time that is none gives way to one",
       R"({"time":"yesterday","@timestamp":)" + at + R"(,"host":"n7","message)" + line + "}",
       known},
      {"no time, no host", R"({"message)" + line + "}", {.text = kNccl}},
      {"indented", R"(   { "message)" + line + " }", {.text = kNccl}},
      {"the rest of a list", R"({"message)" + line + "},", {.text = kNccl}},
      {"the pod, where no host is named",
       R"({"kubernetes":{"pod_name":"job-0"},"message)" + line + "}",
       {.text = kNccl, .host = "job-0"}},
      {"a program of the journal",
       R"({"SYSLOG_IDENTIFIER":"python","message":"x"})",
       {.text = "x", .from_user_space = true}},
      {"the kernel",
       R"({"_TRANSPORT":"kernel","message":"[    1.500000] NVRM: x"})",
       {.text = "NVRM: x", .uptime_us = 1500000}},
      {"what Docker wrote, within",
       R"({"message":"2026-03-05T02:47:11.123Z stdout F x"})",
       {.text = "x", .wall = kWall}},
  };
  for (const UnwrapCase& c : cases) {
    SCOPED_TRACE(c.why);
    EXPECT_EQ(unwrap_one(c.line), c.expected);
  }
}

TEST(ShipperJson, GivesEachOfSeveralRecordsOnALine) {
  EXPECT_EQ(
      unwrap_all({R"({"event":"a","host":"n"}{"event":"b"} {"event":"c\nd"})"}),
      (std::vector<Told>{{.text = "a", .host = "n"}, {.text = "b"}, {.text = "c"}, {.text = "d"}}));
  EXPECT_EQ(unwrap_all({R"({"log":"a"}, {"log":"b"}])"}),
            (std::vector<Told>{{.text = "a"}, {.text = "b"}}));
}

TEST(ShipperJson, LeavesAloneWhatHoldsNoLine) {
  for (const char* line :
       {R"({"level":"info"})", R"({"message":7})", R"({"message":{"text":"x"}})",
        R"({"message":"x")", R"({"message":"x"} and more)", R"({"a":{"b":{"message":"x"}}})",
        R"({"a":"message"})", R"({"message":)", R"({"commit message":"x"})"}) {
    EXPECT_EQ(unwrap_one(line), Told{.text = line});
  }
}

TEST(ShipperJson, NamesWhatItLooksFor) {
  EXPECT_TRUE(names_of_line_fields().starts_with("message, log, msg, MESSAGE, event, "));
}

}  // namespace
}  // namespace faultline
