// Shared by the tests of the unwrapper.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ingest/unwrap.h"

namespace faultline {

// A message that owns its text, so that it can be kept and compared.
struct Told {
  std::string text;
  std::string host;
  int rank = -1;
  std::int64_t pid = 0;
  int repeated = 1;
  bool from_user_space = false;
  std::string wall;  // RFC 3339, "~" in front if the zone was assumed, "+us" behind if uncertain
  std::int64_t uptime_us = -1;

  bool operator==(const Told&) const = default;
};

inline std::string describe(const EventTime& time) {
  if (!time.known()) return {};
  std::string text = time.zone_assumed ? "~" : "";
  text += to_rfc3339(*time.wall());
  if (time.uncertainty_us != 0) text += "+" + std::to_string(time.uncertainty_us);
  return text;
}

inline Told told(const Message& message) {
  return {std::string(message.text),
          std::string(message.host),
          message.rank,
          message.pid,
          message.repeated,
          message.from_user_space,
          describe(message.time),
          message.time.uptime_us.value_or(-1)};
}

inline void PrintTo(const Told& told, std::ostream* out) {
  *out << "{text \"" << told.text << "\" host \"" << told.host << "\" rank " << told.rank << " pid "
       << told.pid << " repeated " << told.repeated << " user " << told.from_user_space
       << " wall \"" << told.wall << "\" uptime " << told.uptime_us << "}";
}

// Noon of 10 March 2026: the year of stamps without one is chosen relative to it.
inline Timestamp reference_time() { return *parse_rfc3339("2026-03-10T12:00:00Z"); }

inline void collect(std::span<const Message> messages, std::vector<Told>& all) {
  for (const Message& message : messages) all.push_back(told(message));
}

inline std::vector<Told> unwrap_all(const std::vector<std::string>& lines) {
  Unwrapper unwrapper(reference_time());
  std::vector<Told> all;
  for (const std::string& line : lines) collect(unwrapper.unwrap(line), all);
  collect(unwrapper.finish(), all);
  return all;
}

// The same, but after each line a new unwrapper continues from save().
inline std::vector<Told> unwrap_all_with_restarts(const std::vector<std::string>& lines) {
  std::vector<Told> all;
  std::string saved;
  for (const std::string& line : lines) {
    Unwrapper unwrapper(reference_time());
    unwrapper.restore(saved);
    collect(unwrapper.unwrap(line), all);
    saved = unwrapper.save();
  }
  Unwrapper unwrapper(reference_time());
  unwrapper.restore(saved);
  collect(unwrapper.finish(), all);
  return all;
}

// One line in, one message out. Its text is a copy.
inline Told unwrap_one(std::string_view line) {
  const std::vector<Told> all = unwrap_all({std::string(line)});
  if (all.size() != 1) return {.text = "(" + std::to_string(all.size()) + " messages)"};
  return all.front();
}

struct UnwrapCase {
  const char* why;
  std::string line;
  Told expected;
};

}  // namespace faultline
