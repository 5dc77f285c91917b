// The settings of `serve`: its flags, and the configuration file.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/alert_options.h"
#include "app/config_file.h"
#include "http/tls.h"
#include "logging/log.h"
#include "service/retention.h"

namespace CLI {
class App;
}

namespace faultline {

struct ServeOptions {
  std::string listen = "127.0.0.1:8686";
  std::string syslog;  // empty: it does not listen for syslog
  std::string data = "./faultline-data";
  std::string job;
  std::string rules;
  std::string body_idle_timeout = "1h";
  std::string stall_after = "2m";
  std::string rest_after = "10m";
  std::string resolve_after = "24h";
  AlertOptions alerts;
  SettingsFile file;
  std::size_t max_connections = 1024;
  std::vector<std::string> allowed_hosts;
  std::string min_free = "128MB";
  std::string memory = "50%";
  std::string keep_jobs = "90d";
  std::string keep_findings = "400d";
  std::string keep_at_most = "0";
  std::string keep_lines = "64MB";
  std::string shorten_after = "4MB";
  std::string tokens;
  TlsFiles tls;
  std::string log_format = "logfmt";
  bool insecure = false;
  bool keep_secrets = false;
  std::string config;
  bool print_config = false;
  bool check_config = false;
};

// The flags; their long names are the keys of the file.
void add_serve_options(CLI::App& command, ServeOptions& options);

LogFormat log_format_of(const ServeOptions& options);

struct ListenAddress {
  std::string host;
  unsigned short port = 0;
};

// 127.0.0.1:8686, [::1]:8686, localhost:8686
std::optional<ListenAddress> listen_address(const std::string& text);

// The same, or only a port, of 127.0.0.1.
std::optional<ListenAddress> syslog_address(const std::string& text);

// `text` must be a valid setting.
std::chrono::seconds seconds_of(const std::string& text);

// How long things are kept. Throws std::runtime_error with one line that says what is wrong with a
// [[keep]] table.
RetentionSettings retention_of(const ServeOptions& options);

// How much memory all jobs together may take; 0: no limit.
std::uint64_t memory_of(const ServeOptions& options);

// What the command line says; it overrides the file.
using Given = std::vector<std::pair<std::string, std::vector<std::string>>>;
Given given_to(const CLI::App& command);

// The settings of this command line and of the present content of the file. Throws as
// apply_config_file() does.
struct ReadSettings {
  ServeOptions options;
  std::vector<std::pair<std::string, std::string>> values;  // by key
};
ReadSettings read_settings(const Given& given, const std::string& config);

}  // namespace faultline
