// Sightings: remarks and what the signatures say about them, sorted by their possible role in the
// job's story. In a process, the first that can be a cause counts as the cause; later ones follow
// from it.
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
  std::vector<std::size_t> workers;  // the process's, as far as the line says which one

  const EventTime& time() const { return said->first.time; }
  std::string_view field(std::string_view name) const;  // empty: the line has none
  // A warning without a known process: pasted, or quoted as NCCL's last error.
  bool is_bare() const;
};

struct Sightings {
  std::vector<Sighting> causes;   // the failure may have begun here
  std::vector<Sighting> excused;  // possible causes, but the job went on or ended well
  std::vector<Sighting> echoes;   // consequences, in a process that did not go on
  std::vector<Sighting> unknown;  // warnings that match no signature: of each process, up to the
                                  // first after which it made no more calls; none after a cause
  std::vector<Sighting> told;     // every sighting with a signature: some lines explain others
};

Sightings sightings_of(const View& view);

// Whether the process made calls after it said this.
bool went_on(const View& view, const Sighting& sighting);

// Whether its communicator was aborted, or a call returned an error, after it said this.
bool failed_after(const Sighting& sighting);

// Whether some ranks wait for a rank that is behind.
bool somebody_is_behind(const View& view);

// By time; sightings without a time come last.
bool earlier(const Sighting& a, const Sighting& b);

}  // namespace faultline
