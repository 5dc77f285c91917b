// Stands between an agent and a server: counts what goes to the server, and can be a server of an
// older version that does not know what agents read.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>
#include <thread>
#include <vector>

#include "real_program.h"

namespace faultline {

class Relay {
 public:
  explicit Relay(int server_port, bool is_old = false)
      : server_port_(server_port), is_old_(is_old), listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    const sockaddr_in address = on_loopback(0);
    EXPECT_EQ(bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener_, 16), 0);
    sockaddr_in bound{};
    socklen_t size = sizeof bound;
    getsockname(listener_, reinterpret_cast<sockaddr*>(&bound), &size);
    port_ = ntohs(bound.sin_port);
    thread_ = std::thread([this] { run(); });
  }
  ~Relay() {
    stopped_ = true;
    thread_.join();
    for (const Pair& pair : pairs_) close(pair.agent), close(pair.server);
    close(listener_);
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  int port() const { return port_; }
  std::uint64_t bytes_to_server() const { return to_server_; }
  std::uint64_t blocks_refused() const { return refused_; }
  std::uint64_t bodies_of_blocks() const { return bodies_of_blocks_; }

 private:
  struct Pair {
    int agent;
    int server;
  };

  void run() {
    while (!stopped_) {
      std::vector<pollfd> wanted{{listener_, POLLIN, 0}};
      for (const Pair& pair : pairs_) {
        wanted.push_back({pair.agent, POLLIN, 0});
        wanted.push_back({pair.server, POLLIN, 0});
      }
      poll(wanted.data(), wanted.size(), 20);
      std::vector<Pair> open;
      for (std::size_t i = 0; i < pairs_.size(); ++i)
        if ((wanted[1 + 2 * i].revents == 0 || pass(pairs_[i].agent, pairs_[i].server, true)) &&
            (wanted[2 + 2 * i].revents == 0 || pass(pairs_[i].server, pairs_[i].agent, false)))
          open.push_back(pairs_[i]);
        else
          close(pairs_[i].agent), close(pairs_[i].server);
      pairs_ = open;
      if (wanted[0].revents != 0) take_connection();
    }
  }

  void take_connection() {
    const int agent = accept(listener_, nullptr, nullptr);
    const int server = socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in address = on_loopback(server_port_);
    if (connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
      pairs_.push_back({agent, server});
      return;
    }
    close(agent), close(server);
  }

  // False: the connection ends.
  bool pass(int from, int to, bool is_to_server) {
    std::array<char, 65536> buffer;
    const ssize_t count = recv(from, buffer.data(), buffer.size(), 0);
    if (count <= 0) return false;
    std::string_view bytes(buffer.data(), static_cast<std::size_t>(count));
    const bool knows_not = bytes.starts_with("GET /api/v1/ingest/read") ||
                           bytes.starts_with("PUT /api/v1/ingest/read");
    if (is_to_server && is_old_ && knows_not) {
      ++refused_;
      constexpr std::string_view kUnknown =
          "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
      (void)!send(from, kUnknown.data(), kUnknown.size(), MSG_NOSIGNAL);
      return false;
    }
    if (is_to_server) to_server_ += bytes.size();
    if (is_to_server && bytes.starts_with("PUT /api/v1/ingest/read")) ++bodies_of_blocks_;
    while (!bytes.empty()) {
      const ssize_t sent = send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  const int server_port_;
  const bool is_old_;
  int listener_;
  int port_ = 0;
  std::vector<Pair> pairs_;
  std::atomic<std::uint64_t> to_server_ = 0;
  std::atomic<std::uint64_t> refused_ = 0;
  std::atomic<std::uint64_t> bodies_of_blocks_ = 0;
  std::atomic<bool> stopped_ = false;
  std::thread thread_;
};

}  // namespace faultline
