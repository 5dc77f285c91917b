// The table of the outbox.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "store/sqlite.h"
#include "store/store.h"

namespace faultline {

// Writes the rows for receivers, within the transaction that writes the finding. `fires`: the
// finding is open and nobody has muted it. `certain`: it ended for good, so its end is due at once.
void route_finding(Database& database, std::int64_t number, const AlertSubject& subject, bool fires,
                   bool certain, const AlertRouting& routing);

// As the functions of Store.
std::vector<WaitingGroup> select_waiting_groups(Database& database, std::string_view receiver);
std::vector<OutboxRow> begin_delivery(Database& database, std::string_view receiver,
                                      std::string_view group, Timestamp now);
void end_delivery(Database& database, const std::vector<std::int64_t>& rows,
                  DeliveryOutcome outcome, Timestamp now);
std::vector<OutboxRow> select_standing_rows(Database& database, std::string_view receiver,
                                            Timestamp resolved_since);

}  // namespace faultline
