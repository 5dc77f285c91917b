// Every printed command can be pasted: a shell can parse it, and nothing is left to fill in.
#include "rules/answer/pasteable.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "rules/knowledge/catalog.h"
#include "workshop.h"

namespace faultline {
namespace {

using testing::ContainsRegex;
using testing::Not;

void add(const std::vector<Action>& actions, std::set<std::string>& commands) {
  for (const Action& action : actions) commands.insert(action.command);
}

// The commands that the catalog recommends.
std::set<std::string> commands_of(const Catalog& catalog) {
  std::set<std::string> commands;
  for (const auto& [cause, advice] : catalog.advice) add(advice.actions, commands);
  for (const MessageSignature& signature : catalog.signatures->all())
    add(signature.actions, commands);
  for (const auto& condition : catalog.conditions.conditions) add(condition.actions, commands);
  for (const auto& [name, of] : catalog.counters->classes()) add(of.actions, commands);
  for (const HostEvidence& evidence : catalog.evidence)
    commands.insert({evidence.command, evidence.again});
  commands.erase("");
  return commands;
}

const Catalog& shipped() {
  static const Catalog catalog = load_catalog();
  return catalog;
}

TEST(Pasteable, EveryCommandOfTheCatalogIsReadByAShellWhateverIsKnown) {
  const std::set<std::string> commands = commands_of(shipped());
  EXPECT_GT(commands.size(), 120U);
  const AdviceSubject known{.host = "gpu-node-3",
                            .gpu = "0000:3b:00.0",
                            .rank = 27,
                            .nic = "mlx5_4",
                            .port = "1",
                            .pids = {40213},
                            .fields = {{"peer", "10.0.0.3"}, {"path", "/a b/it's"}}};
  Workshop workshop;
  std::size_t number = 0;
  for (const std::string& command : commands)
    for (const AdviceSubject& subject :
         {known, AdviceSubject{}, AdviceSubject{.rank = 27}, AdviceSubject{.pids = {1, 2}}}) {
      const std::string printed = completed_command(command, subject);
      EXPECT_THAT(printed, Not(ContainsRegex("<[a-z]|[^$]\\{[a-z_]+\\}|FAULTLINE"))) << command;
      std::ofstream(workshop.folder() / fmt::format("{}.sh", ++number)) << printed << "\n";
    }
  // One shell parses them all: a shell for each takes half a minute.
  EXPECT_EQ(workshop.make("bash -c 'for it in *.sh; do read -rd \"\" text <$it; eval \"it() {\n"
                          "$text\n}\" || echo \"$text\"; done' >out 2>&1"),
            "");
}

}  // namespace
}  // namespace faultline
