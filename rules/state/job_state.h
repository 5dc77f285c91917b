// JobState: all that is known of one job, folded from its batches and from nothing else. Folding the
// stored batches again rebuilds it; `diagnose` on files and a server that was sent them agree.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "model/batch.h"

namespace faultline {

class JobState {
 public:
  explicit JobState(std::string name);
  ~JobState();
  JobState(JobState&&) noexcept;
  JobState& operator=(JobState&&) noexcept;

  // In order per source; the order between sources does not matter to the outcome.
  void apply(const Source& source, const Batch& batch, Timestamp received);

  const std::string& name() const;

 private:
  std::string name_;
};

}  // namespace faultline
