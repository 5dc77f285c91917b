// A receiver: who is to be told of findings, of which, how and when. Plain values, as the
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

// What is told in one message.
enum class GroupBy { incident, finding, job };
BOOST_DESCRIBE_ENUM(GroupBy, incident, finding, job)

// Minutes of the day, UTC. from > to: over midnight.
struct QuietTime {
  std::chrono::minutes from{0};
  std::chrono::minutes to{0};
  bool operator==(const QuietTime&) const = default;
};

struct Receiver {
  std::string name;  // unique; of a list of replicas each is a receiver of its own
  ReceiverType type = ReceiverType::webhook;

  std::string url;
  std::vector<std::string> command;  // program and arguments; the message comes on its stdin
  std::string ca_file;               // whom to trust besides the system's authorities
  std::string bearer;                // the Authorization header's token
  std::string secret;                // messages are signed with it
  std::string routing_key;           // PagerDuty's
  bool allow_private = false;        // whether it may lie in a network that is not public
  std::chrono::milliseconds timeout{10'000};

  // Which findings. Patterns may hold '*'; none: all.
  std::vector<std::string> classes;
  std::vector<std::string> jobs;
  std::vector<std::string> hosts;
  Severity min_severity = Severity::error;
  double min_confidence = 0;
  Timestamp not_before;   // what was opened earlier, and never told, is old news
  bool symptoms = false;  // false: causes only
  bool send_resolved = true;

  // When.
  std::chrono::milliseconds hold{30'000};  // how long a finding must stand
  GroupBy group_by = GroupBy::incident;
  std::chrono::milliseconds group_wait{5'000};
  std::chrono::milliseconds group_interval{300'000};  // between two messages of a group
  std::vector<QuietTime> quiet;  // nothing is told in them, but of the severity below and above
  Severity quiet_below = Severity::critical;
  std::chrono::milliseconds retry_max{30'000};  // between two attempts
  std::chrono::milliseconds resend{60'000};     // Alertmanager is told again what fires

  bool operator==(const Receiver&) const = default;
};

// What its type asks for, where the configuration says nothing.
Receiver default_receiver(ReceiverType type);

}  // namespace faultline
