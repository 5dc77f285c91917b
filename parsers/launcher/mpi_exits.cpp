#include "parsers/launcher/mpi_exits.h"

#include <optional>
#include <string>
#include <utility>

#include "parsers/launcher/launcher_lines.h"
#include "parsers/pattern.h"
#include "parsers/torch/torch_group.h"

namespace faultline {
namespace {

constexpr std::size_t kMostHostBytes = 256;

// The groups of the pattern are a host, a rank, a signal (a number or a name) and an exit code. A
// group is empty if the form does not have it.
struct Form {
  std::string_view teller;
  Pattern pattern;
  bool first = false;  // the form names only the process that ended first
};

// 11, SIGSEGV, KILL, Segmentation fault
std::optional<int> signal_in(std::string_view text) {
  if (const auto number = number_in<int>(text)) return number;
  if (const auto named = signal_named(text)) return named;
  return signal_named("SIG" + std::string(text));
}

}  // namespace

bool parse_mpi_exit(std::string_view text, std::vector<Reading>& readings) {
  static const Form kForms[] = {
      // [gpu-7:mpispawn_0][child_handler] MPI process (rank: 2, pid: 42) terminated with signal 11
      {"mpirun_rsh",
       Pattern(
           R"(\[([\w.-]+):mpispawn_\d+\]\[child_handler\] MPI process \(rank: (\d+), pid: \d+\) )"
           R"((?:terminated with signal (\d+)|exited with status (\d+)))")},
      // ERROR:  One or more process (first noticed rank 4) terminated with signal 11
      {"jsrun",
       Pattern(
           R"(()One or more process \(first noticed rank (\d+)\) terminated with signal (\d+)())"),
       true},
      {"mpirun", Pattern(R"(()MPI Application rank (\d+) (?:killed before MPI_\w+\(\) with signal )"
                         R"((\d+)|exited before MPI_\w+\(\) with status (\d+)))")},
      {"mpt", Pattern(R"(()MPT ERROR: Rank (\d+)\(g:\d+\) received signal (SIG\w+)())")},
      // [NID 00193] [c0-0c1s0n1] [Fri Mar  2 11:20:33 2018] PE RANK 3 exit signal Bus error
      {"aprun", Pattern(R"((?:\[NID (\d+)\][^\n]* )?PE RANK (\d+) exit (?:signal ([A-Z][\w ]+)|)"
                        R"(code (\d+)))")},
      {"mpd", Pattern(R"(()exit status of rank (\d+): (?:killed by signal (\d+)|)"
                      R"(return code (\d+)))")},
      // *** Caught a fatal signal (proc 3): SIGSEGV(11)
      {"gasnet", Pattern(R"(()\*\*\* Caught a (?:fatal )?signal \(proc (\d+)\): (SIG\w+)())")},
      {"fluent", Pattern(R"(()^\s*Node (\d{1,5}): Process \d+: Received signal (SIG\w+)())")},
      // FATAL: task-exit: lmp: task rank 3 on host gpu-7 exited (Segmentation fault) and …
      {"flux", Pattern(R"(()FATAL: task-exit: \S+ task rank (\d+) on host [\w.-]+ exited )"
                       R"(\(([A-Z][\w ]+)\)())")},
      {"sge", Pattern(R"(()()job [\d.]+ died through signal (\w+) \(\d+\)())")},
  };
  for (const Form& form : kForms) {
    std::string_view host;
    std::string_view rank;
    std::string_view signal;
    std::string_view code;
    if (!form.pattern.find(text, &host, &rank, &signal, &code)) continue;
    ProcessExit exit{.teller = std::string(form.teller),
                     .host = std::string(host.substr(0, kMostHostBytes)),
                     .reason = std::string(signal.substr(0, kMostHostBytes)),
                     .first = form.first};
    if (form.teller == "aprun" && !host.empty()) exit.host.insert(0, "nid");
    if (const auto number = rank_in(rank)) exit.ranks = {*number};
    if (!signal.empty()) exit.signal = signal_in(signal);
    if (const auto number = number_in<int>(code)) {
      if (*number == 0) return false;
      set_exit_code(exit, *number);
    }
    readings.push_back({.fact = std::move(exit)});
    return true;
  }
  return false;
}

}  // namespace faultline
