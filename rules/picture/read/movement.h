// What counters did between samples. A full counter tells only "at least", a smaller value that it
// was cleared, and a value by itself nothing: it may be years old.
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
  std::string spelling;  // the tool's
  std::string tool;
  std::string link;  // which of a GPU's NVLinks
  std::uint64_t growth = 0;
  std::uint64_t value = 0;   // the latest
  bool at_least = false;     // it is full, or was cleared in between
  bool full = false;         // it can grow no further
  bool full_before = false;  // nothing can be told: it was full all the time
  bool cleared = false;
  bool order_unknown = false;   // nothing tells which sample came first
  bool before_job = false;      // all of it
  bool since_clear = false;     // one sample, and the tool says how long it has counted
  std::optional<double> hours;  // between the samples
  std::optional<double> still;  // hours at the end in which it rose no more
  const LineRef* from = nullptr;
  const LineRef* to = nullptr;

  // Growth per hour; nothing if no time is known.
  std::optional<double> rate() const;
};

// Of all counters that these records (of one part) have at least two samples of.
std::vector<Movement> movements_of(const Parts& parts, const CountersCatalog& catalog,
                                   const Phases& phases,
                                   std::span<const PartRecord* const> records);

enum class Level { nothing, suspect, faulty };

// By the counter's own thresholds.
Level level_of(const Movement& movement);

// "SymbolErrorCounter rose by at least 412 in 1.0 h (412 per hour)"
std::string in_words(const Movement& movement);

}  // namespace faultline
