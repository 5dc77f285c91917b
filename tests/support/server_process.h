// The real binary, serving on a port of its own.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "workshop.h"

extern char** environ;

namespace faultline {

class ServerProcess {
 public:
  // Data and messages go to `folder`, which an earlier server may have used.
  explicit ServerProcess(const std::filesystem::path& folder,
                         const std::vector<std::string>& flags = {})
      : messages_(folder / "messages"),
        scheme_(std::ranges::find(flags, "--tls-cert") == flags.end() ? "http" : "https") {
    std::vector<std::string> words{FAULTLINE_BINARY, "serve", "--data", folder / "data"};
    if (std::ranges::find(flags, "--listen") == flags.end())
      words.insert(words.end(), {"--listen", "127.0.0.1:0"});
    words.insert(words.end(), flags.begin(), flags.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    std::filesystem::remove(messages_);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, messages_.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    EXPECT_EQ(posix_spawn(&pid_, FAULTLINE_BINARY, &actions, nullptr, arguments.data(), environ),
              0);
    posix_spawn_file_actions_destroy(&actions);
    await_readiness();
  }

  ~ServerProcess() {
    if (pid_ > 0) kill_now();
  }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  int port() const { return port_; }
  std::string url(const std::string& path) const {
    return scheme_ + "://127.0.0.1:" + std::to_string(port_) + path;
  }

  void kill_now() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

  void ask_to_stop() { kill(pid_, SIGTERM); }
  void ask_to_reload() { kill(pid_, SIGHUP); }

  // The exit status once the server has ended; -1 if a signal ended it.
  int wait_for_end() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  // The highest resident memory so far.
  std::size_t peak_kib() const {
    std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
    for (std::string word; status >> word;)
      if (word == "VmHWM:") {
        std::size_t kib = 0;
        status >> kib;
        return kib;
      }
    return 0;
  }

  std::string messages() const { return read_file(messages_); }

  // The size on the disk, with the write-ahead log.
  std::uintmax_t database_bytes() const {
    std::uintmax_t bytes = 0;
    for (const auto& file : std::filesystem::directory_iterator(messages_.parent_path() / "data"))
      bytes += file.file_size();
    return bytes;
  }

 private:
  // One of its first lines says where it listens, another that it no longer refuses requests. Or
  // its last line says why it does not start.
  void await_readiness() {
    const std::string expected = "listening on " + scheme_ + "://";
    for (int tries = 0; tries < 6000; ++tries) {
      const std::string said = messages();
      const std::size_t at = said.find(expected);
      if (at != std::string::npos && said.find("ready for requests") != std::string::npos) {
        port_ = std::stoi(said.substr(said.find(':', at + expected.size()) + 1));
        return;
      }
      if (has_ended()) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    FAIL() << "the server does not start: " << messages();
  }

  bool has_ended() {
    if (waitpid(pid_, nullptr, WNOHANG) != pid_) return false;
    pid_ = -1;
    return true;
  }

  std::filesystem::path messages_;
  std::string scheme_;
  pid_t pid_ = -1;
  int port_ = 0;
};

}  // namespace faultline
