// What PyTorch's Flight Recorder remembers of one process: the last operations of all its process
// groups. A ring holds thousands of them, so they are kept as columns, not as facts of their own.
#pragma once

#include <boost/describe.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace faultline {

// A dump begins: what an earlier one of the same process said no longer holds. Its groups follow.
struct FlightRecorderDump {
  static constexpr std::string_view kKind = "flight_recorder_dump";
  std::string form;     // pickle, json
  std::string version;  // of the schema, major.minor; empty: it had none yet, or is not known
  std::string library_version;  // of NCCL
  std::uint64_t entries = 0;
  std::uint64_t unreadable_entries = 0;
  bool has_entries = false;  // false: they were left out, or recording is off
  bool has_stacks = false;
  bool broken_off = false;  // the file ends within it; what was whole was read
  std::string refused;      // why it was not read; then nothing else is known
  bool operator==(const FlightRecorderDump&) const = default;
};
BOOST_DESCRIBE_STRUCT(FlightRecorderDump, (),
                      (form, version, library_version, entries, unreadable_entries, has_entries,
                       has_stacks, broken_off, refused))

// What a rank called, as the recorder writes it.
struct FlightSignature {
  std::string operation;    // nccl:all_reduce, nccl:send 1->2
  std::string input_sizes;  // [[8192,64]]
  std::string output_sizes;
  std::string input_dtypes;  // Float,Long
  std::string output_dtypes;
  bool point_to_point = false;
  bool operator==(const FlightSignature&) const = default;
};
BOOST_DESCRIBE_STRUCT(FlightSignature, (),
                      (operation, input_sizes, output_sizes, input_dtypes, output_dtypes,
                       point_to_point))

// More about one entry. Kept for entries that had not completed, and for the last one that had.
struct FlightDetail {
  std::uint32_t entry = 0;  // its place in the group's columns
  int stack = -1;           // index into the group's stacks; -1: none was recorded
  std::string thread;       // its name, else its number
  std::optional<std::int64_t> operation_id;
  std::optional<std::int64_t> timeout_ms;
  std::optional<std::int64_t> started_us;  // when the start was noticed, since 1970
  std::optional<std::int64_t> completed_us;
  bool operator==(const FlightDetail&) const = default;
};
BOOST_DESCRIBE_STRUCT(FlightDetail, (),
                      (entry, stack, thread, operation_id, timeout_ms, started_us, completed_us))

// One process group, as one process knows it.
struct FlightRecorderGroup {
  static constexpr std::string_view kKind = "flight_recorder_group";
  std::string name;  // the same on all ranks; empty: not said, as in the oldest versions
  std::string description;
  std::int64_t local_id = -1;  // counts the groups of this process; means nothing on another one
  std::string members;         // global ranks, as to_text(ranks) in model/ranks.h writes them
  // Numbers of its operations; absent: not said. -1: there was none.
  std::optional<std::int64_t> last_enqueued;
  std::optional<std::int64_t> last_started;
  std::optional<std::int64_t> last_completed;

  std::vector<FlightSignature> signatures;
  // Columns with an element for each entry, oldest first. Numbers are stored as the difference to
  // the entry before; in the first entry, to 0.
  std::vector<std::uint32_t> signature;  // index into signatures
  std::string states;  // s: scheduled, r: running (started), c: completed; ?: it does not say.
                       // In capitals: the watchdog no longer watches it
  std::vector<std::int64_t> sequence;      // its number among the group's collectives
  std::vector<std::int64_t> p2p_sequence;  // and among its sends and receives
  std::vector<std::int64_t> record;        // its number among all operations of the process
  std::vector<std::int64_t> created_us;    // since 1970
  std::vector<std::int64_t> duration_us;   // no differences; -1: not known. Empty: none is known

  std::vector<FlightDetail> details;
  std::vector<std::string> stacks;  // innermost frame first, a line each: train_step (/job/a.py:13)
  bool operator==(const FlightRecorderGroup&) const = default;
};
BOOST_DESCRIBE_STRUCT(FlightRecorderGroup, (),
                      (name, description, local_id, members, last_enqueued, last_started,
                       last_completed, signatures, signature, states, sequence, p2p_sequence,
                       record, created_us, duration_us, details, stacks))

}  // namespace faultline
