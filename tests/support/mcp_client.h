// A client of the Model Context Protocol that is written to the specification: each message is a
// POST of its own, and the test sees the bytes that came back.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <string>

#include "curl.h"
#include "raw_client.h"
#include "server_process.h"

namespace faultline {

inline constexpr const char* kFallen =
    "2026-03-05T02:47:10Z gpu-7 kernel: NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the "
    "bus.\n";
inline constexpr const char* kHello =
    R"({"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}})";

struct HttpReply {
  int status = 0;
  std::string head;
  std::string body;

  std::string text(const char* pointer) const {
    boost::system::error_code error;
    const boost::json::value message = boost::json::parse(body, error);
    const boost::json::value* found = error ? nullptr : message.find_pointer(pointer, error);
    if (found == nullptr) return "nothing at " + std::string(pointer) + ": " + body;
    return found->is_string() ? std::string(found->as_string()) : boost::json::serialize(*found);
  }
};

// A client as the transport of the specification wants it: each message is a POST of its own.
class McpClient {
 public:
  explicit McpClient(const ServerProcess& server, std::string secret = "")
      : server_(server), secret_(std::move(secret)) {}

  HttpReply send(const std::string& method, const std::string& body,
                 const std::string& headers) const {
    RawClient client(server_.port());
    client.say(fmt::format("{} /mcp HTTP/1.1\r\n{}{}Content-Length: {}\r\n\r\n{}", method,
                           headers.find("Host: ") == std::string::npos ? "Host: localhost\r\n" : "",
                           headers, body.size(), body));
    const std::string answer = client.hear();
    const std::size_t end = answer.find("\r\n\r\n");
    if (end == std::string::npos) return {0, answer, ""};
    return {std::stoi(answer.substr(9)), answer.substr(0, end + 2), answer.substr(end + 4)};
  }

  HttpReply post(const std::string& body, const std::string& more_headers = "") const {
    std::string headers =
        "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n" +
        more_headers;
    if (!secret_.empty()) headers += "Authorization: Bearer " + secret_ + "\r\n";
    if (!version_.empty()) headers += "MCP-Protocol-Version: " + version_ + "\r\n";
    return send("POST", body, headers);
  }

  // Returns the result; the test fails if there is none.
  boost::json::object request(const std::string& method, const std::string& params = "{}") {
    const int id = ++last_id_;
    const HttpReply reply = post(fmt::format(
        R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{}}})", id, method, params));
    EXPECT_EQ(reply.status, 200) << reply.body;
    EXPECT_THAT(reply.head, testing::HasSubstr("Content-Type: application/json\r\n"));
    EXPECT_EQ(reply.text("/jsonrpc"), "2.0");
    EXPECT_EQ(reply.text("/id"), std::to_string(id));
    boost::system::error_code error;
    const boost::json::value message = boost::json::parse(reply.body, error);
    const boost::json::value* result = error ? nullptr : message.find_pointer("/result", error);
    EXPECT_NE(result, nullptr) << method << ' ' << reply.body;
    return result == nullptr ? boost::json::object() : result->as_object();
  }

  int notify(const std::string& method) const {
    const HttpReply reply = post(fmt::format(R"({{"jsonrpc":"2.0","method":"{}"}})", method));
    EXPECT_EQ(reply.body, "");
    EXPECT_THAT(reply.head, testing::Not(testing::HasSubstr("\r\nContent-Type")));
    return reply.status;
  }

  boost::json::object start() {
    boost::json::object hello = request("initialize", kHello);
    version_ = hello.at("protocolVersion").as_string();
    EXPECT_EQ(notify("notifications/initialized"), 202);
    return hello;
  }

  boost::json::object call(const std::string& tool, const std::string& arguments) {
    return request("tools/call", fmt::format(R"({{"name":"{}","arguments":{}}})", tool, arguments));
  }

 private:
  const ServerProcess& server_;
  std::string secret_;
  std::string version_;
  int last_id_ = 0;
};

inline std::string mcp_text(const boost::json::object& result) {
  return std::string(result.at("content").at(0).at("text").as_string());
}

// A job of one line: a GPU that fell off the bus.
inline void send_fallen_gpu(const ServerProcess& server, const std::string& job,
                            const std::string& flags = "") {
  const Reply reply =
      curl(server, "/api/v1/ingest?source=dmesg&final=true&job=" + job,
           flags + " --data-binary @- ", "printf '%s' '" + std::string(kFallen) + "' |");
  ASSERT_EQ(reply.status, 200) << reply.body;
}

}  // namespace faultline
