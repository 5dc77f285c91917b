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

double number_of(const YamlFile& file, const YAML::Node& entry, const char* name) {
  const std::string text = file.text(file.field(entry, name), name);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value > 0))
    file.place(entry[name])
        .refuse(fmt::format("{} \"{}\" is not a number above 0; write one", name, text));
  return value;
}

struct NumberField {
  const char* name;
  double* value;
};

// A section that holds these numbers, all of them.
void read_numbers(const YamlFile& file, const char* section,
                  std::initializer_list<NumberField> fields) {
  const YAML::Node entry = file.field(file.root(), section);
  for (const NumberField& field : fields) *field.value = number_of(file, entry, field.name);
}

BandwidthReference reference_of(const YamlFile& file, const YAML::Node& entry) {
  file.require_fields(
      entry, "a reference",
      {"id", "gpus", "collective", "nodes", "ranks", "from_size", "expected", "low"});
  BandwidthReference reference;
  reference.id = file.text(file.field(entry, "id"), "id");
  for (const std::string& gpu : file.texts(entry, "gpus")) reference.gpus.push_back(gpu);
  reference.collective = file.text(file.field(entry, "collective"), "collective");
  reference.nodes = static_cast<int>(number_of(file, entry, "nodes"));
  reference.ranks = static_cast<int>(number_of(file, entry, "ranks"));
  reference.from_size = number_of(file, entry, "from_size");
  reference.expected = number_of(file, entry, "expected");
  reference.low = number_of(file, entry, "low");
  if (reference.low > reference.expected)
    file.place(entry["low"]).refuse("low is above expected; exchange them");
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
  file.require_fields(file.root(), "the file", {"bandwidth", "profile", "straggler", "idle_gpu"});
  file.require_fields(file.field(file.root(), "bandwidth"), "bandwidth",
                      {"falls_short", "from_size", "references"});
  file.require_fields(file.field(file.root(), "profile"), "profile",
                      {"least_span_ms", "least_kernels", "exposed_communication", "pipeline"});
  file.require_fields(file.field(file.root(), "straggler"), "straggler",
                      {"gap", "accounted", "consistent", "steps", "gap_without_steps",
                       "barrier_above", "barrier_below", "alike"});
  file.require_fields(file.field(file.root(), "idle_gpu"), "idle_gpu",
                      {"idle", "busy", "seconds", "least_memory_mib"});
  PerformanceCatalog catalog;
  read_numbers(file, "bandwidth",
               {{"falls_short", &catalog.bandwidth.falls_short},
                {"from_size", &catalog.bandwidth.from_size}});
  for (const auto& entry : file.field(file.root()["bandwidth"], "references"))
    catalog.bandwidth.references.push_back(reference_of(file, entry));
  auto& profile = catalog.profile;
  read_numbers(file, "profile",
               {{"least_span_ms", &profile.least_span_ms},
                {"least_kernels", &profile.least_kernels},
                {"exposed_communication", &profile.exposed_communication},
                {"pipeline", &profile.pipeline}});
  auto& straggler = catalog.straggler;
  read_numbers(file, "straggler",
               {{"gap", &straggler.gap},
                {"accounted", &straggler.accounted},
                {"consistent", &straggler.consistent},
                {"steps", &straggler.steps},
                {"gap_without_steps", &straggler.gap_without_steps},
                {"barrier_above", &straggler.barrier_above},
                {"barrier_below", &straggler.barrier_below},
                {"alike", &straggler.alike}});
  auto& idle = catalog.idle_gpu;
  read_numbers(file, "idle_gpu",
               {{"idle", &idle.idle},
                {"busy", &idle.busy},
                {"seconds", &idle.seconds},
                {"least_memory_mib", &idle.least_memory_mib}});
  return catalog;
}

}  // namespace faultline
