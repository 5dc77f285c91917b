// Traces in Chrome's format, as torch.profiler writes them: JSON of hundreds of megabytes, of which
// a summary of a page is wanted. They are read as they come; what is remembered follows the pieces
// of a GPU's time, not the events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/saved_bytes.h"
#include "parsers/json/json_scan.h"
#include "parsers/performance/trace_summary.h"
#include "parsers/torch/flight_recorder.h"

namespace faultline {

enum class TraceForm { none, unsure, trace };

// What a file that begins with these bytes is. all: nothing follows.
TraceForm trace_form(std::string_view beginning, bool all);

// As many bytes tell: a trace's events may come after much else about the job.
inline constexpr std::size_t kTraceFormBytes = std::size_t{4} << 20;

class ChromeTrace {
 public:
  // Returns how many of the bytes belong to the trace: all of them, until it is complete.
  std::size_t feed(std::string_view bytes);

  bool complete() const { return state_ == State::complete; }
  bool broken() const { return state_ == State::broken; }  // no JSON any more

  // What it tells, as it stands.
  std::vector<DumpedFact> facts();

  // What it remembers between two pieces.
  void save(SavedBytesWriter& saved) const;
  void restore(SavedBytesReader& saved);

 private:
  enum class State { begin, members, value, events, event, complete, broken };

  std::size_t read(std::string_view bytes);
  std::size_t read_member(std::string_view bytes);
  std::size_t read_value(std::string_view bytes);
  std::size_t read_between_events(std::string_view bytes);
  std::size_t read_event(std::string_view bytes);

  State state_ = State::begin;
  std::string held_;           // bytes that mean something only with what follows
  std::size_t looked_at_ = 0;  // of an event or a value that has begun
  NestedEnd end_;
  bool too_long_ = false;  // its beginning was let go
  std::string key_;
  TraceSummary summary_;
};

}  // namespace faultline
