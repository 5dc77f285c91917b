#include "ship/collect/run_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "ship/log_part.h"

namespace faultline {
namespace {

using CommandClock = std::chrono::steady_clock;

constexpr int kSlice = 20;  // milliseconds between looks at a process
constexpr std::chrono::milliseconds kForKill{1000};

bool has_ended(pid_t process) {
  siginfo_t info{};
  // It stays a zombie, so that its number, and its group's, are nobody else's yet.
  return waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         info.si_pid == process;
}

bool ends_within(pid_t process, std::chrono::milliseconds longest) {
  const auto until = CommandClock::now() + longest;
  while (!has_ended(process)) {
    if (CommandClock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(kSlice));
  }
  return true;
}

// What a command prints, as far as it is kept.
class BoundedOutput {
 public:
  BoundedOutput(OpenDescriptor from, const CommandLimits& limits)
      : from_(std::move(from)), limits_(limits) {}

  // Waits a moment for more, and takes it. False: nothing more is wanted.
  bool take() {
    if (is_over_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(kSlice));
      return true;
    }
    pollfd wanted{from_.get(), POLLIN, 0};
    poll(&wanted, 1, kSlice);
    return drain();
  }

  bool drain() {
    constexpr int kReadsAtOnce = 64;  // whoever prints without end is looked at in between
    std::string block(std::size_t{64} << 10, '\0');
    for (int reads = 0; reads < kReadsAtOnce && !is_over_; ++reads) {
      const ssize_t count = read(from_.get(), block.data(), block.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) break;
      is_over_ = count <= 0;
      if (!is_over_) add(std::string_view(block).substr(0, static_cast<std::size_t>(count)));
      if (is_full()) return false;
    }
    return true;
  }

  // It printed more than is wanted.
  bool is_full() const { return is_cut_ && !limits_.keeps_end; }

  std::string text() && {
    if (is_cut_ && limits_.keeps_end) {
      text_.erase(0, text_.size() - std::min(text_.size(), limits_.bytes));
      text_.erase(0, std::min(text_.find('\n'), text_.size() - 1) + 1);
    }
    if (!text_.empty() && text_.back() != '\n') text_ += '\n';
    if (is_cut_)
      text_ += fmt::format("faultline: cut, only the {} {} bytes are here\n",
                           limits_.keeps_end ? "last" : "first", limits_.bytes);
    return std::move(text_);
  }

 private:
  void add(std::string_view more) {
    text_ += more;
    if (text_.size() <= limits_.bytes) return;
    is_cut_ = true;
    if (!limits_.keeps_end)
      text_.resize(limits_.bytes);
    else if (text_.size() > 2 * limits_.bytes)
      text_.erase(0, text_.size() - limits_.bytes);
  }

  OpenDescriptor from_;
  const CommandLimits& limits_;
  std::string text_;
  bool is_over_ = false;
  bool is_cut_ = false;
};

// Root runs nothing that another user could have put there.
bool is_ours(const struct stat& status) {
  return geteuid() != 0 || (status.st_uid == 0 && (status.st_mode & S_IWOTH) == 0);
}

bool is_ours(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 && is_ours(status);
}

}  // namespace

std::string find_program(const std::string& path, const std::string& name) {
  for (std::string_view rest = path; !rest.empty();) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
    if (!folder.starts_with('/')) continue;
    std::string file = fmt::format("{}/{}", folder, name);
    struct stat status{};
    if (stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
        access(file.c_str(), X_OK) == 0 && is_ours(status) && is_ours(std::string(folder)))
      return file;
  }
  return {};
}

CommandRunner::CommandRunner(std::string path, const std::atomic<bool>& stopped,
                             std::vector<std::string> variables)
    : path_(std::move(path)), stopped_(stopped), variables_(std::move(variables)) {
  // Whoever started us may ignore it. Then no process could be waited for.
  std::signal(SIGCHLD, SIG_DFL);
}

pid_t CommandRunner::start(const std::vector<std::string>& words, int output,
                           std::string& failure) const {
  const std::string program = find_program(path_, words.front());
  if (program.empty()) {
    failure = "is not in the PATH";
    return -1;
  }
  std::vector<std::string> given = words;
  std::vector<char*> arguments;
  for (std::string& word : given) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::vector<std::string> variables = variables_;
  variables.push_back("PATH=" + path_);
  variables.push_back("LC_ALL=C");
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
  // Libraries open files and sockets that commands would inherit.
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  posix_spawn_file_actions_addchdir_np(&files, "/");
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  for (const int signal : {SIGPIPE, SIGTERM, SIGINT}) sigaddset(&signals, signal);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  pid_t process = -1;
  const int error = posix_spawn(&process, program.c_str(), &files, &attributes, arguments.data(),
                                environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error == 0) return process;
  failure = fmt::format("cannot be run: {}", std::generic_category().message(error));
  return -1;
}

CommandResult CommandRunner::run(const std::vector<std::string>& words,
                                 const CommandLimits& limits) {
  CommandResult result;
  if (stopped_) {
    result.failure = "not run, because the agent stops";
    return result;
  }
  std::erase_if(stuck_, [](const auto& item) {
    const bool over = has_ended(item.second);
    if (over) waitpid(item.second, nullptr, 0);
    return over;
  });
  if (stuck_.contains(words.front())) {
    result.failure = "still hangs since it was run before";
    return result;
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    result.failure = std::generic_category().message(errno);
    return result;
  }
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  BoundedOutput output(OpenDescriptor(ends[0]), limits);
  std::optional<OpenDescriptor> writing(std::in_place, ends[1]);
  const pid_t process = start(words, writing->get(), result.failure);
  writing.reset();
  if (process < 0) return result;
  result.ran = true;

  const auto until = CommandClock::now() + limits.time;
  bool in_time = true;
  while (!has_ended(process) && output.take()) {
    in_time = !stopped_ && CommandClock::now() < until;
    if (!in_time) break;
  }
  if (!has_ended(process)) {
    kill(-process, SIGTERM);
    ends_within(process, limits.grace);
  }
  // What it began and left behind must not write on.
  kill(-process, SIGKILL);
  output.drain();
  const bool was_full = output.is_full();
  result.output = std::move(output).text();
  if (!ends_within(process, kForKill)) {
    stuck_[words.front()] = process;
    result.failure = "could not be ended";
    return result;
  }
  int status = 0;
  waitpid(process, &status, 0);
  if (was_full)
    result.status = 0;
  else if (!in_time)
    result.failure = stopped_ ? "ended, because the agent stops"
                              : fmt::format("ended after {} ms", limits.time.count());
  else if (WIFSIGNALED(status))
    result.failure = fmt::format("ended by signal {}", WTERMSIG(status));
  else if (result.status = WEXITSTATUS(status); result.status != 0)
    result.failure = fmt::format("exit status {}", result.status);
  return result;
}

}  // namespace faultline
