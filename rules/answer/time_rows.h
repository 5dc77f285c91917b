// What happened when, and where, in rows to be drawn: hosts, below each its ranks that matter, then
// all other ranks in a row for what they have in common. A time is as wide as what is known of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/finding.h"
#include "rules/answer/heard.h"

namespace faultline {

// An event: somewhere between the two.
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
  // By dated lines: heard from `from` or later to `to` or sooner; surely (and each of several) over
  // the time between the other two. None: nothing dates it.
  std::optional<Timestamp> from;
  std::optional<Timestamp> surely_from;
  std::optional<Timestamp> surely_to;
  std::optional<Timestamp> to;
  std::string note;             // the same in words, and the last that it did
  std::vector<TimeMark> marks;  // that of the first cause is the last
};

std::string_view name_of_kind(TimeRow::Kind kind);  // "host"

struct TimeRows {
  std::optional<Timestamp> from;  // what is worth drawing; none: nothing is dated
  std::optional<Timestamp> to;
  std::optional<Timestamp> last_line;
  std::vector<TimeRow> rows;        // none: they would show nothing but one event
  std::vector<std::string> doubts;  // what these times do not tell, a sentence each
};

// Without what was heard of ranks there are rows of hosts alone.
TimeRows time_rows_of(const Diagnosis& diagnosis, const Heard& heard = {});

}  // namespace faultline
