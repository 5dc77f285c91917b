// JobState: all that is known of one job, folded from its batches and from nothing else. Folding
// the stored batches again rebuilds it; `diagnose` on files and a server that was sent them agree.
#pragma once

#include <optional>
#include <string>

#include "model/batch.h"
#include "rules/state/hardware.h"
#include "rules/state/progress.h"
#include "rules/state/reports.h"
#include "rules/state/sources.h"

namespace faultline {

class JobState {
 public:
  explicit JobState(std::string name) : name_(std::move(name)) {}

  // In order per source.
  void apply(const Source& source, const Batch& batch, Timestamp received);

  const std::string& name() const { return name_; }
  const Sources& sources() const { return sources_; }
  const Progress& progress() const { return progress_; }
  const Hardware& hardware() const { return hardware_; }
  const Reports& reports() const { return reports_; }

  // When something last arrived.
  std::optional<Timestamp> last_activity() const { return last_activity_; }

  // The host a line of the kernel is about: the one it names, else its source's. "" if unknown.
  std::string host_of(const std::string& spoken_host, std::uint32_t source) const {
    return spoken_host.empty() ? sources_.host_of(source) : spoken_host;
  }

 private:
  std::string name_;
  Sources sources_;
  Progress progress_;
  Hardware hardware_;
  Reports reports_;
  std::optional<Timestamp> last_activity_;
};

}  // namespace faultline
