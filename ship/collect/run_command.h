// CommandRunner: runs a fixed command without a shell, bounded in time and in what it prints.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace faultline {

struct CommandLimits {
  std::chrono::milliseconds time{20'000};
  // Between SIGTERM and SIGKILL: a debugger that is killed at once may leave its process stopped.
  std::chrono::milliseconds grace{2000};
  std::size_t bytes = std::size_t{4} << 20;
  bool keeps_end = false;  // of an output that is too long the end is kept
};

struct CommandResult {
  std::string output;   // stdout and stderr; its last line says what is missing
  std::string failure;  // why it has no good end; empty: exit status 0
  int status = -1;      // -1: it did not run, or was ended
  bool ran = false;
  bool ok() const { return status == 0; }
};

// The path of a program; empty: no folder of `path` has it. Relative folders do not count; for root
// nor do those of other users.
std::string find_program(const std::string& path, const std::string& name);

class CommandRunner {
 public:
  // `path`: as PATH. What runs is ended when `stopped` is set. `variables`: the environment besides
  // PATH and the language, as NAME=VALUE.
  CommandRunner(std::string path, const std::atomic<bool>& stopped,
                std::vector<std::string> variables = {});

  bool has(const std::string& name) const { return !find_program(path_, name).empty(); }
  CommandResult run(const std::vector<std::string>& words, const CommandLimits& limits);

 private:
  pid_t start(const std::vector<std::string>& words, int output, std::string& failure) const;

  const std::string path_;
  const std::atomic<bool>& stopped_;
  const std::vector<std::string> variables_;
  // Programs that even SIGKILL did not end: they hang in a driver. They are not started again.
  std::map<std::string, pid_t> stuck_;
};

}  // namespace faultline
