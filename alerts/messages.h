// Alerts as messages, in the format of each type of receiver.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alerts/alert.h"
#include "alerts/receiver.h"

namespace faultline {

// What a message is about.
struct Occasion {
  std::string group;  // equal for all messages of one group
  std::string_view external_url;
  Timestamp now;
};

// POST /api/v2/alerts. A firing alert ends at `expires` unless it is sent again.
std::string alertmanager_message(std::span<const Alert> alerts, Timestamp expires);

// Alertmanager's own webhook, version 4.
std::string webhook_message(const Receiver& receiver, std::span<const Alert> alerts,
                            const Occasion& occasion);

// Events API v2: one event for the group.
std::string pagerduty_message(const Receiver& receiver, std::span<const Alert> alerts,
                              const Occasion& occasion);

std::string slack_message(std::span<const Alert> alerts);

// t=SECONDS,v1=HEX: HMAC-SHA256 over "SECONDS.BODY".
std::string signature_of(std::string_view secret, std::string_view body, Timestamp now);

}  // namespace faultline
