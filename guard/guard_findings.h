// Asks a Faultline server for what it has found.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guard/guard_policy.h"
#include "model/result.h"
#include "ship/server_link.h"

namespace faultline {

// A finding in the JSON of the API; nothing if something that is needed is missing.
std::optional<GuardFinding> guard_finding_in(std::string_view json);

class GuardFindings {
 public:
  explicit GuardFindings(ShipServer server);

  // All findings that are open, of all jobs.
  Result<std::vector<GuardFinding>> open();

  // One of them, open or not. Empty: the server does not know it.
  Result<std::optional<GuardFinding>> one(const std::string& id);

 private:
  ServerLink link_;
};

}  // namespace faultline
