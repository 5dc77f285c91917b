// A line that a program says of itself, as text: a function of its values.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

namespace faultline {

enum class LogLevel { info, warning, error };

enum class LogFormat {
  plain,   // for whoever typed a command
  logfmt,  // name=value
  json,    // an object a line
};

struct LogField {
  LogField(std::string_view field, std::string_view text) : name(field), value(text) {}
  LogField(std::string_view field, std::integral auto number)
      : name(field), value(fmt::format("{}", number)), is_number(true) {}

  std::string_view name;  // of this program's own words
  std::string value;      // may hold anything
  bool is_number = false;
};

struct LogEntry {
  LogLevel level = LogLevel::info;
  std::string_view event;    // what happened, in a word that stays as it is
  std::string_view message;  // the same for people; empty: the event says it all
  std::vector<LogField> fields;
};

// What stands in front: its time or, where the reader of lines has a clock of its own, systemd's
// mark of how important it is.
struct LogStamp {
  std::string_view time;
  bool marks_priority = false;
};

// With the line's end, which is its only one whatever the values hold. A value that goes on for
// long is cut.
std::string log_line(const LogEntry& entry, LogFormat format, const LogStamp& stamp);

}  // namespace faultline
