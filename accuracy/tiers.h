// How good answers are, by what was sent: few real logs have lines of calls, and fewer come with
// Flight Recorder dumps or kernel logs.
#pragma once

#include <string>
#include <vector>

#include "accuracy/judgement.h"
#include "accuracy/reading.h"

namespace faultline::accuracy {

// Each tier also has everything of the tiers before it.
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

// What a tier has of a job's files.
Files files_of(Tier tier, const Files& all);

struct TierScore {
  bool verdict = false;
  bool told = false;  // the right class comes first
  bool part = false;  // and it names its parts and no others
  // Another cause at 0.5 or more, or a wrong part at 0.9. The statement that the right rank died
  // does not mislead where nothing shows why.
  bool misled = false;
};

struct TierRun {
  std::string what;  // the scenario and seed
  std::string cause;
  Tier tier = Tier::warnings;
  TierScore score;
  std::string told;  // the causes that were stated, if the run misled
};

// Diagnoses every fault with so many seeds, on each tier.
std::vector<TierRun> run_tiers(std::uint64_t first, std::uint64_t seeds, unsigned threads);

// The runs that mislead, one line each.
std::string tier_troubles(const std::vector<TierRun>& runs);

std::string tier_tables(const std::vector<TierRun>& runs);

}  // namespace faultline::accuracy
