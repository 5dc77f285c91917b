// The known forms of NCCL's lines, in the order in which they are tried.
#pragma once

#include <span>
#include <vector>

#include "parsers/nccl/nccl_form.h"

namespace faultline {

std::span<const NcclForm> nccl_forms();

// Adds the facts of one message. nullptr: no form matches.
const NcclForm* read_nccl_message(NcclLevel level, const NcclMessage& message,
                                  std::vector<Fact>& facts);
// As above, for a line that may be merged with others or quoted: keeps only the facts that are
// right even then.
const NcclForm* read_nccl_line(const NcclLine& line, std::vector<Fact>& facts);

// Whether the fact is right even if its line was cut: the form demands a word at the end.
bool stands_though_cut(const Fact& fact);

// The most likely subsystem of a message that no form matches.
NcclSubsystem guessed_subsystem(std::string_view message);

}  // namespace faultline
