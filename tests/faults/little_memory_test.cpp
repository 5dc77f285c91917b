// A server that may have only so much address space from its start on serves, or says in plain
// words that it cannot. It never ends by a signal.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>

#include "eventually.h"
#include "workshop.h"

namespace faultline {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Ended {
  bool served = false;
  int status = 0;  // as waitpid() has it
  std::string said;
};

[[noreturn]] void become_server(rlim_t address_space, const std::string& data,
                                const std::string& messages) {
  const rlimit limit{.rlim_cur = address_space, .rlim_max = address_space};
  const int said = open(messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (said >= 0 && dup2(said, STDERR_FILENO) >= 0 && setrlimit(RLIMIT_AS, &limit) == 0)
    execl(FAULTLINE_BINARY, "faultline", "serve", "--listen", "127.0.0.1:0", "--data", data.c_str(),
          nullptr);
  _exit(111);
}

// Stops the server when it is ready.
Ended serve_within(rlim_t address_space) {
  const Workshop workshop;
  const std::string messages = workshop.folder() / "messages";
  const std::string data = workshop.folder() / "data";
  const pid_t server = fork();
  if (server == 0) become_server(address_space, data, messages);
  Ended ended;
  bool runs = true;
  eventually([&] {
    runs = waitpid(server, &ended.status, WNOHANG) == 0;
    ended.said = read_file(messages);
    ended.served = ended.said.find("ready for requests") != std::string::npos;
    return ended.served || !runs;
  });
  if (runs) {
    kill(server, SIGTERM);
    waitpid(server, &ended.status, 0);
  }
  ended.said = read_file(messages);
  return ended;
}

TEST(LittleMemory, AServerThatStartsWithItServesOrSaysThatItCannot) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer needs terabytes of address space";
#endif
  std::size_t served = 0;
  constexpr rlim_t kMegabyte = 1 << 20;
  for (const rlim_t megabytes : {60, 150, 300, 500, 640, 4000}) {
    SCOPED_TRACE(megabytes);
    const Ended ended = serve_within(megabytes * kMegabyte);
    EXPECT_TRUE(WIFEXITED(ended.status))
        << "ended by signal " << WTERMSIG(ended.status) << ": " << ended.said;
    EXPECT_THAT(ended.said, Not(HasSubstr("terminate")));
    EXPECT_EQ(WEXITSTATUS(ended.status) == 0, ended.served) << ended.said;
    if (!ended.served) {
      EXPECT_THAT(ended.said, HasSubstr("memory"));
    }
    served += ended.served ? 1 : 0;
  }
  EXPECT_GT(served, 0u);
}

}  // namespace
}  // namespace faultline
