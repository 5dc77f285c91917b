// What happened when, and where, in rows to be drawn: hosts, below each its ranks that matter, then
// rows for what other ranks have in common. Each time is the range in which it lies.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/finding.h"
#include "rules/answer/heard.h"

namespace faultline {

// An event, at some time from `from` to `to`.
struct TimeMark {
  std::string finding;
  Timestamp from;
  Timestamp to;
};

struct TimeRow {
  enum class Kind { host, rank, others };
  Kind kind = Kind::host;
  std::string name;  // "gpu-node-3", "rank 27", "1,016 other ranks"
  std::string host;  // empty: of none, or of several
  std::vector<int> ranks;
  std::string state;  // "behind", "silent", "unseen"; empty: nothing is known against it
  // By dated lines: heard at most from `from` to `to`, and surely from `surely_from` to `surely_to`
  // (each of several ranks). None: no line is dated.
  std::optional<Timestamp> from;
  std::optional<Timestamp> surely_from;
  std::optional<Timestamp> surely_to;
  std::optional<Timestamp> to;
  std::string note;             // the same in words, and the last thing that it did
  std::vector<TimeMark> marks;  // the mark of the first cause comes last
};

std::string_view name_of_kind(TimeRow::Kind kind);  // "host"

struct TimeRows {
  std::optional<Timestamp> from;  // what is worth drawing; none: nothing is dated
  std::optional<Timestamp> to;
  std::optional<Timestamp> last_line;
  std::vector<TimeRow> rows;        // none: they would show nothing but one event
  std::vector<std::string> doubts;  // what these times do not show, a sentence each
};

// Without `heard` there are only rows of hosts.
TimeRows time_rows_of(const Diagnosis& diagnosis, const Heard& heard = {});

}  // namespace faultline
