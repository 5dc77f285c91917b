// What is to be sent to receivers about findings, as values. A row is one state of one alert for
// one receiver; it waits in the store until the receiver has accepted it.
#pragma once

#include <boost/describe.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/finding.h"

namespace faultline {

// The part a finding plays in the diagnosis of its job. Only causes page.
enum class Role { cause, symptom, observation };
BOOST_DESCRIBE_ENUM(Role, cause, symptom, observation)

struct StoredFinding {
  Finding finding;
  std::string job;
  int attempt = 1;
  Timestamp opened;
  std::optional<Timestamp> resolved;
  Role role = Role::observation;
  std::string incident;  // equal for the causes and symptoms of one failure; empty: of none
  // Why it ended: not_seen, counter_stopped, new_attempt, job_ended, closed, wrong.
  std::string reason;
  std::string review;  // what an operator said last: acknowledged, wrong, closed, reopened
  std::uint64_t change = 0;
};

struct OutboxRow {
  std::int64_t id = 0;
  StoredFinding finding;  // as it is now
  bool firing = true;
  // The receiver knows the alert by these, whatever the finding is by now.
  Severity severity = Severity::error;
  Role role = Role::cause;
  std::string incident;
  Timestamp since;     // when it began to fire, or was resolved
  Timestamp began;     // when the alert began to fire
  bool waits = false;  // not delivered yet
};

// Rows that are sent together, at least one of which waits.
struct WaitingGroup {
  std::string group;
  Timestamp first_due;
  std::optional<Timestamp> last_delivered;
  std::uint64_t rows = 0;
};

enum class DeliveryOutcome {
  accepted,
  refused,  // for good: it is not sent again
  unknown,  // it may have arrived
  unsent,
};

struct AlertSubject {
  const Finding& finding;
  std::string_view job;
  Role role = Role::cause;
  std::string_view incident;
  Timestamp now;
  Timestamp opened;
  bool told = false;  // was sent to a receiver, or waits to be
};

struct Delivery {
  std::string receiver;
  std::string group;
  Timestamp due;
};

// Decides which receivers a finding is sent to. Called within the transaction that writes the
// finding, so its answer must depend on nothing but the argument.
struct AlertRouting {
  std::function<std::vector<Delivery>(const AlertSubject&)> route;
  // How long an alert goes on firing after its finding was last seen: it may come back.
  std::chrono::microseconds keep{0};
};

}  // namespace faultline
