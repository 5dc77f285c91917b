// How counters changed between samples. A full counter shows only "at least", and a smaller value
// shows that the counter was cleared. A value alone shows nothing: it may be years old.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rules/knowledge/counters_catalog.h"
#include "rules/picture/when/phases.h"
#include "rules/state/parts.h"

namespace faultline {

struct Movement {
  const CounterMeaning* counter = nullptr;
  std::string spelling;  // as the tool writes it
  std::string tool;
  std::string link;  // which of a GPU's NVLinks
  std::uint64_t growth = 0;
  std::uint64_t value = 0;   // the latest
  bool at_least = false;     // the counter is full, or was cleared in between
  bool full = false;         // it can grow no further
  bool full_before = false;  // it was full all the time, so growth is not known
  bool cleared = false;
  bool order_unknown = false;   // it is not known which sample came first
  bool before_job = false;      // all samples were taken before the job
  bool since_clear = false;     // there is one sample, and the tool says since when it counts
  std::optional<double> hours;  // between the samples
  std::optional<double> still;  // hours at the end without growth
  const LineRef* from = nullptr;
  const LineRef* to = nullptr;

  // Growth per hour; nullopt if no time is known.
  std::optional<double> rate() const;
};

// Of all counters of which these records (of one part) have at least two samples, or one and its
// age.
std::vector<Movement> movements_of(const Parts& parts, const CountersCatalog& catalog,
                                   const Phases& phases,
                                   std::span<const PartRecord* const> records);

enum class Level { nothing, suspect, faulty };

// By the counter's own thresholds.
Level level_of(const Movement& movement);

// "SymbolErrorCounter rose by at least 412 in 1.0 h (412 per hour)"
std::string in_words(const Movement& movement);

}  // namespace faultline
