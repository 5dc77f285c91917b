// What log shippers push, each in its own protocol, to the real server: it is stored once, in the
// sources that its labels name, and answered as the shipper expects.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <snappy.h>

#include <boost/json.hpp>
#include <functional>

#include "curl.h"
#include "doors/protobuf.h"
#include "server_process.h"

namespace faultline {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kXid =
    "NVRM: Xid (PCI:0000:3b:00): 79, pid=812, name=python, GPU has fallen off the bus.";
constexpr std::uint64_t kSecond = 1772679449;

ProtobufWriter text_pair(std::string_view name, std::string_view value) {
  return ProtobufWriter().bytes(1, name).bytes(2, value);
}

ProtobufWriter attribute(std::string_view key, std::string_view value) {
  return ProtobufWriter().bytes(1, key).message(2, ProtobufWriter().bytes(1, value));
}

std::string loki_push() {
  const ProtobufWriter entry = ProtobufWriter()
                                   .message(1, ProtobufWriter().number(1, kSecond))
                                   .bytes(2, kXid)
                                   .message(3, text_pair("detected_level", "error"));
  const ProtobufWriter stream =
      ProtobufWriter()
          .bytes(1, R"({job="llama", hostname="gpu-3", transport="kernel"})")
          .message(2, entry);
  const std::string message = ProtobufWriter().message(1, stream).message();
  std::string packed;
  snappy::Compress(message.data(), message.size(), &packed);
  return packed;
}

std::string otlp_request() {
  const ProtobufWriter resource = ProtobufWriter()
                                      .message(1, attribute("faultline.job", "llama"))
                                      .message(1, attribute("host.name", "gpu-3"));
  const ProtobufWriter record = ProtobufWriter()
                                    .fixed64(1, kSecond * 1'000'000'000)
                                    .message(5, ProtobufWriter().bytes(1, kXid))
                                    .message(6, attribute("syslog.appname", "kernel"));
  const ProtobufWriter scope = ProtobufWriter().message(2, record);
  return ProtobufWriter()
      .message(1, ProtobufWriter().message(1, resource).message(2, scope))
      .message();
}

std::string object_of(const std::string& line) {
  return R"({"@timestamp":"2026-03-05T02:57:29Z","job":"llama","host":{"name":"gpu-3"},)"
         R"("log":{"syslog":{"appname":"kernel"}},"programname":"kernel","message":")" +
         line + "\"}";
}

std::string line(const std::string& json) { return json + "\n"; }

struct Door {
  std::string name;
  std::string path;
  std::string type;
  std::string body;
  int status = 200;
  std::string answer;  // all of it
};

std::vector<Door> doors() {
  const std::string object = object_of(kXid);
  const std::string loki_json =
      R"({"streams":[{"stream":{"job":"llama","hostname":"gpu-3","transport":"kernel"},)"
      R"("values":[["1772679449000000000",")" +
      std::string(kXid) + R"("]]}]})";
  const std::string otlp_json =
      R"({"resourceLogs":[{"resource":{"attributes":[)"
      R"({"key":"faultline.job","value":{"stringValue":"llama"}},)"
      R"({"key":"host.name","value":{"stringValue":"gpu-3"}}]},"scopeLogs":[{"logRecords":[)"
      R"({"timeUnixNano":"1772679449000000000","body":{"stringValue":")" +
      std::string(kXid) +
      R"("},"attributes":[{"key":"syslog.appname","value":{"stringValue":"kernel"}}]}]}]}]})";
  const std::string event =
      R"({"time":1772679449,"host":"gpu-3","fields":{"job":"llama"},"event":"kernel: )" +
      std::string(kXid) + "\"}";
  return {
      {"json", "/api/v1/ingest/json", "application/x-ndjson", object + "\n", 200,
       line(R"({"accepted":1,"refused":0,"jobs":["llama"]})")},
      {"loki_protobuf", "/loki/api/v1/push", "application/x-protobuf", loki_push(), 204, ""},
      {"loki_json", "/loki/api/v1/push", "application/json; charset=utf-8", loki_json, 204, ""},
      {"otlp_protobuf", "/v1/logs", "application/x-protobuf", otlp_request(), 200, ""},
      {"otlp_json", "/v1/logs", "application/json", otlp_json, 200, "{}"},
      {"bulk", "/_bulk?filter_path=took,errors,items.*.status", "application/x-ndjson",
       R"({"create":{"_index":"logs"}})"
       "\n" +
           object + "\n",
       200,
       line(
           R"({"took":0,"errors":false,"items":[{"create":{"_index":"logs","_id":"","status":201}}]})")},
      {"bulk_of_an_index", "/nodes/_bulk", "application/vnd.elasticsearch+json;compatible-with=8",
       "{\"index\":{}}\n" + object + "\n", 200,
       line(
           R"({"took":0,"errors":false,"items":[{"index":{"_index":"nodes","_id":"","status":201}}]})")},
      {"splunk", "/services/collector/event?channel=1", "", event, 200,
       line(R"({"text":"Success","code":0})")},
      {"splunk_raw", "/services/collector/raw?job=llama&host=gpu-3&sourcetype=syslog", "",
       "Mar  5 02:57:29 gpu-3 kernel: " + std::string(kXid) + "\n", 200,
       line(R"({"text":"Success","code":0})")},
  };
}

class EachDoor : public testing::TestWithParam<Door> {};

TEST_P(EachDoor, StoresWhatItAnswersOnceAlsoIfItIsSentAgainAfterAKill) {
  const Door& door = GetParam();
  Workshop workshop;
  workshop.write("body", door.body);
  const std::string type = door.type.empty() ? "" : " -H 'Content-Type: " + door.type + "'";
  const std::string flags = "--data-binary @" + (workshop.folder() / "body").string() + type;
  {
    ServerProcess server(workshop.folder(), {"--stall-after", "0s"});
    const Reply reply = curl(server, door.path, flags);
    EXPECT_EQ(reply.status, door.status);
    EXPECT_EQ(reply.body, door.answer);
    server.kill_now();
  }
  ServerProcess server(workshop.folder(), {"--stall-after", "0s"});
  workshop.make("gzip -c body >out");
  EXPECT_EQ(curl(server, door.path, flags).status, door.status);
  EXPECT_EQ(curl(server, door.path,
                 "-H 'Content-Encoding: gzip' --data-binary @" +
                     (workshop.folder() / "out").string() + type)
                .status,
            door.status);
  const Reply sources = plain_get(server, "/api/v1/sources?job=llama");
  EXPECT_THAT(sources.body, AllOf(HasSubstr(R"("host":"gpu-3")"), HasSubstr(R"("lines":1,)"),
                                  HasSubstr(R"("recognized":1,)")));
  EXPECT_THAT(plain_get(server, "/api/v1/jobs/llama/findings").body,
              AllOf(HasSubstr("gpu.off_bus"), HasSubstr(R"("hosts":["gpu-3"])"),
                    HasSubstr("2026-03-05T02:57:29Z")));
}

INSTANTIATE_TEST_SUITE_P(Push, EachDoor, testing::ValuesIn(doors()),
                         [](const auto& info) { return info.param.name; });

TEST(Push, RefusesWhatIsNotOfItsProtocolInTheWordsOfItsProtocol) {
  Workshop workshop;
  ServerProcess server(workshop.folder());
  const auto answer = [&](const std::string& path, const std::string& type,
                          const std::string& body) {
    const Reply reply =
        curl(server, path, "-H 'Content-Type: " + type + "' --data-binary '" + body + "'");
    return std::to_string(reply.status) + " " + reply.body;
  };
  EXPECT_THAT(answer("/loki/api/v1/push", "application/json", "{"),
              testing::StartsWith("400 this is no push of Loki"));
  EXPECT_THAT(answer("/loki/api/v1/push", "application/x-protobuf", "plain"),
              testing::StartsWith("400 "));
  EXPECT_THAT(answer("/v1/logs", "application/json", "["),
              testing::StartsWith(R"(400 {"code":3,"message":"this is no)"));
  EXPECT_THAT(answer("/v1/logs", "application/x-protobuf", "{}"),
              AllOf(testing::StartsWith("400 \b\x03\x12"), HasSubstr("damaged")));
  EXPECT_THAT(answer("/_bulk", "application/json", "x\n"),
              AllOf(testing::StartsWith("400 "), HasSubstr("illegal_argument_exception")));
  EXPECT_EQ(answer("/services/collector", "application/json", "x"),
            line(R"(400 {"text":"Invalid data format","code":6,"invalid-event-number":0})"));
  EXPECT_THAT(answer("/api/v1/ingest/json", "application/msgpack", "x"),
              testing::StartsWith("415 "));
  EXPECT_THAT(plain_get(server, "/api/v1/jobs").body, HasSubstr(R"("jobs":[])"));
}

TEST(Push, AnswersWhatClientsAskBeforeTheySend) {
  Workshop workshop;
  ServerProcess server(workshop.folder());
  const Reply cluster = curl(server, "/", "-H 'Accept: application/json' -D /dev/stderr");
  EXPECT_THAT(cluster.body, HasSubstr(R"("version":{"number":"8)"));
  EXPECT_THAT(
      curl(server, "/", "-H 'Accept: application/vnd.elasticsearch+json; compatible-with=8'").body,
      HasSubstr(R"("version":{"number":"8)"));
  EXPECT_THAT(plain_get(server, "/").body, HasSubstr("<html"));
  for (const char* path : {"/ready", "/_license", "/_xpack", "/_cluster/health?wait=1",
                           "/services/collector/health/1.0", "/api/v1/ingest/json"})
    EXPECT_EQ(plain_get(server, path).status, 200) << path;
  EXPECT_EQ(curl(server, "/_ilm/policy/logs", "-X PUT -d '{}'").status, 200);
  EXPECT_EQ(curl(server, "/_index_template/logs", "-I").status, 200);
}

TEST(Push, KeepsMessagesWithoutAJobWhereTheyCanBeSeen) {
  Workshop workshop;
  ServerProcess server(workshop.folder());
  EXPECT_EQ(curl(server, "/api/v1/ingest/json", R"(-d '{"message":"x"}')").body,
            line(R"({"accepted":1,"refused":0,"jobs":["unlabelled"]})"));
  EXPECT_EQ(curl(server, "/api/v1/ingest/json?job=mine", R"(-d '{"job":"a","message":"x"}')").body,
            line(R"({"accepted":1,"refused":0,"jobs":["mine"]})"));
}

// Its line is written to "tokens".
std::string token_for_llama(Workshop& workshop) {
  const std::string said = workshop.make(
      "{ '" FAULTLINE_BINARY "' token ship --scope ingest --jobs llama >tokens; } 2>out");
  const std::size_t begin = said.rfind(' ') + 1;
  return said.substr(begin, said.find('\n') - begin);
}

TEST(Push, TakesOnlyMessagesOfJobsThatTheTokenIsGoodFor) {
  Workshop workshop;
  const std::string token = token_for_llama(workshop);
  ServerProcess server(workshop.folder(), {"--tokens", (workshop.folder() / "tokens").string()});
  const std::string both = R"(-d '{"job":"llama-7","log":"x"}{"job":"other","log":"y"}')";
  EXPECT_EQ(curl(server, "/api/v1/ingest/json", both).status, 401);
  const Reply reply =
      curl(server, "/api/v1/ingest/json", "-H 'Authorization: Bearer " + token + "' " + both);
  EXPECT_EQ(reply.body, line(R"({"accepted":1,"refused":1,"jobs":["llama-7"],)"
                             R"("why_refused":"the token is not good for the job other"})"));
  const std::string event = R"(-d '{"event":"x","fields":{"job":"llama-8"}}')";
  EXPECT_EQ(curl(server, "/services/collector", "-H 'Authorization: Splunk " + token + "' " + event)
                .status,
            200);
  EXPECT_EQ(curl(server, "/services/collector", "-u 'splunk:" + token + "' " + event).status, 200);
  EXPECT_EQ(curl(server, "/api/v1/ingest/json?job=other",
                 "-H 'Authorization: Bearer " + token + "' " + both)
                .status,
            403);
  EXPECT_EQ(curl(server, "/journal/other/upload",
                 "-H 'Authorization: Bearer " + token + "' -X POST -d ''")
                .status,
            403);
}

TEST(Push, TellsElasticsearchsClientsWhichDocumentsAreRefused) {
  Workshop workshop;
  const std::string token = token_for_llama(workshop);
  ServerProcess server(workshop.folder(), {"--tokens", (workshop.folder() / "tokens").string()});
  const auto answer = [&](const std::string& jobs) {
    std::string body;
    for (const char job : jobs)
      body += std::string("{\"index\":{}}\n{\"job\":\"") + (job == 'l' ? "llama" : "gpt") +
              "\",\"message\":\"x\"}\n";
    workshop.write("body", body);
    return curl(server, "/_bulk",
                "-H 'Authorization: ApiKey '$(printf 'id:" + token +
                    "' | base64 -w0) --data-binary @" + (workshop.folder() / "body").string());
  };
  const boost::json::object mixed = answer("lgl").json();
  EXPECT_TRUE(mixed.at("errors").as_bool());
  std::vector<std::int64_t> statuses;
  for (const boost::json::value& item : mixed.at("items").as_array())
    statuses.push_back(item.at("index").at("status").as_int64());
  EXPECT_THAT(statuses, testing::ElementsAre(201, 400, 201));
  EXPECT_EQ(answer("gg").status, 403);
}

TEST(Push, TakesBodiesThatBeginAlikeForDifferentOnes) {
  Workshop workshop;
  ServerProcess server(workshop.folder());
  const std::string first = R"({"message":"gpu-1:1:1 [0] NCCL WARN Call to connect failed"})";
  for (const std::string rest : {"", R"({"message":"next"})", R"({"message":"third"})"}) {
    workshop.write("body", first + rest);
    EXPECT_EQ(curl(server, "/api/v1/ingest/json?job=llama&host=h",
                   "--data-binary @" + (workshop.folder() / "body").string())
                  .status,
              200);
  }
  EXPECT_THAT(plain_get(server, "/api/v1/sources?job=llama").body, HasSubstr(R"("lines":5,)"));
}

TEST(Push, RefusesABodyThatUnpacksToTooMuch) {
  Workshop workshop;
  ServerProcess server(workshop.folder());
  const Reply bomb = curl(server, "/loki/api/v1/push",
                          "-H 'Content-Encoding: gzip' -H 'Content-Type: application/json' "
                          "--data-binary @-",
                          "head -c 100000000 /dev/zero | gzip -c |");
  EXPECT_EQ(bomb.status, 413);
  // Snappy says at the beginning how long the text is.
  workshop.write("claim", std::string("\xff\xff\xff\xff\x07") + "x");
  EXPECT_EQ(curl(server, "/loki/api/v1/push",
                 "-H 'Content-Type: application/x-protobuf' --data-binary @" +
                     (workshop.folder() / "claim").string())
                .status,
            413);
  EXPECT_EQ(curl(server, "/v1/logs", "-H 'Content-Encoding: br' -d '{}'").status, 415);
  EXPECT_EQ(curl(server, "/v1/logs", "-H 'Content-Encoding: gzip' -d '{}'").status, 400);
}

TEST(Push, ReadsOnWhereTheBatchBeforeBrokeOff) {
  const std::vector<std::string> traceback{
      "Traceback (most recent call last):", "  File \\\"/app/train.py\\\", line 10, in <module>",
      "    main()", "RuntimeError: CUDA error: an illegal memory access was encountered"};
  Workshop workshop;
  ServerProcess server(workshop.folder(), {"--stall-after", "0s"});
  const auto push = [&](std::size_t first, std::size_t last) {
    std::string body;
    for (std::size_t i = first; i < last; ++i)
      body += R"({"job":"llama","host":"gpu-3","time":"2026-03-05T02:57:29.00)" +
              std::to_string(i) + R"(Z","message":")" + traceback[i] + "\"}\n";
    workshop.write("body", body);
    const std::string flags = "--data-binary @" + (workshop.folder() / "body").string();
    for (int times = 0; times < 2; ++times)
      EXPECT_EQ(curl(server, "/api/v1/ingest/json", flags).status, 200);
  };
  push(0, 2);
  push(2, 4);
  EXPECT_THAT(plain_get(server, "/api/v1/jobs/llama/findings").body,
              HasSubstr("software.gpu_memory_fault"));
  EXPECT_THAT(plain_get(server, "/api/v1/sources?job=llama").body, HasSubstr(R"("lines":4,)"));
}

}  // namespace
}  // namespace faultline
