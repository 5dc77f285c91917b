// What receivers are to be told of findings, as values. A row is one state of one alert for one
// receiver; it waits in the store until the receiver has accepted it.
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
  // By these the receiver knows the alert, whatever the finding has become.
  Severity severity = Severity::error;
  Role role = Role::cause;
  std::string incident;
  Timestamp since;     // when it began to be so
  Timestamp began;     // when the alert began to fire
  bool waits = false;  // it was not delivered yet
};

// Rows that are told together, some of which wait.
struct WaitingGroup {
  std::string group;
  Timestamp first_due;
  std::optional<Timestamp> last_delivered;
  std::uint64_t rows = 0;
};

enum class DeliveryOutcome {
  accepted,
  refused,  // for good: it is not told again
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
  bool told = false;  // to somebody, or about to be
};

struct Delivery {
  std::string receiver;
  std::string group;
  Timestamp due;
};

// Who is told of a finding. Called within the transaction that writes the finding: a function of
// its argument.
struct AlertRouting {
  std::function<std::vector<Delivery>(const AlertSubject&)> route;
  // What is not seen any more goes on firing for so long: it may come back.
  std::chrono::microseconds keep{0};
};

}  // namespace faultline
