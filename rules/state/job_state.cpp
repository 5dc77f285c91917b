#include "rules/state/job_state.h"

#include <algorithm>

namespace faultline {

void JobState::apply(const Source& source, const Batch& batch, Timestamp received, CallsAre calls) {
  std::uint32_t index = sources_.apply(source, batch, received);
  boot_times_.forget_anchors();
  const Source& origin = sources_.at(index).source;
  const bool counts_calls = calls == CallsAre::new_ones;
  if (counts_calls) {
    progress_.enter(batch);
    traffic_.enter(batch);
  }
  for_each_in_order(
      batch,
      [&](const Event& event) {
        if (unread_lines_.apply(index, origin.name, batch, event)) return;
        if (counts_calls) progress_.apply(index, origin, batch, event);
        processes_.apply(index, origin, batch, event);
        if (event.time.wall())
          last_told_ = std::max(last_told_.value_or(*event.time.wall()), *event.time.wall());
        apply_kernel(index, batch, event);
        kernel_lines_.apply(index, batch, event);
        nics_.apply(index, batch, event);
        parts_.apply(index, batch, event);
        remarks_.apply(index, origin, batch, event);
        addresses_.apply(origin, batch, event);
        setup_.apply(index, origin, batch, event);
        reports_.apply(index, batch, event);
        flight_.apply(index, origin, event);
        torch_.apply(index, origin, batch, event);
      },
      [&](const CallRun& run) {
        if (!counts_calls) return;
        const Entered entered = progress_.apply(index, origin, batch, run);
        call_times_.apply(entered, received);
        traffic_.apply(entered, index, batch, run);
      });
  events_left_out_ += batch.left_out;
  last_activity_ = std::max(last_activity_.value_or(received), received);
}

// Reports about parts only: nobody else prints the same again and again for days.
bool JobState::needs(const Source& source, const Batch& batch, const Event& event) const {
  const auto* report = std::get_if<PartReport>(&event.fact);
  const std::optional<std::uint32_t> index = sources_.index_of(source.name);
  if (report == nullptr || !index) return true;
  if (event.time.wall_us) {
    const SourceState& state = sources_.at(*index);
    if (event.time.wall_us == state.first_wall_us || event.time.wall_us == state.last_wall_us ||
        event.time.wall() == last_told_)
      return true;
  }
  const std::string host = short_host(batch.speakers[event.speaker].host);
  const PartRecord* record = parts_.find(*index, host, *report);
  if (record == nullptr || (record->source != *index && Nics::learns_from(*report))) return true;
  return Parts::needs(*record, *index, event);
}

void JobState::apply_kernel(std::uint32_t source, const Batch& batch, const Event& event) {
  if (!Hardware::tells_of(event.fact)) return;
  const std::string host = short_host(batch.speakers[event.speaker].host);
  boot_times_.apply(source, host, event);
  hardware_.apply(host, event, {source, event.line, event.offset, event.time, event.text},
                  boot_times_.boots(source, host));
}

EventTime JobState::dated(const LineRef& line) const {
  return boot_times_.dated(line, [this](std::uint32_t source) { return sources_.host_of(source); });
}

std::vector<JobState::LeftOut> JobState::left_out() const {
  std::vector<LeftOut> all = {
      {"lines of kinds that came in millions", events_left_out_},
      {"Xid lines", hardware_.xids_left_out()},
      {"lines about NVSwitches", hardware_.switch_errors_left_out()},
      {"kernel lines", kernel_lines_.left_out()},
      {"warnings of processes", remarks_.left_out()},
      {"lines of further processes", processes_.left_out()},
      {"lines of further ranks", torch_.left_out()},
      {"reports about ports, GPUs and other parts", parts_.left_out()},
  };
  std::erase_if(all, [](const LeftOut& one) { return one.lines == 0; });
  return all;
}

}  // namespace faultline
