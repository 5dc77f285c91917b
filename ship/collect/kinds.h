// What may be collected, and how: a table in the program. Nothing that a server says becomes a part
// of a command.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace faultline {

struct CollectKind {
  enum class How { all_commands, first_command, port_counters, stacks, ras, flight_recorder };

  std::string_view name;
  std::string_view runs;  // for people
  How how = How::all_commands;
  std::vector<std::vector<std::string>> commands = {};
  bool keeps_end = false;    // the newest comes last
  bool asks_kernel = false;  // for its messages, if no command succeeds
};

const std::vector<CollectKind>& evidence_kinds();
// Null: there is no such kind.
const CollectKind* find_kind(std::string_view name);

// What "a,b" chooses; "all" stands for all of them.
struct ChosenKinds {
  std::set<std::string> names;
  std::string unknown;  // the first name that is none; empty: all are known
};
ChosenKinds choose_kinds(std::string_view text);

}  // namespace faultline
