// Opens uploads to a server of this machine, sends one byte of each and then nothing, for so many
// seconds.
//
//   stall_uploads PORT UPLOADS SECONDS
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: stall_uploads PORT UPLOADS SECONDS\n");
    return 2;
  }
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  sockaddr_in server{};
  server.sin_family = AF_INET;
  server.sin_port = htons(static_cast<std::uint16_t>(std::atoi(argv[1])));
  server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  constexpr std::string_view kBeginning =
      "PUT /api/v1/ingest?job=stalled HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx";
  int open = 0;
  for (int i = 0; i < std::atoi(argv[2]); ++i) {
    const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(descriptor, reinterpret_cast<const sockaddr*>(&server), sizeof server) != 0) break;
    if (send(descriptor, kBeginning.data(), kBeginning.size(), MSG_NOSIGNAL) > 0) ++open;
  }
  std::printf("%d uploads were begun\n", open);
  std::fflush(stdout);
  sleep(static_cast<unsigned>(std::atoi(argv[3])));
  return 0;
}
