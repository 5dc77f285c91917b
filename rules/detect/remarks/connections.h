// Connections, as the processes at their ends report them.
#pragma once

#include "rules/detect/remarks/wording.h"

namespace faultline {

// One end of a connection.
struct End {
  std::string name;  // the host, or the address that no line ties to a host
  bool is_host = false;
  std::string nic;  // "node-0/mlx5_1:1"; empty if not known
};

// What one process says of one connection.
struct Report {
  const Sighting* sighting = nullptr;
  End near;  // where it was printed
  End far;   // the peer that it names; an empty name: none
};

std::vector<Report> reports_of(const View& view, const SightingList& causes,
                               const std::vector<Sighting>& told);

// Groups reports whose connections share ends: each group may have a cause of its own.
std::vector<std::vector<Report>> connected(const std::vector<Report>& reports);

}  // namespace faultline
