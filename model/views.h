// The values in answers about a job: read from its state, written as JSON by model/json.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/finding.h"

namespace faultline {

// GET /api/v1/jobs: one line of the list.
struct JobOverview {
  std::string job;
  Verdict verdict = Verdict::unknown;
  int ranks_expected = 0;
  int ranks_seen = 0;
  int attempts = 1;
  std::optional<Timestamp> last_activity;  // when something last arrived
  std::string cause;                       // title of the first; empty: none is worth a line
  std::optional<double> confidence;        // in it
  std::optional<Timestamp> since;          // when the trouble began, as far as lines say
};

struct CommunicatorView {
  std::string id;
  int nranks = 0;
  int members_seen = 0;
  std::uint64_t furthest = 0;  // collectives its leading rank has entered
  std::uint64_t slowest = 0;   // and its last one
  bool matched = true;         // false: it is a guess that these members belong together
};

// As Flight Recorder dumps know it.
struct ProcessGroupView {
  std::string id;  // as the diagnosis names it: "0 (default_pg)"
  int nranks = 0;
  int members_seen = 0;  // with a dump that knows the group
};

struct GpuView {
  std::string host;
  std::string gpu;
  std::string uuid;
  std::optional<int> rank;
};

struct SourceView {
  std::string name;
  std::string host;
  std::uint64_t bytes = 0;
  std::uint64_t lines = 0;
  std::uint64_t recognized = 0;
};

// One value of one setting, and the hosts of the job that have it.
struct SettingView {
  std::string setting;  // "environment NCCL_ALGO", "devices IB", "network connected"
  std::string value;
  int hosts = 0;                     // how many have it
  std::vector<std::string> only_on;  // their names, unless it is the most common value
};

// GET /api/v1/jobs/{job}
struct JobDetail {
  JobOverview overview;
  std::vector<std::string> hosts;
  std::vector<GpuView> gpus;
  std::vector<std::string> nics;
  std::vector<CommunicatorView> communicators;
  std::vector<ProcessGroupView> process_groups;
  std::vector<SourceView> sources;
  std::map<std::string, std::vector<std::string>> versions;  // "nccl", "driver"
  std::vector<std::string> network;                          // IB, Socket
  std::vector<SettingView> settings;
};

// Where a rank stands in one communicator.
struct StandingView {
  std::string communicator;
  int rank = 0;                // in this communicator
  std::uint64_t position = 0;  // collectives entered
  std::uint64_t behind = 0;    // how many its furthest peer is ahead
  std::uint64_t point_to_point = 0;
  std::optional<std::uint64_t> op_count;  // as NCCL printed it last
  std::string last_call;
  std::optional<Evidence> last_line;
};

// GET /api/v1/jobs/{job}/ranks
struct RankView {
  int rank = -1;  // -1: its place in the job is not known
  std::string host;
  std::int64_t pid = 0;
  std::string gpu;
  std::string state;  // "in_step", "behind", "diverged", "unknown"
  std::vector<StandingView> standings;
};

}  // namespace faultline
