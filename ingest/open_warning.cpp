#include "ingest/open_warning.h"

#include <iterator>
#include <utility>

#include "model/json.h"
#include "model/saved_bytes.h"

namespace faultline {
namespace {

void save(const EventTime& time, SavedBytesWriter& saved) {
  saved.number((time.wall_us ? 1 : 0) | (time.uptime_us ? 2 : 0) | (time.zone_assumed ? 4 : 0));
  saved.number(time.wall_us.value_or(0));
  saved.number(time.uptime_us.value_or(0));
  saved.number(time.uncertainty_us);
}

EventTime restored_time(SavedBytesReader& saved) {
  EventTime time;
  const std::int64_t has = saved.number();
  const std::int64_t wall_us = saved.number();
  const std::int64_t uptime_us = saved.number();
  if ((has & 1) != 0) time.wall_us = wall_us;
  if ((has & 2) != 0) time.uptime_us = uptime_us;
  time.zone_assumed = (has & 4) != 0;
  time.uncertainty_us = saved.number();
  return time;
}

void save(const Speaker& speaker, SavedBytesWriter& saved) {
  saved.text(speaker.host);
  saved.number(speaker.pid);
  saved.number(speaker.device);
  saved.number(speaker.rank);
}

Speaker restored_speaker(SavedBytesReader& saved) {
  Speaker speaker;
  speaker.host = saved.text();
  speaker.pid = saved.number();
  speaker.device = saved.small_number();
  speaker.rank = saved.small_number();
  return speaker;
}

void save(const Event& event, SavedBytesWriter& saved) {
  saved.number(static_cast<std::int64_t>(event.line));
  saved.number(static_cast<std::int64_t>(event.offset));
  save(event.time, saved);
  saved.text(kind_of(event.fact));
  saved.text(fact_to_json(event.fact));
  saved.text(event.text);
}

bool restore(Event& event, SavedBytesReader& saved) {
  event.line = static_cast<std::uint64_t>(saved.number());
  event.offset = static_cast<std::uint64_t>(saved.number());
  event.time = restored_time(saved);
  const std::string_view kind = saved.text();
  Result<Fact> fact = fact_from_json(kind, saved.text());
  event.text = saved.text();
  if (!fact || !saved.ok()) return false;
  event.fact = std::move(*fact);
  return true;
}

bool restore(OpenWarning& warning, HeldEvents& held, SavedBytesReader& saved) {
  warning.line = static_cast<std::uint64_t>(saved.number());
  for (std::int64_t left = saved.number(); left > 0 && saved.ok(); --left)
    warning.more.emplace_back(saved.text());
  for (std::int64_t left = saved.number(); left > 0; --left) {
    held.speakers.push_back(restored_speaker(saved));
    if (!restore(held.events.emplace_back(), saved)) return false;
  }
  return saved.ok() && saved.at_end() && !held.empty();
}

}  // namespace

HeldEvents HeldEvents::from(Batch& batch, std::size_t first) {
  HeldEvents held;
  const auto begin = batch.events.begin() + static_cast<std::ptrdiff_t>(first);
  held.events.assign(std::make_move_iterator(begin), std::make_move_iterator(batch.events.end()));
  batch.events.erase(begin, batch.events.end());
  for (const Event& event : held.events) held.speakers.push_back(batch.speakers[event.speaker]);
  return held;
}

std::string saved_warning(const OpenWarning& warning, const HeldEvents& held) {
  SavedBytesWriter saved;
  saved.number(static_cast<std::int64_t>(warning.line));
  saved.number(static_cast<std::int64_t>(warning.more.size()));
  for (const std::string& line : warning.more) saved.text(line);
  saved.number(static_cast<std::int64_t>(held.events.size()));
  for (std::size_t i = 0; i < held.events.size(); ++i) {
    save(held.speakers[i], saved);
    save(held.events[i], saved);
  }
  return saved.take();
}

HeldEvents restored_warning(std::string_view bytes, OpenWarning& warning) {
  HeldEvents held;
  SavedBytesReader saved(bytes);
  if (!restore(warning, held, saved)) {
    warning = {};
    held = {};
  }
  return held;
}

}  // namespace faultline
