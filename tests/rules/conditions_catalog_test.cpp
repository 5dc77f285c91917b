#include "rules/knowledge/conditions_catalog.h"

#include <gtest/gtest.h>

#include "rules/knowledge/catalog.h"
#include "rules/knowledge/catalog_files.h"

namespace faultline {
namespace {

TEST(NamePatterns, StandForAnythingAtTheirStars) {
  struct Case {
    const char* pattern;
    const char* name;
    bool matches;
  };
  const Case cases[] = {
      {"fabric/state", "fabric/state", true},
      {"fabric/state", "fabric/status", false},
      {"*reasons*/hwslowdown", "clockseventreasons/hwslowdown", true},
      {"*reasons*/hwslowdown", "clockseventreasonscounters/hwslowdown", true},
      {"*reasons*/hwslowdown", "clockseventreasons/hwslowdown/hwpowerbrakeslowdown", false},
      {"eccerrors/volatile/*uncorrectable*", "eccerrors/volatile/sramuncorrectableparity", true},
      {"eccerrors/volatile/*uncorrectable*", "eccerrors/aggregate/dramuncorrectable", false},
      {"*", "", true},
      {"a*a", "a", false},
      {"*ab*", "xxabyy", true},
  };
  for (const Case& one : cases)
    EXPECT_EQ(matches_any({one.pattern}, one.name), one.matches)
        << one.pattern << " of " << one.name;
}

TEST(PortWords, OfAllToolsAreTheSameStates) {
  const Catalog catalog = load_catalog();
  const PortWords& ports = catalog.conditions.ports;
  for (const char* word : {"Active", "ACTIVE", "4: ACTIVE", "PORT_ACTIVE (4)"})
    EXPECT_EQ(ports.state_of(word), "active") << word;
  for (const char* word : {"Initialize", "Initializing", "2: INIT", "PORT_INIT (2)"})
    EXPECT_EQ(ports.state_of(word), "initialize") << word;
  for (const char* word : {"Down", "1: DOWN", "PORT_DOWN (1)"})
    EXPECT_EQ(ports.state_of(word), "down") << word;
  for (const char* word : {"Polling", "2: Polling", "POLLING (2)"})
    EXPECT_EQ(ports.state_of(word), "polling") << word;
  EXPECT_EQ(ports.state_of("LinkUp"), "");
  EXPECT_EQ(ports.state_of("???"), "");
}

std::string complaint_about(std::string_view condition) {
  const std::string head =
      "unknown: [\"N/A\"]\nload: [util]\nports:\n  state: [state]\n  physical: [p]\n  rate: [r]\n"
      "  type: [t]\n  layer: [l]\n  could_be: [c]\n  mtu: [m]\n  active_mtu: [a]\n"
      "  words: {active: [active]}\n  virtual: [lo]\nconditions:\n";
  try {
    read_conditions("conditions.yaml", head + std::string(condition));
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "none";
}

TEST(Conditions, AWrongEntryIsRefusedWithItsMend) {
  const std::string rest =
      "finding: gpu.hang, severity: error, confidence: 0.5, impact: slow, title: x}\n";
  EXPECT_EQ(complaint_about("  - {id: a, kind: gpu, fields: [x], above: 0, " + rest), "none");
  EXPECT_EQ(complaint_about("  - {id: a, kind: cpu, fields: [x], above: 0, " + rest),
            "conditions.yaml:15: kind \"cpu\" is unknown; use gpu, nvlink, port, netdev, link, "
            "host, path, job, nodes, fabric or pod");
  EXPECT_EQ(complaint_about("  - {id: a, kind: gpu, fields: [x], " + rest),
            "conditions.yaml:15: an entry needs exactly one of is, is_not, contains, above, below, "
            "bits, below_max and grows_per_hour");
  EXPECT_EQ(complaint_about("  - {id: a, kind: gpu, fields: [x], bits: 12, " + rest),
            "conditions.yaml:15: bits \"12\" is not a hexadecimal number; write one such as 0xe8");
  EXPECT_EQ(complaint_about("  - {id: a, kind: gpu, fields: [x], above: 0, " + rest +
                            "  - {id: a, kind: gpu, fields: [x], above: 0, " + rest),
            "conditions.yaml:16: a is listed twice, first in line 15; rename one");
}

}  // namespace
}  // namespace faultline
