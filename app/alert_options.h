// Who gets alerts: the flags, and the [[receiver]] tables of the configuration file.
#pragma once

#include <string>
#include <vector>

#include "alerts/receiver.h"
#include "app/config_file.h"

namespace CLI {
class App;
}

namespace faultline {

struct AlertOptions {
  std::vector<std::string> alertmanagers;
  std::vector<std::string> webhooks;
  std::string hold = "30s";
  std::string keep;
  std::string external_url;
};

void add_alert_options(CLI::App& command, AlertOptions& options);

// Without a slash at its end. `own`: where the service listens.
std::string external_url(const AlertOptions& options, const std::string& own);

// The receivers of the flags, then those of the file's [[receiver]] tables. Throws
// std::runtime_error with one line that names the file, the line, the table, the key and the fix.
std::vector<Receiver> receivers_of(const AlertOptions& options, const ConfigTables& all);

}  // namespace faultline
