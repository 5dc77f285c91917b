// A third-party program that tests talk to, unchanged; it is ended with the test, by its pid.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

extern char** environ;

namespace faultline {

// Empty if the program is not installed. ./dev test provides it.
inline std::string program_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string rest = path == nullptr ? "" : path;
  rest += ":" TESTS_DIR "/../build/tools/usr/bin:";
  for (std::size_t end = rest.find(':'); end != std::string::npos; end = rest.find(':')) {
    const std::filesystem::path file = std::filesystem::path(rest.substr(0, end)) / name;
    if (access(file.c_str(), X_OK) == 0) return file;
    rest.erase(0, end + 1);
  }
  return {};
}

inline sockaddr_in on_loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

// A port that nothing listens on now. It is below the range that Linux gives to connections, so
// that no connection takes it while a program is down that will be started again.
inline int free_port() {
  static std::mt19937 choice{std::random_device{}()};
  for (int tries = 0; tries < 1000; ++tries) {
    const int port = std::uniform_int_distribution(20000, 32000)(choice);
    const int probe = socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in address = on_loopback(port);
    const bool is_free =
        bind(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    close(probe);
    if (is_free) return port;
  }
  ADD_FAILURE() << "no port is free";
  return 0;
}

inline bool listens(int port) {
  const int probe = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = on_loopback(port);
  const bool open =
      connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(probe);
  return open;
}

class RealProgram {
 public:
  // Its output goes to `messages`.
  RealProgram(const std::filesystem::path& messages, std::vector<std::string> words, int port) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, messages.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    EXPECT_EQ(posix_spawn(&pid_, arguments[0], &files, nullptr, arguments.data(), environ), 0);
    posix_spawn_file_actions_destroy(&files);
    for (int tries = 0; tries < 2000 && !listens(port); ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_TRUE(listens(port)) << words[0] << " does not start; see " << messages;
  }
  pid_t pid() const { return pid_; }

  ~RealProgram() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  // Its exit status after SIGTERM; -1 if a signal ended it.
  int stop() {
    kill(pid_, SIGTERM);
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  RealProgram(const RealProgram&) = delete;
  RealProgram& operator=(const RealProgram&) = delete;

 private:
  pid_t pid_ = -1;
};

}  // namespace faultline
