#include "parsers/launcher/launcher_lines.h"

#include <algorithm>
#include <string>

#include "parsers/pattern.h"
#include "parsers/tool/tool_text.h"
#include "parsers/torch/torch_group.h"

namespace faultline {

namespace {

constexpr std::size_t kMostRanks = 4096;  // on one host
constexpr std::size_t kMostNameBytes = 256;
// Shells and schedulers add this to the number of the signal that ended a process.
constexpr int kSignalBase = 128;

struct SignalName {
  std::string_view name;
  int number;
};

constexpr SignalName kSignals[] = {
    {"SIGABRT", 6},  {"Abort", 6},
    {"SIGBUS", 7},   {"Bus error", 7},
    {"SIGFPE", 8},   {"Floating", 8},
    {"SIGKILL", 9},  {"Killed", 9},
    {"SIGSEGV", 11}, {"Segmentation fault", 11},
    {"SIGTERM", 15}, {"Terminated", 15},
    {"SIGINT", 2},   {"SIGHUP", 1},
    {"SIGILL", 4},   {"Illegal ", 4},
};

// 3 or 0-2,4-7
std::vector<int> task_list(std::string_view text) {
  std::vector<int> tasks;
  for (const std::string_view piece : tool_text::pieces_of(text, ",")) {
    const std::size_t dash = piece.find('-');
    const auto first = rank_in(piece.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : rank_in(piece.substr(dash + 1));
    if (!first || !last) continue;
    for (int task = *first; task <= *last && tasks.size() < kMostRanks; ++task)
      tasks.push_back(task);
  }
  return tasks;
}

// Ignores the case of the first letter: zsh writes it small.
bool begins_with(std::string_view name, std::string_view known) {
  constexpr char kSmall = 0x20;
  return !name.empty() && (name.front() | kSmall) == (known.front() | kSmall) &&
         name.substr(1).starts_with(known.substr(1));
}

std::string shortened(std::string_view text) {
  return std::string(tool_text::trimmed(text).substr(0, kMostNameBytes));
}

}  // namespace

std::optional<int> signal_named(std::string_view name) {
  const auto* known = std::ranges::find_if(
      kSignals, [&](const SignalName& signal) { return begins_with(name, signal.name); });
  return known == std::end(kSignals) ? std::nullopt : std::optional(known->number);
}

void set_exit_code(ProcessExit& exit, int code) {
  if (code < 0 && code > -kSignalBase)
    exit.signal = -code;
  else if (code > kSignalBase && code < kSignalBase + 64)
    exit.signal = code - kSignalBase;
  exit.exit_code = code;
}

bool parse_torchrun_agent(std::string_view text, std::vector<Reading>& readings) {
  static const Pattern kFailed(R"(failed \(exitcode: (-?\d+)\) local_rank: (\d+) \(pid: (\d+)\))");
  static const Pattern kSending(R"(Sending process (\d+) closing signal (\w+))");
  static const Pattern kClosing(R"(Closing process (\d+) via signal (\w+))");
  static const Pattern kForced(
      R"(Unable to shutdown process (\d+) via \S+, forcefully exiting via (\w+))");
  std::string_view code;
  std::string_view pid;
  std::string_view name;
  ProcessExit exit{.teller = "torchrun"};
  if (std::string_view local; kFailed.find(text, &code, &local, &pid)) {
    exit.local_rank = number_in<int>(local).value_or(-1);
    if (const auto number = number_in<int>(code)) set_exit_code(exit, *number);
  } else if (kSending.find(text, &pid, &name) || kClosing.find(text, &pid, &name) ||
             kForced.find(text, &pid, &name)) {
    exit.told_to = true;
    const auto number = number_in<int>(name);
    exit.signal = number ? number : signal_named(name);
  } else {
    return false;
  }
  exit.pid = number_in<std::int64_t>(pid).value_or(0);
  readings.push_back({.fact = std::move(exit)});
  return true;
}

// srun: error: gpu-8: tasks 8-15: Terminated
bool parse_srun_exit(std::string_view text, std::vector<Reading>& readings) {
  static const Pattern kTasks(R"(srun: error: ([\w.-]+): tasks? ([\d,-]+): (.+))");
  static const Pattern kCode(R"(^Exited with exit code (\d+))");
  std::string_view host;
  std::string_view tasks;
  std::string_view reason;
  if (!kTasks.find(text, &host, &tasks, &reason)) return false;
  ProcessExit exit{.teller = "srun",
                   .host = shortened(host),
                   .ranks = task_list(tasks),
                   .reason = shortened(reason)};
  if (std::string_view code; kCode.find(reason, &code)) {
    if (const auto number = number_in<int>(code)) set_exit_code(exit, *number);
  } else {
    exit.signal = signal_named(reason);
  }
  readings.push_back({.fact = std::move(exit)});
  return true;
}

bool parse_mpirun_exit(std::string_view text, std::vector<Reading>& readings) {
  static const Pattern kSignal(
      R"(noticed that process rank (\d+) with PID (\d+) on node (\S+) exited on signal (\d+)(?: \(([^)]*)\))?)");
  ProcessExit exit{.teller = "mpirun", .first = true};
  std::string_view rank;
  std::string_view pid;
  std::string_view host;
  std::string_view signal;
  std::string_view reason;
  if (!kSignal.find(text, &rank, &pid, &host, &signal, &reason)) return false;
  exit.host = shortened(host);
  exit.pid = number_in<std::int64_t>(pid).value_or(0);
  exit.signal = number_in<int>(signal);
  exit.reason = shortened(reason);
  if (const auto number = rank_in(rank)) exit.ranks = {*number};
  readings.push_back({.fact = std::move(exit)});
  return true;
}

// x3203c0s25b1n0.hsn: rank 25 died from signal 6 and dumped core
bool parse_pals_exit(std::string_view text, std::vector<Reading>& readings) {
  static const Pattern kLine(
      R"(^\s*([\w.-]+): rank (\d+) (?:died from signal (\d+)|exited with code (\d+)))");
  std::string_view host;
  std::string_view rank;
  std::string_view signal;
  std::string_view code;
  if (!kLine.find(text, &host, &rank, &signal, &code)) return false;
  ProcessExit exit{.teller = "pals", .host = shortened(host)};
  exit.signal = number_in<int>(signal);
  if (const auto number = number_in<int>(code)) {
    if (*number == 0) return false;
    set_exit_code(exit, *number);
  }
  if (const auto number = rank_in(rank)) exit.ranks = {*number};
  readings.push_back({.fact = std::move(exit)});
  return true;
}

// Pod: kubeflow.llama-worker-3 exited with code 1
// An event of an operator of training jobs. The pod's name is taken as the host.
bool parse_pod_exit(std::string_view text, std::vector<Reading>& readings) {
  static const Pattern kLine(
      R"(Pod: [a-z0-9-]+\.([a-z0-9][a-z0-9.-]*) exited with code (-?\d+)\b)");
  std::string_view pod;
  std::string_view code;
  if (!kLine.find(text, &pod, &code)) return false;
  const auto number = number_in<int>(code);
  if (!number || *number == 0) return false;
  ProcessExit exit{.teller = "kubernetes", .host = shortened(pod)};
  set_exit_code(exit, *number);
  readings.push_back({.fact = std::move(exit)});
  return true;
}

// [ERROR] [launch.py:434:sigkill_handler] ['/usr/bin/python3', '-u', …] exits with return code = -9
// The command is the last one that was started on the host, not the one that failed.
bool parse_deepspeed_exit(std::string_view text, std::vector<Reading>& readings) {
  static const Pattern kWell(R"(\[launch\.py:\d+:\w+\] Process (\d+) exits successfully\.\s*$)");
  if (std::string_view pid; kWell.find(text, &pid)) {
    ProcessExit exit{.teller = "deepspeed", .pid = number_in<std::int64_t>(pid).value_or(0)};
    set_exit_code(exit, 0);
    readings.push_back({.fact = std::move(exit)});
    return true;
  }
  static const Pattern kCode(R"(\[launch\.py:\d+:\w+\] .*exits with return code = (-?\d+)\s*$)");
  std::string_view code;
  if (!kCode.find(text, &code)) return false;
  const auto number = number_in<int>(code);
  if (!number || *number == 0) return false;
  ProcessExit exit{.teller = "deepspeed", .first = true};
  set_exit_code(exit, *number);
  readings.push_back({.fact = std::move(exit)});
  return true;
}

// Container rank 0 status failed cmd ['/usr/bin/python3', '-u', 'train.py'] code -15 log
// log/worker.0
bool parse_paddle_exit(std::string_view text, std::vector<Reading>& readings) {
  static const Pattern kLine(
      R"(^Container rank (\d+) status failed cmd \[.*\] code (-?\d+) (?:log|env) )");
  std::string_view rank;
  std::string_view code;
  if (!kLine.find(text, &rank, &code)) return false;
  const auto of = rank_in(rank);
  const auto number = number_in<int>(code);
  if (!of || !number || *number == 0) return false;
  ProcessExit exit{.teller = "paddle", .ranks = {*of}};
  set_exit_code(exit, *number);
  readings.push_back({.fact = std::move(exit)});
  return true;
}

// job.sh: line 15: 259449 Killed                  ./train
bool parse_shell_exit(std::string_view text, std::vector<Reading>& readings) {
  static const Pattern kLine(
      R"(: line \d+: +(\d+) (Killed|Segmentation fault|Aborted|Bus error|Terminated|Illegal instruction)(?: |$))");
  std::string_view pid;
  std::string_view reason;
  if (!kLine.find(text, &pid, &reason)) return false;
  readings.push_back({.fact = ProcessExit{.teller = "shell",
                                          .pid = number_in<std::int64_t>(pid).value_or(0),
                                          .signal = signal_named(reason),
                                          .reason = std::string(reason)}});
  return true;
}

// What a shell prints about a command that was started by hand: "Killed" alone on its line, or
// "zsh: segmentation fault (core dumped)  python3 train.py".
bool parse_shell_word(std::string_view text, std::vector<Reading>& readings) {
  static const Pattern kLine(
      R"(^(?:(?:zsh: |\[\d+\] +\+? *(\d+) )(segmentation fault|abort|bus error|floating point exception|illegal hardware instruction|killed)(?: +\(core dumped\))?(?:  .*)?|(Segmentation fault|Aborted|Bus error|Floating point exception|Illegal instruction) \(core dumped\)|(Killed))$)");
  std::string_view pid;
  std::string_view of_zsh;
  std::string_view of_bash;
  std::string_view killed;
  if (!kLine.find(tool_text::trimmed(text), &pid, &of_zsh, &of_bash, &killed)) return false;
  const std::string_view reason = !of_zsh.empty() ? of_zsh : !of_bash.empty() ? of_bash : killed;
  readings.push_back({.fact = ProcessExit{.teller = "shell",
                                          .pid = number_in<std::int64_t>(pid).value_or(0),
                                          .signal = signal_named(reason),
                                          .reason = std::string(reason)}});
  return true;
}

}  // namespace faultline
