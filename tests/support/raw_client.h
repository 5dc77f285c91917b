// A socket that sends exactly the bytes that a test gives it.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>

namespace faultline {

class RawClient {
 public:
  // `from`: another loopback address, which is another peer.
  explicit RawClient(int port, const std::string& from = "")
      : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    if (!from.empty()) {
      sockaddr_in own{};
      own.sin_family = AF_INET;
      EXPECT_EQ(inet_pton(AF_INET, from.c_str(), &own.sin_addr), 1);
      EXPECT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    // A server that never answers fails the test instead of hanging it.
    timeval limit{.tv_sec = 60, .tv_usec = 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  ~RawClient() { close(socket_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  // Returns false once the server has closed the connection.
  bool say(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  void say_no_more() { shutdown(socket_, SHUT_WR); }

  // Reads one answer, head and body.
  std::string hear() {
    while (heard_.find("\r\n\r\n") == std::string::npos)
      if (!receive()) return take(heard_.size());
    const std::size_t head = heard_.find("\r\n\r\n") + 4;
    const std::size_t field = heard_.find("Content-Length: ");
    const bool bodyless = expect_no_body_ || field == std::string::npos || field > head;
    const std::size_t body = bodyless ? 0 : std::stoul(heard_.substr(field + 16));
    while (heard_.size() < head + body)
      if (!receive()) break;
    return take(head + body);
  }

  // Reads the answer to HEAD, which has a Content-Length and no body.
  std::string hear_head() {
    expect_no_body_ = true;
    std::string head = hear();
    expect_no_body_ = false;
    return head;
  }

  // Reads up to and including this text, or less if the server closes the connection before.
  std::string hear_until(std::string_view text) {
    while (heard_.find(text) == std::string::npos)
      if (!receive()) return take(heard_.size());
    return take(heard_.find(text) + text.size());
  }

  // Waits for the end of the connection. True if the server closes it and sends nothing more.
  bool hears_the_end() {
    while (receive()) {
    }
    return ended_ && heard_.empty();
  }

 private:
  bool receive() {
    std::array<char, 65536> buffer;
    const ssize_t received = recv(socket_, buffer.data(), buffer.size(), 0);
    if (received <= 0) {
      ended_ = received == 0;
      return false;
    }
    heard_.append(buffer.data(), static_cast<std::size_t>(received));
    return true;
  }

  std::string take(std::size_t bytes) {
    std::string taken = heard_.substr(0, bytes);
    heard_.erase(0, taken.size());
    return taken;
  }

  int socket_;
  std::string heard_;
  bool expect_no_body_ = false;
  bool ended_ = false;
};

}  // namespace faultline
