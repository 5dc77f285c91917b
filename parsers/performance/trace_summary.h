// The sum of a trace's events: how the time of a GPU divides into computing, communicating, copying
// and idle time, as shares that do not overlap.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/facts/part.h"
#include "model/saved_bytes.h"
#include "parsers/performance/interval_union.h"
#include "parsers/torch/flight_recorder.h"

namespace faultline {

class TraceSummary {
 public:
  // Adds a member of the trace other than its events.
  void member(std::string_view key, std::string_view value);

  // Adds a complete element of its events.
  void event(std::string_view object);

  std::vector<DumpedFact> facts(bool broken_off);

  void save(SavedBytesWriter& saved) const;
  void restore(SavedBytesReader& saved);

 private:
  // Kinds of work. exchange: sends and receives, which wait for their peer by design; collectives
  // need not.
  enum Lane { compute, collective, exchange, copy, kLanes };

  struct Gpu {
    std::int64_t number = 0;
    std::array<IntervalUnion, kLanes> lanes;
    std::map<std::int64_t, Interval> steps;
    Interval span;
    std::uint64_t kernels = 0;
    std::uint64_t communication_kernels = 0;
    std::uint64_t copies = 0;

    void save(SavedBytesWriter& saved) const;
    void restore(SavedBytesReader& saved);
  };

  struct KernelTotal {
    std::uint64_t nanoseconds = 0;
    std::uint64_t count = 0;
  };
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };

  struct Fields;
  void add_work(const Fields& fields, std::string_view category);
  void add_step(const Fields& fields, bool on_gpu);
  Gpu* gpu(std::int64_t number);
  void count_kernel(std::string_view name, std::int64_t nanoseconds);
  PartReport report_of(Gpu& gpu, bool broken_off) const;
  EventTime time_of(std::int64_t nanoseconds) const;

  std::vector<Gpu> gpus_;
  std::map<std::int64_t, Interval> steps_on_cpu_;
  std::unordered_map<std::string, KernelTotal, TextHash, std::equal_to<>> kernels_;
  std::uint64_t events_ = 0;
  std::uint64_t gpus_left_out_ = 0;  // events of GPUs that were left out
  std::optional<std::int64_t> rank_;
  std::optional<std::int64_t> world_size_;
  std::optional<std::int64_t> base_ns_;
  std::string gpu_name_;
};

}  // namespace faultline
