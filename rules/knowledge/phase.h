// When something happened, relative to the attempt of the job that is diagnosed.
#pragma once

#include <string_view>

namespace faultline {

// Ordered by how much it may matter: of several lines about one thing the greatest value counts.
enum class Phase {
  before,       // it was over: the attempt began later
  maintenance,  // somebody worked on the host
  after,        // the attempt had ended: what stopped it came earlier
  outlived,     // the ranks that it could have stopped went on long after it
  cannot_tell,  // the two have no clock in common
  starting,     // its processes were there, but had made no call yet
  during,
};

// For titles: ", before the job began". Empty: there is nothing to say.
std::string_view said_of(Phase phase);

// Whether it was at a time when it could not harm the attempt.
inline bool is_of_another_time(Phase phase) {
  return phase == Phase::before || phase == Phase::after || phase == Phase::maintenance;
}

}  // namespace faultline
