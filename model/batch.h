// A batch: what a stretch of one source says. Plain values with no views into the bytes they came
// from, so it can be stored, replayed, and sent elsewhere to be analysed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/call.h"
#include "model/fact.h"
#include "model/time.h"

namespace faultline {

// Where lines came from, as far as the sender says.
struct Source {
  std::string job;
  std::string name;  // a path, or what the sender called it
  std::string host;  // empty: not said
  int rank = -1;     // -1: not said
  bool operator==(const Source&) const = default;
};

// Who printed a line. A part that the line does not say is empty, 0 or -1.
struct Speaker {
  std::string host;
  std::int64_t pid = 0;
  int device = -1;  // NCCL's [n]: the CUDA device of the printing thread
  int rank = -1;    // a launcher's prefix; not NCCL's own word
  bool operator==(const Speaker&) const = default;
};
BOOST_DESCRIBE_STRUCT(Speaker, (), (host, pid, device, rank))

struct Event {
  std::uint32_t order = 0;    // its place among the batch's runs and events
  std::uint32_t speaker = 0;  // index into the batch's speakers
  std::uint64_t line = 0;     // in the source, from 1
  std::uint64_t offset = 0;   // of the line's first byte in the source
  EventTime time;
  Fact fact;
  std::string text;  // the line as it stands in the log
  bool operator==(const Event&) const = default;
};

// How a source stands after a batch. A rank whose log broke off is not a rank that stopped.
enum class SourceEnd : std::uint8_t {
  open,    // more was on its way
  whole,   // the sender had sent all that it had
  torn,    // the same, but the last line is not complete
  closed,  // whole, and nothing will ever follow
};

struct Batch {
  std::uint64_t from_offset = 0;  // the stretch of the source, whole lines
  std::uint64_t to_offset = 0;
  std::uint64_t first_line = 1;
  std::uint64_t lines = 0;

  std::vector<Speaker> speakers;
  std::vector<Signature> signatures;
  std::vector<Event> events;
  std::vector<CallRun> runs;

  SourceEnd end = SourceEnd::open;

  // For the sender's receipt and the metrics.
  std::uint64_t recognized = 0;                   // lines some dialect knows
  std::uint64_t skipped = 0;                      // too long, or binary
  std::map<std::string, std::uint64_t> dialects;  // lines by dialect
  // NCCL's lines that gave no fact, by the subsystem that prints them (NET, GRAPH, …); UNKNOWN:
  // neither their form nor their subsystem is known.
  std::map<std::string, std::uint64_t> subsystems;
  std::uint64_t left_out = 0;  // events that were over a limit of the job

  std::uint64_t facts() const;  // events and calls
  bool operator==(const Batch&) const = default;
};

// Where a call's line begins in the source. It may be before the batch's first byte, if an earlier
// batch took the line's beginning: Call::offset is counted modulo 2^32.
inline std::uint64_t offset_of(const Batch& batch, const Call& call) {
  return batch.from_offset + static_cast<std::uint64_t>(static_cast<std::int32_t>(call.offset));
}

// Calls `event(const Event&)` and `run(const CallRun&)` in the order of the source.
template <class OnEvent, class OnRun>
void for_each_in_order(const Batch& batch, OnEvent&& on_event, OnRun&& on_run) {
  auto event = batch.events.begin();
  auto run = batch.runs.begin();
  while (event != batch.events.end() || run != batch.runs.end()) {
    if (run == batch.runs.end() || (event != batch.events.end() && event->order < run->order))
      on_event(*event++);
    else
      on_run(*run++);
  }
}

}  // namespace faultline
