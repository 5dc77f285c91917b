// EvidenceKind: what an agent on a host can fetch by itself.
#pragma once

#include <boost/describe.hpp>

namespace faultline {

enum class EvidenceKind {
  kernel_log,
  port_counters,
  port_states,
  interfaces,
  shm,
  gpu_report,
  stacks,
  ras,
  flight_recorder
};
BOOST_DESCRIBE_ENUM(EvidenceKind, kernel_log, port_counters, port_states, interfaces, shm,
                    gpu_report, stacks, ras, flight_recorder)

}  // namespace faultline
