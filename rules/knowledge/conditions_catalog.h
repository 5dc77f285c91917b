// Which words and levels in the reports of tools mean that something is wrong with a part, as data
// (conditions.yaml).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/finding.h"

namespace faultline {

// Names are compared by their letters and digits; * stands for anything.
using NamePatterns = std::vector<std::string>;
bool matches_any(const NamePatterns& patterns, std::string_view normalised_name);

// Letters and digits in lower case, and the / between the steps of a path.
std::string normalised_field(std::string_view name);

struct PartCondition {
  std::string id;
  std::string kind;
  std::vector<std::string> tools;  // empty: any
  NamePatterns fields;

  // The test of the value: one of these is set.
  std::vector<std::string> is;
  std::vector<std::string> is_not;
  std::vector<std::string> contains;
  std::optional<double> above;
  std::optional<double> below;
  std::uint64_t bits = 0;
  bool below_max = false;
  std::optional<double> share_of_max;  // with below_max: below this share of the maximum
  std::optional<double> grows_per_hour;

  // If a note of the field contains one of these, it means something else.
  std::vector<std::string> unless_said;

  std::map<std::string, std::string> named;  // names that the part must have, and their values
  bool under_load = false;
  bool before_start = false;     // means something only if the job never got to work
  std::optional<bool> siblings;  // true: most similar parts say otherwise; false: they do not

  Cause finding = Cause::none;
  Severity severity = Severity::warning;
  double confidence = 0;
  Verdict impact = Verdict::slow;  // healthy: it is only mentioned
  std::string title;
  std::vector<Action> actions;
};

// The names and words that tools use for ports.
struct PortWords {
  NamePatterns state, physical, rate, type, layer, could_be, mtu, active_mtu;
  NamePatterns interface_type;
  NamePatterns speed, enabled_speeds, cable_speeds;
  NamePatterns virtual_interfaces;
  std::vector<std::string> speeds;                        // from the slowest up
  std::set<std::string, std::less<>> infiniband;          // types of interfaces
  std::set<std::string, std::less<>> asked_by;            // tools that are asked for one port
  std::map<std::string, std::string, std::less<>> words;  // "portactive" -> "active"

  // active, initialize, …; empty: an unknown word.
  std::string state_of(std::string_view value) const;
};

struct ConditionsCatalog {
  std::set<std::string, std::less<>> unknown;  // values that say nothing, normalised
  NamePatterns load;
  PortWords ports;
  std::vector<PartCondition> conditions;

  bool says_nothing(std::string_view value) const;
};

}  // namespace faultline
