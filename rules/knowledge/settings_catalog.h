// What the field knows of settings, as data (settings.yaml): which of them ranks must agree on, and
// which values defeat their purpose.
#pragma once

#include <boost/describe.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/finding.h"

namespace faultline {

// Between whom a setting should be the same.
enum class Between { ranks, hosts, nobody };
BOOST_DESCRIBE_ENUM(Between, ranks, hosts, nobody)

// What it means if a process prints other settings, but not this one.
enum class Absence { unknown, differs };
BOOST_DESCRIBE_ENUM(Absence, unknown, differs)

struct ComparedSetting {
  Between between = Between::nobody;
  Absence absent = Absence::unknown;
  Cause cause = Cause::config_environment_mismatch;
  Severity severity = Severity::warning;   // info: an observation
  std::optional<Severity> if_not_started;  // if the odd ranks never got to work
  std::optional<double> confidence;        // if one host differs from many
  std::string name;                        // for people; empty: as it is written
  std::string why;                         // follows a colon
};

// In which jobs a value means something.
enum class Where { anywhere, several_hosts, shared_hosts };
BOOST_DESCRIBE_ENUM(Where, anywhere, several_hosts, shared_hosts)

struct SuspiciousValue {
  std::string setting;
  std::vector<std::string> values;       // "*": any
  std::vector<std::string> except;       // and not these
  std::optional<std::int64_t> at_least;  // a number, no smaller than this
  std::vector<std::string> lacks;        // holds none of these texts
  std::string without;                   // another variable that is not set beside it
  Where where = Where::anywhere;
  Cause cause = Cause::config_environment_mismatch;
  Severity severity = Severity::info;  // if all ranks have it; if only some have, it is a warning
  std::optional<double> confidence;
  std::string why;

  bool is_about(std::string_view question) const;
  bool matches(std::string_view question, std::string_view value) const;
};

// A setting is named by its question: "environment NCCL_ALGO". One that ends in "*" stands for all
// that begin so. For values, "eth*" means begins with, "*/" ends with, "*%d*" contains.
struct SettingsCatalog {
  std::map<std::string, ComparedSetting, std::less<>> compared;
  std::vector<SuspiciousValue> suspicious;

  // The most specific entry for the setting; nullptr: none.
  const ComparedSetting* find(std::string_view question) const;
};

}  // namespace faultline
