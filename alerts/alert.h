// An alert: a finding as receivers know it.
#pragma once

#include <boost/json/fwd.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "store/outbox_row.h"

namespace faultline {

struct Alert {
  bool firing = true;
  // The alert's identity: few labels, unchanged for as long as the finding stands.
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  Timestamp starts;
  Timestamp ends;  // when it was resolved; of no meaning while it fires
  std::string generator_url;
  Severity severity = Severity::error;
  Role role = Role::cause;
  double confidence = 0;
};

// server: the URL at which people reach this service, without a slash at its end.
Alert alert_of(const OutboxRow& row, const ServerAddress& server);

// The alerts of a message, most important first.
std::vector<Alert> alerts_of(const std::vector<OutboxRow>& rows, const ServerAddress& server);

}  // namespace faultline
