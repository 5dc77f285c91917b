// performance.yaml and what is asked of it.
#include "rules/knowledge/performance_catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "rules/knowledge/catalog_files.h"
#include "rules/knowledge/yaml_file.h"

namespace faultline {
namespace {

// A number above 0 that must be there.
YamlField number(const YamlFile& file, const char* name, double& into) {
  return needed(name, [&file, &into, name](const YamlNode& node) {
    const std::string text = file.text(node, name);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
    if (error != std::errc() || end != text.data() + text.size() || !(into > 0))
      file.place(node).refuse(
          fmt::format("{} \"{}\" is not a number above 0; write one", name, text));
  });
}

BandwidthReference reference_of(const YamlFile& file, const YamlNode& entry) {
  BandwidthReference reference;
  double nodes = 0;
  double ranks = 0;
  file.read_fields(
      entry, "a reference",
      {needed("id", reference.id), needed("gpus", reference.gpus),
       needed("collective", reference.collective), number(file, "nodes", nodes),
       number(file, "ranks", ranks), number(file, "from_size", reference.from_size),
       number(file, "expected", reference.expected), number(file, "low", reference.low)});
  reference.nodes = static_cast<int>(nodes);
  reference.ranks = static_cast<int>(ranks);
  if (reference.low > reference.expected)
    file.place(file.field(entry, "low")).refuse("low is above expected; swap them");
  return reference;
}

}  // namespace

const BandwidthReference* PerformanceCatalog::reference_for(std::string_view gpu,
                                                            std::string_view collective, int nodes,
                                                            int ranks) const {
  const std::string name = normalised_field(gpu);
  const auto found = std::ranges::find_if(bandwidth.references, [&](const auto& reference) {
    return reference.collective == collective && reference.nodes == nodes &&
           reference.ranks == ranks && matches_any(reference.gpus, name);
  });
  return found == bandwidth.references.end() ? nullptr : &*found;
}

PerformanceCatalog read_performance(std::string_view name, std::string_view text) {
  const YamlFile file(name, text);
  PerformanceCatalog catalog;
  const auto read_many_ranks = [&](const YamlNode& entry) {
    auto& many = catalog.bandwidth.many_ranks;
    file.read_fields(entry, "many_ranks",
                     {number(file, "from", many.from), number(file, "low", many.low)});
  };
  const auto read_fast_hosts = [&](const YamlNode& entry) {
    auto& fast = catalog.bandwidth.fast_hosts;
    file.read_fields(entry, "fast_hosts",
                     {needed("gpus", fast.gpus), number(file, "low", fast.low)});
  };
  const auto read_bandwidth = [&](const YamlNode& entry) {
    auto& bandwidth = catalog.bandwidth;
    file.read_fields(
        entry, "bandwidth",
        {number(file, "falls_short", bandwidth.falls_short),
         number(file, "far_below", bandwidth.far_below),
         number(file, "from_size", bandwidth.from_size), needed("many_ranks", read_many_ranks),
         needed("fast_hosts", read_fast_hosts), each("references", [&](const YamlNode& one) {
           bandwidth.references.push_back(reference_of(file, one));
         })});
  };
  const auto read_profile = [&](const YamlNode& entry) {
    auto& profile = catalog.profile;
    file.read_fields(entry, "profile",
                     {number(file, "least_span_ms", profile.least_span_ms),
                      number(file, "least_kernels", profile.least_kernels),
                      number(file, "exposed_communication", profile.exposed_communication),
                      number(file, "pipeline", profile.pipeline)});
  };
  const auto read_straggler = [&](const YamlNode& entry) {
    auto& straggler = catalog.straggler;
    file.read_fields(
        entry, "straggler",
        {number(file, "gap", straggler.gap), number(file, "accounted", straggler.accounted),
         number(file, "consistent", straggler.consistent), number(file, "steps", straggler.steps),
         number(file, "gap_without_steps", straggler.gap_without_steps),
         number(file, "barrier_above", straggler.barrier_above),
         number(file, "barrier_below", straggler.barrier_below),
         number(file, "alike", straggler.alike), number(file, "work_above", straggler.work_above),
         number(file, "wait_above", straggler.wait_above),
         maybe("work_timers", straggler.work_timers), maybe("wait_timers", straggler.wait_timers),
         number(file, "throughput_below", straggler.throughput_below),
         number(file, "clock_below", straggler.clock_below)});
  };
  const auto read_idle = [&](const YamlNode& entry) {
    auto& idle = catalog.idle_gpu;
    file.read_fields(entry, "idle_gpu",
                     {number(file, "idle", idle.idle), number(file, "busy", idle.busy),
                      number(file, "seconds", idle.seconds),
                      number(file, "least_memory_mib", idle.least_memory_mib)});
  };
  file.read_fields(file.root(), "the file",
                   {needed("bandwidth", read_bandwidth), needed("profile", read_profile),
                    needed("straggler", read_straggler), needed("idle_gpu", read_idle)});
  return catalog;
}

}  // namespace faultline
