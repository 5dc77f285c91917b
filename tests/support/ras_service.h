// What listens at the port of NCCL's RAS service, for one client.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>

#include "fake_receiver.h"

namespace faultline {

class RasService {
 public:
  // `port`: 0 means one that is free. Programs that are started meanwhile have the socket, too.
  RasService(std::string greeting, std::string report, std::uint16_t port = 0) {
    listener_ = socket(AF_INET, SOCK_STREAM, 0);
    const int again = 1;
    setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &again, sizeof again);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(listener_, reinterpret_cast<const sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listener_, 1), 0);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this, greeting, report] {
      const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      heard_ += line_of(client);
      FakeReceiver::say(client, greeting);
      if (greeting.starts_with("SERVER")) {
        heard_ += line_of(client);
        FakeReceiver::say(client, "OK\n");
        heard_ += line_of(client);
      } else {
        line_of(client);  // until the other side has had enough
      }
      FakeReceiver::say(client, report);
      close(client);
    });
  }
  ~RasService() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  RasService(const RasService&) = delete;
  RasService& operator=(const RasService&) = delete;

  std::uint16_t port() const { return port_; }
  std::string heard() {
    thread_.join();
    thread_ = std::jthread([] {});
    return heard_;
  }

 private:
  static std::string line_of(int client) {
    std::string line;
    for (char c = 0; c != '\n' && recv(client, &c, 1, 0) == 1;) line += c;
    return line;
  }

  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::string heard_;
  std::jthread thread_;
};

}  // namespace faultline
