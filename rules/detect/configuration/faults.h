// The families of configuration faults. Most look at one crew.
#pragma once

#include <optional>
#include <vector>

#include "rules/detect/configuration/crew.h"
#include "rules/knowledge/suspicion.h"
#include "rules/picture/read/fingerprint.h"

namespace faultline {

// Settings in which processes differ that should agree (settings.yaml), versions among them.
std::vector<Suspicion> find_differing_settings(const View& view, const Crew& crew);

// Values that defeat their purpose (settings.yaml).
std::vector<Suspicion> find_suspicious_settings(const View& view, const Crew& crew);

// Such values, and variables that people misunderstand, in scripts and commands.
std::vector<Suspicion> find_misunderstood_variables(const View& view);

// Hosts that have other NICs than their peers.
std::vector<Suspicion> find_differing_devices(const View& view, const Crew& crew);

// Sockets where RDMA is there or was meant.
std::vector<Suspicion> find_network_fallback(const View& view, const Crew& crew);

// RDMA that goes through the host's memory.
std::vector<Suspicion> find_gdr_disabled(const View& view, const Crew& crew);

// GPUs of one host that do not reach each other directly.
std::vector<Suspicion> find_p2p_disabled(const View& view, const Crew& crew);

// What is worse than at the job's last start that got to work, or only different.
std::vector<Suspicion> find_changes_since_last_start(const View& view);
std::optional<StartFingerprint> last_start_that_worked(const View& view);

}  // namespace faultline
