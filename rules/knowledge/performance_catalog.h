// Which measured bandwidths and profiles are healthy, as data (performance.yaml).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rules/knowledge/conditions_catalog.h"

namespace faultline {

struct BandwidthReference {
  std::string id;
  NamePatterns gpus;
  std::string collective;
  int nodes = 0;
  int ranks = 0;
  double from_size = 0;  // bytes
  double expected = 0;   // GB/s of bus bandwidth
  double low = 0;
};

struct PerformanceCatalog {
  struct Bandwidth {
    double falls_short = 0;
    double far_below = 0;
    double from_size = 0;
    struct ManyRanks {
      double from = 0;
      double low = 0;
    } many_ranks;
    struct FastHosts {
      NamePatterns gpus;
      double low = 0;
    } fast_hosts;
    std::vector<BandwidthReference> references;
  } bandwidth;
  struct Profile {
    double least_span_ms = 0;
    double least_kernels = 0;
    double exposed_communication = 0;
    double pipeline = 0;
  } profile;
  struct Straggler {
    double gap = 0;
    double accounted = 0;
    double consistent = 0;
    double steps = 0;
    double gap_without_steps = 0;
    double barrier_above = 0;
    double barrier_below = 0;
    double alike = 0;
    double work_above = 0;
    double wait_above = 0;
    std::vector<std::string> work_timers;
    std::vector<std::string> wait_timers;
    double throughput_below = 0;
    double clock_below = 0;
  } straggler;
  struct IdleGpu {
    double idle = 0;
    double busy = 0;
    double seconds = 0;
    double least_memory_mib = 0;
  } idle_gpu;

  // nullptr: no entry says what such hardware reaches.
  const BandwidthReference* reference_for(std::string_view gpu, std::string_view collective,
                                          int nodes, int ranks) const;
};

}  // namespace faultline
