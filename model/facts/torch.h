// What PyTorch's distributed package and its exceptions say.
#pragma once

#include <boost/describe.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace faultline {

// The process group that a line is about, as its prefix names it.
struct TorchGroup {
  int id = -1;              // counts the groups of this process; other ranks may count differently
  std::string name;         // 0, 1, …, a hash: the same on all ranks; empty: the line does not say
  std::string description;  // default_pg, …
  int rank = -1;            // in the group, not the global rank; -1: not said
  bool operator==(const TorchGroup&) const = default;
};
BOOST_DESCRIBE_STRUCT(TorchGroup, (), (id, name, description, rank))

// A collective did not end within its time limit.
struct WatchdogTimeout {
  static constexpr std::string_view kKind = "watchdog_timeout";
  TorchGroup group;
  std::optional<std::uint64_t> sequence;  // collectives of the group are counted apart from P2P
  std::string operation;                  // ALLREDUCE, …
  std::optional<std::uint64_t> numel_in;
  std::optional<std::uint64_t> numel_out;
  std::optional<std::int64_t> timeout_ms;
  std::optional<std::int64_t> ran_ms;  // since the CPU enqueued it
  bool blocking = false;               // said by the waiting thread, not by the watchdog
  bool operator==(const WatchdogTimeout&) const = default;
};
BOOST_DESCRIBE_STRUCT(WatchdogTimeout, (),
                      (group, sequence, operation, numel_in, numel_out, timeout_ms, ran_ms,
                       blocking))

// How far a rank has come in a group.
struct WatchdogStatus {
  static constexpr std::string_view kKind = "watchdog_status";
  TorchGroup group;
  std::string teller;  // failure, signal, progress
  std::optional<std::uint64_t> failed;
  std::optional<std::int64_t> enqueued;  // -1: none yet
  std::optional<std::int64_t> started;
  std::optional<std::int64_t> completed;
  bool operator==(const WatchdogStatus&) const = default;
};
BOOST_DESCRIBE_STRUCT(WatchdogStatus, (), (group, teller, failed, enqueued, started, completed))

// A rank was told to dump what it knows: by its own watchdog, or by a rank that timed out before.
struct DumpSignal {
  static constexpr std::string_view kKind = "dump_signal";
  TorchGroup group;    // the process's first group, whichever group timed out
  std::string from;    // self, other
  int from_rank = -1;  // global
  bool operator==(const DumpSignal&) const = default;
};
BOOST_DESCRIBE_STRUCT(DumpSignal, (), (group, from, from_rank))

// The watchdog's own thread is stuck: a call into CUDA or NCCL does not return, or the GIL is held.
struct WatchdogStuck {
  static constexpr std::string_view kKind = "watchdog_stuck";
  TorchGroup group;
  std::int64_t seconds = 0;
  bool gil = false;
  bool operator==(const WatchdogStuck&) const = default;
};
BOOST_DESCRIBE_STRUCT(WatchdogStuck, (), (group, seconds, gil))

// An entry of a desync report or of Horovod's list: what it says of these ranks of the group.
struct DesyncEntry {
  static constexpr std::string_view kKind = "desync_entry";
  std::vector<int> ranks;
  std::string what;  // timed_out, never_joined, not_finished, not_joined, started, finished;
                     // not_submitted: from Horovod, the operation is the tensor;
                     // not_entered, entered: from torchfrtrace
  std::optional<std::uint64_t> sequence;
  std::string operation;
  bool operator==(const DesyncEntry&) const = default;
};
BOOST_DESCRIBE_STRUCT(DesyncEntry, (), (ranks, what, sequence, operation))

// Ranks that did not come to a monitored_barrier.
struct BarrierMissed {
  static constexpr std::string_view kKind = "barrier_missed";
  std::vector<int> ranks;
  std::int64_t timeout_ms = 0;
  bool all_named = false;  // false: the first of them, in order of rank
  bool operator==(const BarrierMissed&) const = default;
};
BOOST_DESCRIBE_STRUCT(BarrierMissed, (), (ranks, timeout_ms, all_named))

// What a rank called, printed when ranks compared their calls and found a difference.
struct CalledCollective {
  static constexpr std::string_view kKind = "called_collective";
  int rank = -1;     // in the group
  bool own = false;  // of the rank that prints it; false: of the rank from which it differs
  std::optional<std::uint64_t> sequence;
  std::string operation;
  std::string shape;
  std::string types;
  std::string devices;
  bool operator==(const CalledCollective&) const = default;
};
BOOST_DESCRIBE_STRUCT(CalledCollective, (), (rank, own, sequence, operation, shape, types, devices))

// Parameters of the model that got no gradient.
struct UnusedParameters {
  static constexpr std::string_view kKind = "unused_parameters";
  int rank = -1;
  std::vector<std::string> names;  // or their numbers
  bool operator==(const UnusedParameters&) const = default;
};
BOOST_DESCRIBE_STRUCT(UnusedParameters, (), (rank, names))

struct SourceLine {
  std::uint64_t line = 0;
  std::uint64_t offset = 0;
  std::string text;
  bool operator==(const SourceLine&) const = default;
};
BOOST_DESCRIBE_STRUCT(SourceLine, (), (line, offset, text))

// A Python traceback, joined over its lines.
struct PythonException {
  static constexpr std::string_view kKind = "python_exception";
  static constexpr std::string_view kOfCpp = "a C++ exception";  // the type, if one ended a program
  std::string type;     // torch.distributed.DistBackendError
  std::string message;  // its first line
  std::string file;     // of the innermost frame
  std::int64_t file_line = 0;
  std::string function;
  bool follows = false;   // "During handling of the above exception": the one before is the cause
  bool original = false;  // of a worker process; its parent has raised it again just before
  std::vector<SourceLine> lines;  // its first and its last ones
  bool operator==(const PythonException&) const = default;
};
BOOST_DESCRIBE_STRUCT(PythonException, (),
                      (type, message, file, file_line, function, follows, original, lines))

// Where a thread stands, from a dump of its stack.
struct StackTop {
  static constexpr std::string_view kKind = "stack_top";
  std::string tool;  // py-spy, faulthandler, gdb; debug-server: `frames` says why there is no stack
  std::int64_t pid = 0;
  std::string thread;
  std::vector<std::string> frames;  // innermost first
  int rank = -1;                    // as the dump's header says; -1: it does not
  bool gil = false;                 // it holds Python's lock
  bool operator==(const StackTop&) const = default;
};
BOOST_DESCRIBE_STRUCT(StackTop, (), (tool, pid, thread, frames, rank, gil))

}  // namespace faultline
