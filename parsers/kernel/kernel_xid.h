// Reads what the kernel log says about a host's GPUs and about its own start: the NVIDIA driver's
// Xid lines, the lines that name a GPU, and the banner of a boot.
//
// The text may begin with another message that lost its newline. One text may hold several records
// of the driver, which prints them as continuations. The caller must know whether a program only
// quoted such a line (Message::from_user_space).
#pragma once

#include <string_view>
#include <vector>

#include "parsers/parser.h"

namespace faultline {

// NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=python3, GPU has fallen off the bus.
// NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.
// NVRM: GPU at PCI:0000:3b:00: GPU-5d0e11aa-0a3c-4d8e-9c77-1f21c0de0042
bool parse_nvrm(std::string_view text, std::vector<Reading>& readings);

// Linux version 5.15.0-91-generic (builder@host) (gcc …) #101-Ubuntu SMP …
// Booting Linux on physical CPU 0x0000000000 [0x410fd4f0]
bool parse_boot(std::string_view text, std::vector<Reading>& readings);

}  // namespace faultline
