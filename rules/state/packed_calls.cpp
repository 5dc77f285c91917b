// Packs the result of a job's calls.
#include <fmt/format.h>

#include <algorithm>

#include "rules/state/job_state.h"

namespace faultline {
namespace {

// The version of the form; a new form gets a new number.
constexpr std::uint8_t kForm = 1;

}  // namespace

std::string JobState::packed_calls() const {
  ByteWriter out;
  out.byte(kForm);
  out.number(std::max(sources_.all().size(), least_sources_));
  progress_.pack(out);
  call_times_.pack(out);
  traffic_.pack(out);
  return out.take();
}

Result<void> JobState::take_packed_calls(std::string_view bytes) try {
  ByteReader in(bytes);
  if (in.byte() != kForm) throw BadBytes("has a form that this program does not know");
  const auto sources = in.small<std::uint32_t>();
  Progress progress = Progress::unpack(in, sources);
  CallTimes times = CallTimes::unpack(in);
  Traffic traffic = Traffic::unpack(in, sources);
  if (!in.at_end()) throw BadBytes("goes on after its end");
  progress_ = std::move(progress);
  call_times_ = std::move(times);
  traffic_ = std::move(traffic);
  least_sources_ = sources;
  return {};
} catch (const BadBytes& error) {
  return Error{Error::Kind::invalid_input,
               fmt::format("the stored result of the calls {}", error.what())};
}

}  // namespace faultline
