// Where in time something lies, seen from the attempt of the job that is looked at.
#pragma once

#include <string_view>

namespace faultline {

// In the order in which it may matter: of several lines about one thing the greatest counts.
enum class Phase {
  before,       // and over: the attempt began later
  maintenance,  // somebody was at work on the host
  after,        // the attempt had ended: what stopped it came earlier
  outlived,     // the ranks that it could have stopped went on long after it
  cannot_tell,  // no clock that both have
  starting,     // its processes were there, and had made no call yet
  during,
};

// For titles: ", before the job began". Empty: there is nothing to say.
std::string_view said_of(Phase phase);

// Whether it was at a time when it could not harm the attempt.
inline bool is_of_another_time(Phase phase) {
  return phase == Phase::before || phase == Phase::after || phase == Phase::maintenance;
}

}  // namespace faultline
