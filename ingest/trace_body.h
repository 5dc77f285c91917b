// Reads a source that consists of a trace as it comes, because it may be far larger than what may
// be held in memory. What turns out to be something else is given back.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parsers/performance/chrome_trace.h"

namespace faultline {

class TraceBody {
 public:
  // Whether bytes at the beginning of a source may belong to a trace.
  static bool may_begin(std::string_view bytes);

  bool open() const { return trace_ != nullptr || !held_.empty(); }

  enum class What {
    wait,        // more has to come
    trace,       // it is complete
    broken_off,  // nothing follows, and it is not complete
    text,        // what was fed is no trace
  };
  struct Step {
    What what = What::wait;
    std::uint64_t size = 0;  // of the trace
    std::vector<DumpedFact> facts;
    std::string rest;        // what was held and does not belong to it
    std::size_t unread = 0;  // if nothing was held: so many of the last bytes that were fed
  };

  Step feed(std::string_view bytes);

  // Nothing follows.
  Step finish();

  // Whether the source is known to be a trace.
  bool decided() const { return trace_ != nullptr; }

  // Bytes of it that came so far.
  std::uint64_t size() const { return size_ + held_.size(); }

  std::size_t held_bytes() const { return held_.size(); }

  // What it remembers between two pieces.
  std::string save() const;
  void restore(std::string_view saved);

 private:
  Step decide(bool all);
  Step read(std::string_view bytes);

  std::string held_;  // until it is known what it is
  std::size_t next_look_ = 0;
  std::unique_ptr<ChromeTrace> trace_;
  std::uint64_t size_ = 0;
};

}  // namespace faultline
