// The table of findings: what the rules believed, and from when to when.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/sqlite.h"
#include "store/store.h"

namespace faultline {

// As Store::reconcile_findings, within the caller's transaction.
std::size_t reconcile(Database& database, std::string_view job, int attempt,
                      const std::vector<Finding>& found, Timestamp now, const Standing& standing,
                      const AlertRouting& routing);

std::optional<StoredFinding> review(Database& database, std::string_view id, const Review& review,
                                    Timestamp now, const AlertRouting& routing);

// From the body of a row; throws if it is damaged.
Finding finding_of(const Database& database, std::string_view body);

FindingPage select_findings(Database& database, const FindingFilter& filter);
std::uint64_t select_last_change(Database& database);

std::vector<PastReview> select_reviews(Database& database, std::string_view id);  // oldest first

// Returns how many; 0: there are no more.
std::uint64_t delete_some_ended(Database& database, Timestamp before);

// For metrics.
std::vector<FindingTally> select_finding_tallies(Database& database);
std::vector<ReviewTally> select_review_tallies(Database& database);

}  // namespace faultline
