// Whatever bytes a dump has: no crash, columns of equal length, facts that survive being stored,
// and a state that accepts them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "model/json.h"
#include "parsers/json/json_tree.h"
#include "parsers/torch/flight_recorder.h"
#include "rules/state/flight.h"

namespace {

using namespace faultline;

void check(const FlightRecorderGroup& group) {
  const std::size_t entries = group.signature.size();
  if (group.states.size() != entries || group.sequence.size() != entries ||
      group.p2p_sequence.size() != entries || group.record.size() != entries ||
      group.created_us.size() != entries || group.duration_us.size() > entries)
    std::abort();
  for (const std::uint32_t signature : group.signature)
    if (signature >= group.signatures.size()) std::abort();
  for (const FlightDetail& detail : group.details)
    if (detail.entry >= entries || detail.stack >= static_cast<int>(group.stacks.size()))
      std::abort();
}

void check(const DumpReading& reading) {
  if (reading.outcome != DumpReading::Outcome::read) return;
  if (reading.facts.empty()) std::abort();
  Flight flight;
  for (const DumpedFact& told : reading.facts) {
    const auto* group = std::get_if<FlightRecorderGroup>(&told.fact);
    if (group != nullptr) check(*group);
    const auto stored = fact_from_json(kind_of(told.fact), fact_to_json(told.fact));
    if (!stored || *stored != told.fact) std::abort();
    Event event;
    event.fact = told.fact;
    event.time = told.time;
    event.text = told.text;
    flight.apply(0, Source{.name = "_dump_3"}, event);
  }
  for (const auto& [rank, dump] : flight.latest())
    if (flight.dumps()[dump].rank() != rank) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  (void)dump_form(std::string_view(bytes).substr(0, kDumpFormBytes), true);
  check(read_dump_pickle(bytes, true));
  JsonExtent extent;
  extent.look_at(bytes);
  if (extent.complete()) {
    check(read_dump_json(std::string_view(bytes).substr(0, extent.end()), false));
  } else if (!extent.hopeless()) {
    const std::string mended = extent.mended(bytes);
    if (!mended.empty()) check(read_dump_json(mended, true));
  }
  return 0;
}
