// `faultline diagnose`: the analysis of the service, offline, over files, folders and stdin.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/time.h"

namespace faultline {

struct DiagnoseOptions {
  std::string job = "offline";
  std::string host;                    // of lines that name none
  std::optional<Timestamp> boot_time;  // of the host of kernel lines stamped with its uptime
  std::string format = "text";         // text, json, markdown or html
  std::string color = "auto";          // auto, always or never; of text alone
  bool verbose = false;
  bool explain = false;
  bool keep_secrets = false;
  std::optional<std::filesystem::path> rules;
  std::vector<std::string> paths;
};

// Prints the diagnosis to stdout and everything else to stderr. Returns 0 when nothing wrong was
// found, 1 when a fault was, 2 when it could not look, 3 when what was read does not decide.
int run_diagnose(const DiagnoseOptions& options);

}  // namespace faultline
