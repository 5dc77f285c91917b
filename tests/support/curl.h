// Requests to a server: by the real curl, run through a shell as a user would, and plain ones.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/json.hpp>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>

#include "eventually.h"
#include "server_process.h"

namespace faultline {

struct Reply {
  int exit = -1;  // the status of the shell's last command
  int status = 0;
  std::string body;

  boost::json::object json() const {
    boost::system::error_code error;
    const boost::json::value value = boost::json::parse(body, error);
    EXPECT_TRUE(!error && value.is_object()) << status << ' ' << body;
    return error || !value.is_object() ? boost::json::object{} : value.as_object();
  }
};

inline std::string output_of(const std::string& command, int* exit = nullptr) {
  std::string output;
  std::FILE* pipe = popen(command.c_str(), "r");
  std::array<char, 65536> buffer;
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    output.append(buffer.data(), n);
  const int ended = pclose(pipe);
  if (exit != nullptr) *exit = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
  return output;
}

// Runs curl FLAGS URL. `before` is what feeds its stdin, such as "gzip -c file |".
inline Reply curl(const ServerProcess& server, const std::string& path,
                  const std::string& flags = "", const std::string& before = "") {
  Reply reply;
  const std::string mark = "\n<<status>>";
  std::string output =
      output_of(before + " curl -sS --max-time 120 -w '" + mark + "%{http_code}' " + flags + " '" +
                    server.url(path) + "' 2>/dev/null",
                &reply.exit);
  const std::size_t at = output.rfind(mark);
  if (at == std::string::npos) return reply;
  reply.status = std::atoi(output.c_str() + at + mark.size());
  reply.body = output.substr(0, at);
  return reply;
}

// A request without a body, over a socket of the test itself. The tests make thousands; each curl
// takes 20 ms of processor time to start.
inline Reply plain_request(const ServerProcess& server, std::string_view method,
                           const std::string& path, const std::string& secret = "") {
  Reply reply;
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(server.port()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const timeval limit{.tv_sec = 120, .tv_usec = 0};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  std::string answer;
  if (connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    std::string request(method);
    request += " " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) +
               "\r\nAccept: */*\r\nConnection: close\r\n";
    if (!secret.empty()) request += "Authorization: Bearer " + secret + "\r\n";
    if (method != "GET") request += "Content-Length: 0\r\n";
    request += "\r\n";
    send(socket, request.data(), request.size(), MSG_NOSIGNAL);
    std::array<char, 65536> buffer;
    for (ssize_t n = 0; (n = recv(socket, buffer.data(), buffer.size(), 0)) > 0;)
      answer.append(buffer.data(), static_cast<std::size_t>(n));
  }
  close(socket);
  const std::size_t head = answer.find("\r\n\r\n");
  if (!answer.starts_with("HTTP/1.1 ") || head == std::string::npos) return reply;
  reply.exit = 0;
  reply.status = std::atoi(answer.c_str() + 9);
  reply.body = answer.substr(head + 4);
  return reply;
}

inline Reply plain_get(const ServerProcess& server, const std::string& path) {
  return plain_request(server, "GET", path);
}

// Asks again until the answer is as hoped for; fails the test after a minute.
template <class Hope>
Reply await(const ServerProcess& server, const std::string& path, Hope&& hope) {
  Reply reply;
  EXPECT_TRUE(eventually([&] {
    reply = plain_get(server, path);
    return hope(reply);
  })) << path
      << ": " << reply.status << ' ' << reply.body;
  return reply;
}

}  // namespace faultline
