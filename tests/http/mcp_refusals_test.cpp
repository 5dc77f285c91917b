// What /mcp answers to messages that are wrong, hostile or of a page of another origin.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <memory>
#include <string>

#include "curl.h"
#include "mcp_client.h"
#include "server_process.h"
#include "workshop.h"

namespace faultline {
namespace {

namespace json = boost::json;
using testing::HasSubstr;
using testing::Not;

class McpRefusals : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    workshop = std::make_unique<Workshop>();
    server = std::make_unique<ServerProcess>(workshop->folder());
    send_fallen_gpu(*server, "llama");
    send_fallen_gpu(*server, "a%2Fb");
  }
  static void TearDownTestSuite() {
    server.reset();
    workshop.reset();
  }

  static inline std::unique_ptr<Workshop> workshop;
  static inline std::unique_ptr<ServerProcess> server;
};

TEST_F(McpRefusals, WhatIsWrongWithACallIsToldInItsResult) {
  struct Wrong {
    const char* reason;
    const char* tool;
    const char* arguments;
    const char* told;
  };
  const Wrong table[] = {
      {"no such job", "diagnose", R"({"job":"none"})", "Here that is the tool list_jobs."},
      {"no such attempt", "explain", R"({"job":"llama","attempt":9})", "has no attempt 9"},
      {"no such finding", "get_finding", R"({"finding":"f0"})", "the tool list_findings"},
      {"no such source", "evidence_lines", R"({"job":"llama","source":"x","line":1})",
       "no such source"},
      {"an argument is missing", "diagnose", "{}", "the argument job is missing"},
      {"null is no value", "diagnose", R"({"job":null})", "the argument job is missing"},
      {"an unknown argument", "list_jobs", R"({"colour":"red"})",
       "those taken here are verdict, since, sort, limit, cursor"},
      {"an argument of the API that is no argument of the tool", "list_jobs",
       R"({"format":"text"})", "unknown argument \"format\""},
      {"a number for a text", "diagnose", R"({"job":7})", "job must be of type string"},
      {"a text for a number", "list_jobs", R"({"limit":"7"})", "limit must be of type integer"},
      {"a fraction", "list_jobs", R"({"limit":1.5})", "limit must be of type integer"},
      {"a number that is too large", "list_findings", R"({"limit":101})", "from 1 to 100, not 101"},
      {"a number beyond all bounds", "list_findings", R"({"rank":18446744073709551615})",
       "from 0 to 2147483647"},
      {"a text for a list", "list_jobs", R"({"verdict":"hang"})", "verdict must be of type array"},
      {"a list of lists", "list_jobs", R"({"verdict":[["hang"]]})",
       "verdict must be of type string"},
      {"a word that is not known", "list_jobs", R"({"sort":"colour"})",
       "one of activity, severity, not \"colour\""},
      {"an empty list", "list_jobs", R"({"verdict":[]})", "verdict must be"},
      {"an empty name", "diagnose", R"({"job":""})", "job is empty"},
      {"a name that leads elsewhere", "diagnose", R"({"job":"../../../metrics"})",
       "an address has no"},
      {"a name that is a path of its own", "diagnose", R"({"job":".."})", "job may not be"},
      {"control characters in a name", "diagnose", R"({"job":"a\u0000b\u001b[31m"})",
       "must be printable UTF-8"},
      {"control characters in a filter", "list_jobs", R"({"since":"\u0000\n"})", "since must be"},
      {"another parameter inside a value", "list_findings", R"({"since":"x&job=llama"})",
       "since must be"},
      {"a cursor of another list", "list_rules", R"({"cursor":"zz"})", "cursor"},
  };
  McpClient client(*server);
  client.start();
  for (const Wrong& wrong : table) {
    SCOPED_TRACE(wrong.reason);
    const json::object result = client.call(wrong.tool, wrong.arguments);
    EXPECT_EQ(result.at("isError"), true);
    EXPECT_THAT(mcp_text(result), HasSubstr(wrong.told));
    EXPECT_FALSE(result.contains("structuredContent"));
  }
  EXPECT_EQ(client.call("diagnose", R"({"job":"a/b"})").at("structuredContent").at("job"), "a/b");
  EXPECT_EQ(client.call("diagnose", R"({"job":"none","job":"llama"})").at("isError"), false)
      << "the last of two members counts";
}

TEST_F(McpRefusals, WhatIsWrongWithAMessageIsAnErrorOfTheProtocol) {
  struct Bad {
    const char* reason;
    std::string body;
    int status;
    const char* code;
    const char* id;
  };
  const std::string deep(5000, '[');
  const std::string deep_object =
      R"({"jsonrpc":"2.0","id":1,"method":"ping","params":)" + std::string(100, '{') + "}";
  const Bad table[] = {
      {"nothing", "", 400, "-32700", "null"},
      {"no JSON", "{", 400, "-32700", "null"},
      {"two values", "{} {}", 400, "-32700", "null"},
      {"no UTF-8", "\"\xff\"", 400, "-32700", "null"},
      {"deep lists", deep, 400, "-32700", "null"},
      {"deep objects", deep_object, 400, "-32700", "null"},
      {"a number", "7", 400, "-32600", "null"},
      {"no jsonrpc", R"({"id":1,"method":"ping"})", 400, "-32600", "null"},
      {"another jsonrpc", R"({"jsonrpc":2.0,"id":1,"method":"ping"})", 400, "-32600", "null"},
      {"the id null", R"({"jsonrpc":"2.0","id":null,"method":"ping"})", 400, "-32600", "null"},
      {"a fraction as id", R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", 400, "-32600", "null"},
      {"an id beyond all bounds", R"({"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"})",
       400, "-32600", "null"},
      {"an object as id", R"({"jsonrpc":"2.0","id":{},"method":"ping"})", 400, "-32600", "null"},
      {"a number as method", R"({"jsonrpc":"2.0","id":1,"method":7})", 400, "-32600", "null"},
      {"neither method nor result", R"({"jsonrpc":"2.0","id":1})", 400, "-32600", "null"},
      {"a list", "[]", 400, "-32600", "null"},
      {"a list as params", R"({"jsonrpc":"2.0","id":"x","method":"ping","params":[1]})", 200,
       "-32602", "x"},
      {"no such method", R"({"jsonrpc":"2.0","id":1,"method":"prompts/list"})", 200, "-32601", "1"},
      {"a method with control characters", R"({"jsonrpc":"2.0","id":1,"method":"a\u0000"})", 200,
       "-32601", "1"},
      {"no version", R"({"jsonrpc":"2.0","id":1,"method":"initialize"})", 200, "-32602", "1"},
      {"a number as version",
       R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}})", 200,
       "-32602", "1"},
      {"no tool", R"({"jsonrpc":"2.0","id":1,"method":"tools/call"})", 200, "-32602", "1"},
      {"no such tool", R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}})",
       200, "-32602", "1"},
      {"a list as arguments",
       R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_jobs","arguments":[]}})",
       200, "-32602", "1"},
      {"no URI", R"({"jsonrpc":"2.0","id":1,"method":"resources/read"})", 200, "-32602", "1"},
  };
  McpClient client(*server);
  client.start();
  for (const Bad& bad : table) {
    SCOPED_TRACE(bad.reason);
    const HttpReply reply = client.post(bad.body);
    EXPECT_EQ(reply.status, bad.status);
    EXPECT_EQ(reply.text("/error/code"), bad.code);
    EXPECT_EQ(reply.text("/id"), bad.id);
  }
  const std::string ping = R"({"jsonrpc":"2.0","id":18446744073709551615,"method":"ping"})";
  EXPECT_EQ(client.post(ping).text("/id"), "18446744073709551615");
  EXPECT_EQ(client.post(R"({"jsonrpc":"2.0","id":7,"result":{}})").status, 202) << "a response";
  EXPECT_EQ(client.notify("tools/call"), 202) << "without an id, any method is a notification";
  const HttpReply large = client.post(std::string(65 * 1024, ' '));
  EXPECT_EQ(large.status, 413);
}

TEST_F(McpRefusals, WhatIsNoMessageOfTheTransportIsRefusedByHttp) {
  const McpClient client(*server);
  const std::string ping = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  const std::string as_json = "Content-Type: application/json\r\n";
  const auto status = [&](const std::string& headers) {
    return client.send("POST", ping, headers).status;
  };
  EXPECT_EQ(status(as_json), 200) << "a client that names no type takes any";
  EXPECT_EQ(status(as_json + "Accept: */*\r\n"), 200);
  EXPECT_EQ(status(as_json + "Accept: text/event-stream\r\n"), 406);
  EXPECT_EQ(status("Content-Type: text/plain\r\n"), 415) << "what a form of a page can send";
  EXPECT_EQ(status(""), 415);
  EXPECT_EQ(status(as_json + "MCP-Protocol-Version: 2025-06-18\r\n"), 200);
  const HttpReply unknown =
      client.send("POST", ping, as_json + "MCP-Protocol-Version: 1999-01-01\r\n");
  EXPECT_EQ(unknown.status, 400);
  EXPECT_THAT(unknown.body, HasSubstr("(supported versions: 2025-11-25, 2025-06-18)"));
  EXPECT_EQ(status(as_json + "Origin: http://evil.example\r\n"), 403);
  EXPECT_EQ(status(as_json + "Origin: null\r\n"), 403);
  EXPECT_EQ(status(as_json + "Origin: http://localhost\r\n"), 200) << "the Host is localhost";
  EXPECT_EQ(status(as_json + "Host: evil.example\r\n"), 421) << "a name that leads to this machine";
  for (const char* method : {"GET", "DELETE", "PUT"}) {
    const HttpReply reply = client.send(method, "", "Accept: text/event-stream\r\n");
    EXPECT_EQ(reply.status, 405) << method;
    EXPECT_THAT(reply.head, HasSubstr("Allow: POST, OPTIONS\r\n"));
  }
  EXPECT_THAT(client.post(ping).head, Not(HasSubstr("Mcp-Session-Id")));
}

}  // namespace
}  // namespace faultline
