// The forms of line that are known, in the order in which they are tried.
#pragma once

#include <span>
#include <vector>

#include "parsers/nccl/nccl_form.h"

namespace faultline {

std::span<const NcclForm> nccl_forms();

// Reads one line: adds its facts. nullptr: no form knows it.
const NcclForm* read_nccl_message(NcclLevel level, const NcclMessage& message,
                                  std::vector<Fact>& facts);
// As above, of a line that need not be whole: keeps only what cannot be wrong then.
const NcclForm* read_nccl_line(const NcclLine& line, std::vector<Fact>& facts);

// Of a line that may be cut anywhere, this still says what it means to say: its end is a word that
// the form demands.
bool stands_though_cut(const Fact& fact);

// What a message that no form knows is most likely about.
NcclSubsystem guessed_subsystem(std::string_view message);

}  // namespace faultline
