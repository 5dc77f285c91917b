// What all forms of NCCL's lines have in common. Each family has a file of its own (nccl_lifetime,
// nccl_setup, ...); nccl_forms.cpp lists all forms.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/fact.h"
#include "parsers/nccl/nccl_line.h"

namespace faultline {

// The names of NCCL_DEBUG_SUBSYS. A line does not say which subsystem printed it.
enum class NcclSubsystem : std::uint8_t {
  init,
  coll,
  p2p,
  net,
  graph,
  tuning,
  env,
  alloc,
  call,
  proxy,
  nvls,
  bootstrap,
  reg,
  profile,
  ras,
  destroy,
  trace,    // really a level
  warning,  // of any subsystem
  unknown,
};
inline constexpr std::size_t kNcclSubsystems = static_cast<std::size_t>(NcclSubsystem::unknown) + 1;

std::string_view name_of(NcclSubsystem subsystem);  // INIT, ...; UNKNOWN

struct NcclMessage {
  std::string_view text;    // without blanks and carriage returns at its end
  std::int64_t thread = 0;  // the thread that printed it
  // Empty for levels that do not print them.
  std::string_view place;
  std::string_view function;
};

NcclMessage message_of(const NcclLine& line);

// A form: the output of one printf of NCCL, in all wordings that versions gave it.
struct NcclForm {
  std::string_view name;
  // The versions of each wording, "2.4.2-2.11.4, 2.12.7+"; docs/nccl-formats.md has a sample of
  // each.
  std::string_view versions;
  NcclSubsystem subsystem;
  std::string_view begins;  // how the message begins; empty: anything
  // Adds the facts of the message. False: the message is not of this form after all. nullptr: the
  // form has no facts; its lines are only counted.
  bool (*read)(const NcclMessage& message, std::vector<Fact>& facts);
  std::string_view becomes;  // the kinds of the facts; empty: none
  NcclLevel level = NcclLevel::info;
};

}  // namespace faultline
