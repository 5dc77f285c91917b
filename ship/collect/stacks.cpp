#include "ship/collect/stacks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "ship/small_file.h"

namespace faultline {
namespace {

constexpr const char* kPySpy = "py-spy";
constexpr const char* kGdb = "gdb";
constexpr const char* kSetPriv = "setpriv";

std::string one_line(std::string text) {
  text = text.substr(0, text.find('\n'));
  std::ranges::replace(text, '\0', ' ');
  std::ranges::replace(text, '"', '\'');
  return text;
}

// -nx, auto-load off: no file that the process may have put somewhere is run. sysroot: the process,
// and so its libraries, may be in a container.
std::vector<std::string> stack_command(const std::string& tool, int process) {
  const std::string id = std::to_string(process);
  if (tool == kPySpy) return {kPySpy, "dump", "--pid", id};
  return {kGdb,
          "-nx",
          "-iex",
          "set auto-load off",
          "-iex",
          fmt::format("set sysroot /proc/{}/root", id),
          "-p",
          id,
          "-batch",
          "-ex",
          "thread apply all bt"};
}

// A debugger reads files that the process has chosen, so it gets no more rights than the process
// has, except to look at it. Only as the same user may it read the memory at all, if we are root
// without all capabilities.
std::vector<std::string> as_its_user(const JobProcess& process, std::vector<std::string> command) {
  if (geteuid() != 0 || process.user == 0) return command;
  std::vector<std::string> words{kSetPriv,
                                 "--reuid",
                                 std::to_string(process.user),
                                 "--regid",
                                 std::to_string(process.group),
                                 "--clear-groups",
                                 "--inh-caps=+sys_ptrace",
                                 "--ambient-caps=+sys_ptrace"};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

// Root of a container is our user, but not trusted as root of the host is.
bool is_root_of_a_container(const JobProcess& process, const std::string& proc) {
  if (geteuid() != 0 || process.user != 0) return false;
  const auto namespaces = [&](const std::string& id) {
    std::string all;
    for (const char* kind : {"mnt", "user"}) {
      std::error_code error;
      all += std::filesystem::read_symlink(fmt::format("{}/{}/ns/{}", proc, id, kind), error);
    }
    return all;
  };
  const std::string own = namespaces(std::to_string(process.id));
  return own != namespaces("1") && own != namespaces("self");
}

bool has_threads(std::string_view output) {
  return output.starts_with("Thread ") || output.find("\nThread ") != std::string_view::npos;
}

// Without the files of the process gdb shows addresses only: "#0  0x00007f… in ?? ()".
bool has_names(const std::string& tool, std::string_view output) {
  if (tool != kGdb) return true;
  for (std::size_t at = output.find("\n#"); at != std::string_view::npos;
       at = output.find("\n#", at + 1)) {
    const std::string_view frame = output.substr(at + 1, output.find('\n', at + 1) - at - 1);
    if (frame.find(" in ?? (") == std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

std::string threads_in_proc(const std::string& proc, int process, std::size_t most_bytes) {
  std::string text;
  const std::string tasks = fmt::format("{}/{}/task", proc, process);
  for (const int thread : process_ids(tasks)) {
    const auto told = [&](const char* file) {
      return read_small_file(fmt::format("{}/{}/{}", tasks, thread, file));
    };
    const std::string stack = told("stack");
    text += fmt::format("process {} thread {} comm \"{}\" state {} wchan {} syscall {}\n", process,
                        thread, one_line(told("comm")), state_of_process(tasks, thread),
                        one_line(told("wchan")), one_line(told("syscall")));
    for (std::size_t at = 0; at < stack.size(); at = stack.find('\n', at) + 1) {
      const std::size_t end = stack.find('\n', at);
      text += fmt::format("    {}\n", stack.substr(at, end - at));
      if (end == std::string::npos) break;
    }
    if (text.size() <= most_bytes) continue;
    text.resize(text.rfind('\n', most_bytes) + 1);
    return text + fmt::format("faultline: cut, only the first {} bytes are here\n", text.size());
  }
  return text;
}

Gathered gather_stacks(const std::vector<JobProcess>& processes, const std::string& proc,
                       CommandRunner& commands, const StackLimits& limits,
                       const std::atomic<bool>& stopped) {
  using StackClock = std::chrono::steady_clock;
  const auto until = StackClock::now() + limits.time;
  std::vector<std::string> tools;
  for (const char* tool : {kPySpy, kGdb})
    if (tools.empty() && commands.has(tool)) tools.emplace_back(tool);
  // A program that is not Python's has no stacks for py-spy.
  if (!tools.empty() && tools[0] == kPySpy && commands.has(kGdb)) tools.emplace_back(kGdb);
  Gathered gathered;
  if (are_of_several_users(processes)) {
    gathered.failure = "processes of several users say that they are of the job";
    return gathered;
  }
  const auto dump = [&](const JobProcess& process) {
    std::string complaints;
    for (const std::string& tool : tools) {
      // gdb is not made for files that somebody wrote to harm it.
      if (tool == kGdb && is_root_of_a_container(process, proc)) continue;
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(until - StackClock::now());
      CommandLimits of_this = limits.of_each;
      of_this.time = std::min(of_this.time, left);
      if (left.count() <= 0 || stopped) break;
      CommandResult result =
          commands.run(as_its_user(process, stack_command(tool, process.id)), of_this);
      // A debugger that was killed may have left stopped what it looked at.
      if (!result.ok() && process.state != 'T' && state_of_process(proc, process.id) == 'T')
        kill(process.id, SIGCONT);
      add_to_list(gathered.ran, fmt::format("{} of process {}: {}", tool, process.id,
                                            result.ok() ? "exit status 0" : result.failure));
      // gdb ends well also if it could not look.
      const bool has_any = result.ok() && has_threads(result.output);
      if (has_any && has_names(tool, result.output)) return std::move(result.output);
      complaints += fmt::format("faultline: {}: {}\n", tool,
                                has_any       ? "found no names"
                                : result.ok() ? "printed no thread"
                                              : result.failure) +
                    result.output;
    }
    add_to_list(gathered.ran, fmt::format("/proc/{}", process.id));
    const std::string threads = threads_in_proc(proc, process.id, limits.of_each.bytes);
    return threads.empty() ? threads : threads + complaints;
  };
  std::size_t left_out = 0;
  for (const JobProcess& process : processes) {
    if (stopped) break;
    if (gathered.texts.size() >= limits.most_processes || StackClock::now() >= until) {
      ++left_out;
      continue;
    }
    std::string text = dump(process);
    if (text.empty()) continue;  // it ended meanwhile
    gathered.texts.push_back(
        {.part = std::to_string(process.id), .rank = process.rank, .text = std::move(text)});
  }
  if (left_out > 0) add_to_list(gathered.ran, fmt::format("{} processes are left out", left_out));
  if (gathered.texts.empty()) gathered.failure = "no process of the job could be looked at";
  return gathered;
}

}  // namespace faultline
