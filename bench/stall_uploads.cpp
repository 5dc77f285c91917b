// Opens uploads to a server of this machine and holds them open for so many seconds. Sends one byte
// of each; with MILLISECONDS, one more each time that these have passed. With "heads" even their
// heads do not end.
//
//   stall_uploads PORT UPLOADS SECONDS [MILLISECONDS [heads]]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "local_socket.h"

int main(int argc, char** argv) {
  const bool heads = argc == 6 && std::string_view(argv[5]) == "heads";
  if (argc != 4 && argc != 5 && !heads) {
    std::fprintf(stderr, "usage: stall_uploads PORT UPLOADS SECONDS [MILLISECONDS [heads]]\n");
    return 2;
  }
  faultline::allow_many_connections();
  std::vector<int> open;
  for (int i = 0; i < std::atoi(argv[2]); ++i) {
    const int descriptor = faultline::connected_to(std::atoi(argv[1]));
    if (descriptor < 0) break;
    // Each upload has a source of its own, so that none takes over another's.
    const std::string beginning = "PUT /api/v1/ingest?job=stalled&source=s" + std::to_string(i) +
                                  " HTTP/1.1\r\nHost: localhost\r\n" +
                                  (heads ? "Slow: x" : "Content-Length: 99999\r\n\r\nx");
    if (send(descriptor, beginning.data(), beginning.size(), MSG_NOSIGNAL) > 0)
      open.push_back(descriptor);
  }
  std::printf("%zu uploads were begun\n", open.size());
  std::fflush(stdout);
  const std::chrono::seconds lasts(std::atoi(argv[3]));
  const std::chrono::milliseconds between =
      argc >= 5 ? std::chrono::milliseconds(std::atoi(argv[4])) : std::chrono::milliseconds(lasts);
  for (const auto end = std::chrono::steady_clock::now() + lasts;
       std::chrono::steady_clock::now() < end; std::this_thread::sleep_for(between))
    for (const int descriptor : open) send(descriptor, "x", 1, MSG_NOSIGNAL);
  return 0;
}
