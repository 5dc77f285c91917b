// Settings whose value stands in the line after their name.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "rules/knowledge/catalog.h"
#include "rules/knowledge/secrets.h"
#include "rules/knowledge/without_secrets.h"

namespace faultline {
namespace {

const Secrets& of_the_catalog() {
  static const std::shared_ptr<const Secrets> secrets = load_catalog().secrets;
  return *secrets;
}

std::string shown(const std::string& text) { return without_secrets(of_the_catalog(), text); }

struct Written {
  std::string name;
  std::string before;
  std::string value;
  std::string after;
};

// A server stores the name of an open setting. "Key: NAME" names one.
TEST(SecretsOverLines, AreNotTakenForNames) {
  for (const std::string line :
       {"X-Api-Key: q7Xm2Kd9vT4bR8nLq7Xm2Kd9vT4bR8nL", "Key: REDIS_PASSWORD"}) {
    OpenSecret open;
    std::string hidden;
    const bool is_secret = of_the_catalog().hide(line, false, open, hidden);
    EXPECT_EQ(open.setting, is_secret ? "" : "REDIS_PASSWORD") << line;
    EXPECT_EQ(is_secret, line.starts_with("X-")) << line;
  }
}

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
