// A receiver of alerts: which findings are sent to it, how and when. Plain values, as the
// configuration has them.
#pragma once

#include <boost/describe.hpp>

#include <chrono>
#include <string>
#include <vector>

#include "model/finding.h"

namespace faultline {

enum class ReceiverType { alertmanager, webhook, pagerduty, slack, command };
BOOST_DESCRIBE_ENUM(ReceiverType, alertmanager, webhook, pagerduty, slack, command)

// Which alerts share a message.
enum class GroupBy { incident, finding, job };
BOOST_DESCRIBE_ENUM(GroupBy, incident, finding, job)

// Minutes of the day, UTC. from > to: over midnight.
struct QuietTime {
  std::chrono::minutes from{0};
  std::chrono::minutes to{0};
  bool operator==(const QuietTime&) const = default;
};

struct Receiver {
  std::string name;  // unique; each replica of a list is its own receiver
  ReceiverType type = ReceiverType::webhook;

  std::string url;
  std::vector<std::string> command;  // program and arguments; the message is on its stdin
  std::string ca_file;               // authorities to trust besides the system's
  std::string bearer;                // the Authorization header's token
  std::string secret;                // messages are signed with it
  std::string routing_key;           // PagerDuty's
  bool allow_private = false;        // whether its address may be in a private network
  std::chrono::milliseconds timeout{10'000};

  // Which findings. Patterns may contain '*'; an empty list matches all.
  std::vector<std::string> classes;
  std::vector<std::string> jobs;
  std::vector<std::string> hosts;
  Severity min_severity = Severity::error;
  double min_confidence = 0;
  Timestamp not_before;   // a finding that was opened earlier and never sent is old news
  bool symptoms = false;  // false: causes only
  bool send_resolved = true;

  // When.
  std::chrono::milliseconds hold{30'000};  // how long a finding must stand
  GroupBy group_by = GroupBy::incident;
  std::chrono::milliseconds group_wait{5'000};
  std::chrono::milliseconds group_interval{300'000};  // between two messages of a group
  std::vector<QuietTime> quiet;  // in these, only findings of quiet_below and above are sent
  Severity quiet_below = Severity::critical;
  std::chrono::milliseconds retry_max{30'000};  // between two attempts
  std::chrono::milliseconds resend{60'000};     // how often Alertmanager is sent its alerts again

  bool operator==(const Receiver&) const = default;
};

// The defaults of a type, for what the configuration does not set.
Receiver default_receiver(ReceiverType type);

}  // namespace faultline
