// A receiver of alerts that does what the test says: it answers, refuses, hangs, or closes the
// connection.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <boost/json.hpp>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace faultline {

class FakeReceiver {
 public:
  // What to do with a connection whose request has been read; the socket is closed after it.
  using Behaviour = std::function<void(int socket)>;

  FakeReceiver() : FakeReceiver(answer("200 OK")) {}
  explicit FakeReceiver(Behaviour behaviour) : behaviour_(std::move(behaviour)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener_, 16), 0);
    socklen_t size = sizeof address;
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~FakeReceiver() {
    stop_ = true;
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  FakeReceiver(const FakeReceiver&) = delete;
  FakeReceiver& operator=(const FakeReceiver&) = delete;

  static Behaviour answer(const std::string& status, const std::string& headers = "",
                          const std::string& body = "") {
    return [=](int socket) {
      say(socket, "HTTP/1.1 " + status + "\r\n" + headers + "Content-Length: " +
                      std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body);
    };
  }
  static bool say(int socket, std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = send(socket, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  void behave(Behaviour behaviour) {
    const std::lock_guard lock(mutex_);
    behaviour_ = std::move(behaviour);
  }

  int port() const { return port_; }
  std::string url(const std::string& path = "/hook") const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }

  struct Heard {
    std::string head;
    std::string body;
    boost::json::object json() const { return boost::json::parse(body).as_object(); }
  };
  std::vector<Heard> heard() const {
    const std::lock_guard lock(mutex_);
    return heard_;
  }
  // Waits for so many messages. Returns false if they do not come in time.
  bool await(std::size_t count, std::chrono::milliseconds limit = std::chrono::seconds{30}) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, limit, [&] { return heard_.size() >= count; });
  }

 private:
  void serve() {
    while (!stop_) {
      const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0) return;
      timeval limit{.tv_sec = 20, .tv_usec = 0};
      setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
      Heard heard;
      std::string text;
      std::size_t size = 0;
      char buffer[65536];
      for (;;) {
        const std::size_t head = text.find("\r\n\r\n");
        if (head != std::string::npos) {
          heard.head = text.substr(0, head + 2);
          const std::size_t field = heard.head.find("Content-Length: ");
          size = field == std::string::npos ? 0 : std::stoul(heard.head.substr(field + 16));
          heard.body = text.substr(head + 4);
          if (heard.body.size() >= size) break;
        }
        const ssize_t got = recv(client, buffer, sizeof buffer, 0);
        if (got <= 0) break;
        text.append(buffer, static_cast<std::size_t>(got));
      }
      Behaviour behaviour;
      {
        const std::lock_guard lock(mutex_);
        heard_.push_back(std::move(heard));
        behaviour = behaviour_;
      }
      changed_.notify_all();
      if (behaviour) behaviour(client);
      close(client);
    }
  }

  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stop_{false};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Behaviour behaviour_;
  std::vector<Heard> heard_;
  std::thread thread_;
};

}  // namespace faultline
