#include "parsers/document.h"

namespace faultline {
namespace {

constexpr std::size_t kMaxKeptBytes = 1024;

void save_number(SavedBytesWriter& saved, const std::optional<std::int64_t>& value) {
  saved.number(value ? 1 : 0);
  saved.number(value.value_or(0));
}

std::optional<std::int64_t> restored_number(SavedBytesReader& saved) {
  const bool there = saved.number() != 0;
  const std::int64_t value = saved.number();
  return there ? std::optional(value) : std::nullopt;
}

}  // namespace

void KeptLine::keep(const DocumentLine& line) {
  number = line.number;
  offset = line.offset;
  text = line.whole.substr(0, kMaxKeptBytes);
  while (text.ends_with('\r')) text.pop_back();
  host = line.host;
  rank = line.rank;
  time = line.time;
}

void KeptLine::save(SavedBytesWriter& saved) const {
  saved.number(static_cast<std::int64_t>(number));
  saved.number(static_cast<std::int64_t>(offset));
  saved.text(text);
  saved.text(host);
  saved.number(rank);
  save_number(saved, time.wall_us);
  saved.number(time.uncertainty_us);
  saved.number(time.zone_assumed ? 1 : 0);
  save_number(saved, time.uptime_us);
}

void KeptLine::restore(SavedBytesReader& saved) {
  number = static_cast<std::uint64_t>(saved.number());
  offset = static_cast<std::uint64_t>(saved.number());
  text = saved.text();
  host = saved.text();
  rank = saved.small_number();
  time.wall_us = restored_number(saved);
  time.uncertainty_us = saved.number();
  time.zone_assumed = saved.number() != 0;
  time.uptime_us = restored_number(saved);
}

}  // namespace faultline
