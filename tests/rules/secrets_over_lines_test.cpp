// Settings whose value stands in the line after their name.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rules/knowledge/catalog.h"
#include "rules/knowledge/without_secrets.h"

namespace faultline {
namespace {

std::string shown(const std::string& text) {
  static const Catalog catalog = load_catalog();
  return without_secrets(*catalog.secrets, text);
}

struct Written {
  std::string name;
  std::string before;
  std::string value;
  std::string after;
};

TEST(SecretsOverLines, AreHiddenWhereTheValueStandsBehindItsName) {
  const std::vector<Written> all = {
      {"YAML", "    - name: DB_PASSWORD\n      value: ", "hunter2hunter2", "\n    - name: RANK"},
      {"quoted", "- name: \"WANDB_API_KEY\"\n  value: \"",
       "0123456789abcdef0123456789abcdef01234567", "\""},
      {"JSON", "  {\"name\": \"HF_TOKEN\",\n   \"value\": \"", "abcdEFGH1234567890abcdEFGH", "\"}"},
      {"a console", "Name:  REDIS_PASSWORD\nValue: ", "hunter2hunter2", ""},
      {"key and value", "  Key = DB_PASSWORD\n  Value = ", "hunter2hunter2", ""},
      {"behind a prefix", "[pod/a] - name: DB_PASSWORD\r\n[pod/a]   value: ", "hunter2hunter2",
       "\r"},
      {"a block", "db:\n  password: |-\n    ", "hunter2hunter2", "\n  user: ada"},
      {"folded", "  password: >\n    ", "hunter2hunter2", ""},
      {"its own line", "  \"password\":\n    \"", "hunter2hunter2", "\",\n  \"user\": \"ada\""},
  };
  for (const Written& one : all)
    EXPECT_EQ(shown(one.before + one.value + one.after),
              one.before + std::string(one.value.size(), '*') + one.after)
        << one.name;
}

TEST(SecretsOverLines, AreNotSeenInWhatFollowsByChance) {
  for (const std::string& text : std::vector<std::string>{
           "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef: x",
           "- name: DB_PASSWORD\n- name: RANK\n  value: \"3\"",
           "- name: NCCL_DEBUG\n  value: INFO",
           "- name: MAX_TOKENS\n  value: \"4096\"",
           "  password:\n  user: ada",
           "  password:\n    the file holds none",
           "wrong password:\n    File",
           "reading password:\ngpu-7 kernel: NVRM: Xid (PCI:0000:3b:00): 79",
           "- name: DB_PASSWORD\n\n  value: of what comes later",
       })
    EXPECT_EQ(shown(text), text);
}

}  // namespace
}  // namespace faultline
