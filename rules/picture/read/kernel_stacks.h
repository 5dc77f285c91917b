// The stack that a kernel prints below a crash or a hang: its first frame in a module shows which
// driver or file system the kernel was in.
#pragma once

#include <vector>

#include "rules/picture/read/kernel_sightings.h"

namespace faultline {

// Gives crashes and hangs the fields "module" and "function".
void read_stacks(const View& view, std::vector<KernelSighting>& all);

// Whether the driver that the kernel was in when it crashed reported shortly before that this NIC
// failed, and not that it works again.
bool is_failure_of_driver(const KernelSighting& sighting, const KernelSighting& crash);

}  // namespace faultline
