// The table of findings: what the rules believed, and from when to when.
#pragma once

#include <string_view>
#include <vector>

#include "store/sqlite.h"
#include "store/store.h"

namespace faultline {

// As Store::reconcile_findings, within the caller's transaction.
std::size_t reconcile(Database& database, std::string_view job, int attempt,
                      const std::vector<Finding>& found, Timestamp now);

FindingPage select_findings(Database& database, const FindingFilter& filter);

}  // namespace faultline
