// What the line forms of NCCL have in common. Each family has its own file (nccl_lifetime,
// nccl_setup, ...); the list of all forms is in nccl_forms.cpp.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/fact.h"
#include "parsers/nccl/nccl_line.h"

namespace faultline {

// What NCCL_DEBUG_SUBSYS calls them. Lines do not print theirs.
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
  trace,    // a level of its own
  warning,  // belongs to none
  unknown,
};
inline constexpr std::size_t kNcclSubsystems = static_cast<std::size_t>(NcclSubsystem::unknown) + 1;

std::string_view name_of(NcclSubsystem subsystem);  // INIT, ...; UNKNOWN

struct NcclMessage {
  std::string_view text;    // without blanks and carriage returns at its end
  std::int64_t thread = 0;  // that printed it
  // Where the level prints them.
  std::string_view place;
  std::string_view function;
};

NcclMessage message_of(const NcclLine& line);

// A form of line: what one printf of NCCL writes, as it changed from version to version.
struct NcclForm {
  std::string_view name;
  // The versions of each wording, "2.4.2-2.11.4, 2.12.7+"; docs/nccl-formats.md shows one of each.
  std::string_view versions;
  NcclSubsystem subsystem;
  std::string_view begins;  // with this; empty: anything may stand there
  // Adds what the message says. False: it is not of this form after all. nullptr: it says nothing
  // that a fact could hold, and is counted.
  bool (*read)(const NcclMessage& message, std::vector<Fact>& facts);
  std::string_view becomes;  // the kinds of the facts; empty: none
  NcclLevel level = NcclLevel::info;
};

}  // namespace faultline
