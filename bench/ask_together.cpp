// Clients that send the same request to a server of this machine, again as soon as they are
// answered, for so many seconds. Prints the answers per second. Exits with 1 if an answer was not
// 200, or a client got none.
//
//   ask_together PORT CLIENTS SECONDS PATH
#include <poll.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "local_socket.h"

namespace {

struct Client {
  std::string heard;
  long answers = 0;
};

// Removes a complete answer from what was received.
bool take_answer(std::string& heard) {
  constexpr std::string_view kLength = "Content-Length: ";
  const std::size_t head = heard.find("\r\n\r\n");
  const std::size_t length = heard.find(kLength);
  if (head == std::string::npos || length > head) return false;
  const std::size_t whole = head + 4 + std::stoul(heard.substr(length + kLength.size(), 20));
  if (heard.size() < whole) return false;
  heard.erase(0, whole);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: ask_together PORT CLIENTS SECONDS PATH\n");
    return 2;
  }
  const std::string request =
      std::string("GET ") + argv[4] + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const auto ask = [&](int descriptor) {
    return send(descriptor, request.data(), request.size(), MSG_NOSIGNAL) > 0;
  };
  std::vector<Client> clients(static_cast<std::size_t>(std::atoi(argv[2])));
  std::vector<pollfd> sockets;
  for (std::size_t i = 0; i < clients.size(); ++i) {
    sockets.push_back({faultline::connected_to(std::atoi(argv[1])), POLLIN, 0});
    if (sockets.back().fd < 0 || !ask(sockets.back().fd)) return 1;
  }
  const std::chrono::seconds lasts(std::atoi(argv[3]));
  long answers = 0;
  std::array<char, 65536> bytes;
  for (const auto end = std::chrono::steady_clock::now() + lasts;
       std::chrono::steady_clock::now() < end;) {
    poll(sockets.data(), sockets.size(), 100);
    for (std::size_t i = 0; i < clients.size(); ++i) {
      if (sockets[i].revents == 0) continue;
      const ssize_t received = recv(sockets[i].fd, bytes.data(), bytes.size(), 0);
      if (received <= 0) return 1;
      clients[i].heard.append(bytes.data(), static_cast<std::size_t>(received));
      if (!std::string_view(clients[i].heard).starts_with("HTTP/1.1 200 ")) return 1;
      if (!take_answer(clients[i].heard)) continue;
      ++clients[i].answers;
      ++answers;
      if (!ask(sockets[i].fd)) return 1;
    }
  }
  for (const Client& client : clients)
    if (client.answers == 0) return 1;
  std::printf("%ld\n", answers / lasts.count());
  return 0;
}
