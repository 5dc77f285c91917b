// The table of findings: what the rules believed, and from when to when.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "store/sqlite.h"
#include "store/store.h"

namespace faultline {

// As Store::reconcile_findings, within the caller's transaction.
std::size_t reconcile(Database& database, std::string_view job, int attempt,
                      const std::vector<Finding>& found, Timestamp now,
                      const std::set<std::string, std::less<>>& blamed);

// From the body of a row; throws if it is damaged.
Finding finding_of(const Database& database, std::string_view body);

FindingPage select_findings(Database& database, const FindingFilter& filter);

}  // namespace faultline
