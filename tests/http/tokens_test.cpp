#include "http/tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace faultline {
namespace {

using testing::HasSubstr;

TEST(Tokens, AreFoundByTheirSecretAlone) {
  const NewToken shipper = new_token("shipper", {Scope::ingest});
  NewToken grafana = new_token("grafana", {Scope::read, Scope::operate});
  grafana.token.jobs = "llama-";
  grafana.token.until = parse_rfc3339("2026-12-31T00:00:00Z");
  const auto tokens = Tokens::parse("# who may\n\n" + line_of(shipper.token) +
                                    "  # the cluster's\n" + line_of(grafana.token) + "\r\n");
  ASSERT_TRUE(tokens) << tokens.error().message;
  EXPECT_EQ(tokens->size(), 2U);
  const Token* found = tokens->with_secret(grafana.secret);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->name, "grafana");
  EXPECT_EQ(found->scopes.text(), "read,operate");
  EXPECT_EQ(found->jobs, "llama-");
  EXPECT_EQ(found->until, grafana.token.until);
  EXPECT_EQ(tokens->with_secret(grafana.secret + "0"), nullptr);
  EXPECT_EQ(tokens->with_secret(""), nullptr);
  EXPECT_THAT(line_of(shipper.token), testing::Not(HasSubstr(shipper.secret)));
}

TEST(Tokens, TwoOfOneNameAreTwoSecrets) {
  EXPECT_NE(new_token("a", {Scope::read}).secret, new_token("a", {Scope::read}).secret);
}

TEST(Tokens, WhatIsWrongWithALineIsSaidWithItsNumber) {
  const std::string hash = " sha256:" + std::string(64, 'a');
  for (const auto& [text, complaint] : {
           std::pair<std::string, std::string>{"a read", "line 1: is not NAME SCOPES"},
           {"\na write" + hash, "line 2: \"write\" is no scope"},
           {"a read sha256:12", "line 1: its third word"},
           {"a read sha256:" + std::string(64, 'A'), "line 1: its third word"},
           {"a read" + hash + " until=tomorrow", "line 1: \"until=tomorrow\""},
           {"a read" + hash + " rate=0", "line 1: \"rate=0\" is not rate="},
           {"a read" + hash + " rate=2x", "line 1: \"rate=2x\" is not rate="},
           {"a read" + hash + " job=x", "line 1: \"job=x\" is neither"},
           {"a read" + hash + "\na read" + hash, "line 2: an earlier line has a token a too"},
           {"a read trainer",
            "line 1: its third word is neither sha256:HASH nor the name of a certificate"},
           {"a read cn:", "line 1: its third word"},
           {"a read cn:a%0", "line 1: its third word"},
           {"a read cn:a%00b", "line 1: its third word"},
           {"a read dns:N7\nb read dns:n7",
            "line 2: the token a has the certificate dns:n7 already"},
       }) {
    SCOPED_TRACE(text);
    const auto tokens = Tokens::parse(text);
    ASSERT_FALSE(tokens);
    EXPECT_THAT(tokens.error().message, HasSubstr(complaint));
  }
}

TEST(Tokens, OneThatStandsForACertificateHasNoSecretAndIsFoundByThatNameOfIt) {
  const auto tokens = Tokens::parse(
      "trainer ingest cn:trainer jobs=llama-\nann read cn:Ann%20Example\n"
      "n7 read dns:N7.Example\n");
  ASSERT_TRUE(tokens) << tokens.error().message;
  const auto found = [&](const std::vector<std::string>& names) {
    std::string all;
    for (const Token* token : tokens->with_certificate(names)) all += token->name + ' ';
    return all;
  };
  EXPECT_EQ(found({"dns:localhost", "cn:trainer"}), "trainer ");
  EXPECT_EQ(found({"dns:trainer", "cn:Trainer", "cn:trainer2", "uri:cn:trainer"}), "");
  EXPECT_EQ(found({"cn:Ann Example", "dns:n7.example"}), "ann n7 ");
  EXPECT_EQ(found({""}), "");
  EXPECT_EQ(tokens->with_secret("cn:trainer"), nullptr);
  EXPECT_EQ(tokens->with_secret(""), nullptr);
  EXPECT_EQ(line_of(tokens->all()[0]), "trainer ingest cn:trainer jobs=llama-");
  EXPECT_EQ(line_of(tokens->all()[1]), "ann read cn:Ann%20Example");
}

TEST(Tokens, ThoseOfAnAdminAreGoodForAll) {
  const Scopes admin = Scopes{Scope::admin}.with_implied();
  for (const Scope scope : {Scope::ingest, Scope::read, Scope::operate})
    EXPECT_TRUE(admin.any_of({scope}));
  EXPECT_FALSE(Scopes{Scope::ingest}.with_implied().any_of({Scope::read}));
}

}  // namespace
}  // namespace faultline
