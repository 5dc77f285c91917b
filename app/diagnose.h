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

// Prints the diagnosis to stdout and everything else to stderr. Returns 0 if nothing wrong was
// found, 1 if a fault was found, 2 if the logs could not be read, 3 if they do not decide.
int run_diagnose(const DiagnoseOptions& options);

}  // namespace faultline
