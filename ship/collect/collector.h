// EvidenceCollector: decides whether what a server asks for is collected, and collects it. It knows
// no server; WantedLoop asks one.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "ship/collect/history.h"
#include "ship/collect/job_processes.h"
#include "ship/collect/kinds.h"
#include "ship/collect/run_command.h"
#include "ship/collect/stacks.h"
#include "ship/collect/wanted.h"
#include "ship/log_target.h"

namespace faultline {

struct CollectSettings {
  std::set<std::string> kinds;  // that are switched on
  bool dry_run = false;
  std::string path;  // where commands are looked for; empty: the agent's PATH
  std::string proc = "/proc";
  std::string sys = "/sys";
  std::uint16_t ras_port = 28028;
  CommandLimits command;
  StackLimits stacks{.of_each = {.bytes = std::size_t{1} << 20}};
  std::chrono::milliseconds between_counters{10'000};
  CollectPace pace;
  std::chrono::milliseconds wait_for_room{60'000};
};

// A piece of evidence, whole, on its way to the spool.
struct CollectedText {
  LogTarget target;
  std::string text;
};

// Takes a piece of evidence. False: there is no room for it now.
using GiveEvidence = std::function<bool(const CollectedText&)>;

struct CollectOutcome {
  std::string outcome;  // sent, failed, refused, dry_run
  std::string detail;   // short, for people
};

class EvidenceCollector {
 public:
  // `host`: of the agent. `state`: its folder. `give` is called where collect() is.
  EvidenceCollector(CollectSettings settings, std::string host, const std::filesystem::path& state,
                    GiveEvidence give);

  // From one thread. Returns when what was found is given.
  CollectOutcome collect(const CollectRequest& wanted);

  void know_logs(std::map<std::string, LogsOfJob> logs);  // of each job; from any thread
  void stop();                                            // from any thread
  const CollectSettings& settings() const { return settings_; }

 private:
  std::string refusal(const CollectRequest& wanted);
  CollectOutcome run(const CollectKind& kind, const CollectRequest& wanted);
  Gathered gather(const CollectKind& kind, const CollectRequest& wanted);
  Gathered gather_commands(const CollectKind& kind);
  Gathered gather_ras(const CollectRequest& wanted);
  bool is_known(const std::string& job) const;
  std::vector<JobProcess> processes_of(const std::string& job, const std::set<int>& ranks) const;
  bool hand_over(const CollectKind& kind, const CollectRequest& wanted,
                 std::vector<GatheredText> texts);

  const CollectSettings settings_;
  const std::string host_;
  const GiveEvidence give_;
  std::atomic<bool> stopped_ = false;
  CommandRunner commands_;
  CollectHistory history_;
  mutable std::mutex mutex_;
  std::map<std::string, LogsOfJob> logs_;
};

// Whether a source was named by a collector of this host.
bool is_collected(const LogTarget& target);

}  // namespace faultline
