#include "rules/knowledge/phase.h"

namespace faultline {

std::string_view said_of(Phase phase) {
  switch (phase) {
    case Phase::before:
      return ", before the job began";
    case Phase::outlived:
      return ", long before the job's last calls";
    case Phase::after:
      return ", after the job had ended";
    case Phase::cannot_tell:
      return "; its time relative to the job is unknown";
    default:
      return {};
  }
}

}  // namespace faultline
