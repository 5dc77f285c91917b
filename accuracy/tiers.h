// How much is told of a fault by how much was sent: few real logs have calls, fewer a Flight
// Recorder's dumps or the logs of kernels.
#pragma once

#include <string>
#include <vector>

#include "accuracy/judgement.h"
#include "accuracy/reading.h"

namespace faultline::accuracy {

// Each has what the one before has.
enum class Tier {
  warnings,  // NCCL_DEBUG=WARN, and what PyTorch and its launcher print
  init,      // NCCL_DEBUG=INFO
  calls,     // its subsystem COLL
  recorder,  // dumps of the Flight Recorder
  hosts,     // what kernels and tools of the hosts say
};
inline constexpr Tier kTiers[] = {Tier::warnings, Tier::init, Tier::calls, Tier::recorder,
                                  Tier::hosts};
std::string_view name_of(Tier tier);

// What of a job's files is there.
Files files_of(Tier tier, const Files& all);

struct TierScore {
  bool verdict = false;
  bool told = false;  // the class first
  bool part = false;  // and its parts, and nobody else
  // Another cause at 0.5 or more, or a wrong part at 0.9. That the right rank died is no other
  // cause where nothing tells why.
  bool misled = false;
};

struct TierRun {
  std::string what;  // whose job
  std::string cause;
  Tier tier = Tier::warnings;
  TierScore score;
  std::string told;  // what came first; of one that misled
};

// Every fault with so many seeds, by each tier.
std::vector<TierRun> run_tiers(std::uint64_t first, std::uint64_t seeds, unsigned threads);

// Which mislead, a line for each.
std::string tier_troubles(const std::vector<TierRun>& runs);

std::string tier_tables(const std::vector<TierRun>& runs);

}  // namespace faultline::accuracy
