// Traces in Chrome's format, as torch.profiler writes them: hundreds of megabytes of JSON, which
// become a summary of a page. They are read while they arrive. Memory grows with the pieces of busy
// time of a GPU, not with the events.
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

// What kind of file begins with these bytes. all: they are the whole file.
TraceForm trace_form(std::string_view beginning, bool all);

// So many bytes are enough to decide: the events of a trace may come after much other data.
inline constexpr std::size_t kTraceFormBytes = std::size_t{4} << 20;

class ChromeTrace {
 public:
  // Returns how many of the bytes belong to the trace: all of them, until it is complete.
  std::size_t feed(std::string_view bytes);

  bool complete() const { return state_ == State::complete; }
  bool broken() const { return state_ == State::broken; }  // it is not JSON

  // The facts of the trace as far as it was read.
  std::vector<DumpedFact> facts();

  // The state between two pieces.
  void save(SavedBytesWriter& saved) const;
  void restore(SavedBytesReader& saved);

 private:
  enum class State { begin, members, value, events, event, complete, broken };

  std::size_t read(std::string_view bytes);
  std::size_t read_member(std::string_view bytes);
  bool has_whole_text(std::string_view bytes);
  std::size_t read_value(std::string_view bytes);
  std::size_t read_between_events(std::string_view bytes);
  std::size_t read_event(std::string_view bytes);

  State state_ = State::begin;
  std::string held_;           // bytes that can be read only with those that follow
  std::size_t looked_at_ = 0;  // how many bytes of the current event or value were looked at
  NestedEnd end_;
  bool too_long_ = false;  // the beginning of the event was dropped
  std::string key_;
  TraceSummary summary_;
};

}  // namespace faultline
