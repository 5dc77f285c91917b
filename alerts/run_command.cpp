#include "alerts/run_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <cstring>
#include <optional>

extern char** environ;

namespace faultline {
namespace asio = boost::asio;
namespace {

// A file in memory that holds the message: with a pipe, a command that does not read would block
// the writer.
int file_of(const std::string& message) {
  const int file = memfd_create("faultline-alert", MFD_CLOEXEC);
  for (std::size_t done = 0; file >= 0 && done < message.size();) {
    const ssize_t wrote = write(file, message.data() + done, message.size() - done);
    if (wrote <= 0) {
      close(file);
      return -1;
    }
    done += static_cast<std::size_t>(wrote);
  }
  if (file >= 0) lseek(file, 0, SEEK_SET);
  return file;
}

struct Started {
  pid_t pid = -1;
  int error = 0;
};

// As exec wants them.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

Started start(const std::vector<std::string>& command, int input,
              const std::vector<std::pair<std::string, std::string>>& environment) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable)
    variables.emplace_back(*variable);
  for (const auto& [name, value] : environment)
    variables.push_back(fmt::format("{}={}", name, value));
  std::vector<std::string> words = command;
  const std::vector<char*> arguments = pointers_to(words);
  const std::vector<char*> pointers = pointers_to(variables);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  Started started;
  started.error = posix_spawnp(&started.pid, arguments[0], &files, &attributes, arguments.data(),
                               pointers.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return started;
}

// Kills the command when it is destroyed: after a time-out, or because the server stops.
class Running {
 public:
  explicit Running(pid_t pid) : pid_(pid) {}
  ~Running() { end(); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  // Returns the exit status; nothing: it still runs.
  std::optional<int> ended() {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == 0) return std::nullopt;
    pid_ = -1;
    return status;
  }

  void end() {
    if (pid_ <= 0) return;
    kill(-pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_;  // also the id of its process group
};

}  // namespace

asio::awaitable<Attempt> run_command(
    const std::vector<std::string>& command, const std::string& message,
    const std::vector<std::pair<std::string, std::string>>& environment,
    std::chrono::milliseconds timeout) {
  const int input = file_of(message);
  if (input < 0) co_return Attempt{DeliveryOutcome::unsent, "no memory for the message", {}};
  const Started started = start(command, input, environment);
  close(input);
  if (started.error != 0)
    co_return Attempt{DeliveryOutcome::unsent,
                      fmt::format("{}: {}", command.front(), std::strerror(started.error)),
                      {}};
  Running running(started.pid);
  constexpr std::chrono::milliseconds kLook{20};
  asio::steady_timer timer(co_await asio::this_coro::executor);
  std::optional<int> ended = running.ended();
  for (std::chrono::milliseconds waited{0}; !ended; waited += kLook) {
    if (waited >= timeout)
      co_return Attempt{
          DeliveryOutcome::unknown, fmt::format("did not end within {} ms", timeout.count()), {}};
    timer.expires_after(kLook);
    co_await timer.async_wait(asio::use_awaitable);
    ended = running.ended();
  }
  const int status = *ended;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    co_return Attempt{DeliveryOutcome::accepted, {}, {}};
  co_return Attempt{DeliveryOutcome::unknown,
                    WIFEXITED(status) ? fmt::format("ended with {}", WEXITSTATUS(status))
                                      : fmt::format("was ended by signal {}", WTERMSIG(status)),
                    {}};
}

}  // namespace faultline
