// Sightings: remarks with what the signatures say of them, sorted by what they can be in the job's
// story. In one process the first one that can be a cause is it; what it prints later follows.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rules/knowledge/signatures.h"
#include "rules/picture/view.h"

namespace faultline {

// One text of one process.
struct Sighting {
  const RemarkingProcess* process = nullptr;
  const SaidRemark* said = nullptr;
  const MessageSignature* signature = nullptr;  // nullptr: no signature knows the text
  std::map<std::string, std::string, std::less<>> fields;
  std::string host;                  // of the process; empty: not known
  std::vector<std::size_t> workers;  // that the process is, as far as the line tells which of them

  const EventTime& time() const { return said->first.time; }
  std::string_view field(std::string_view name) const;  // empty: the line has none
  // A warning that nothing tells whose it is: posted, or quoted as what NCCL said last.
  bool is_bare() const;
};

struct Sightings {
  std::vector<Sighting> causes;   // where it may have begun
  std::vector<Sighting> excused;  // would be causes, had the job not gone on or ended well
  std::vector<Sighting> echoes;   // follow from something, and the process did not go on
  std::vector<Sighting> unknown;  // warnings of a process that no signature knows, up to the first
                                  // after which it made no more calls; none after a cause
  std::vector<Sighting> told;     // every sighting with a signature: for what lines tell each other
};

Sightings sightings_of(const View& view);

// Whether the process made calls after it said this.
bool went_on(const View& view, const Sighting& sighting);

// Whether its communicator was aborted, or a call returned an error, after it said this.
bool failed_after(const Sighting& sighting);

// Whether other ranks wait for somebody.
bool somebody_is_behind(const View& view);

// Those whose time is known come first, by it; the others stay in the order of the logs.
bool earlier(const Sighting& a, const Sighting& b);

}  // namespace faultline
