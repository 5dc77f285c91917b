// A YAML file and the packed form that the build makes of it are the same tree.
#include "rules/knowledge/yaml_node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "rules/knowledge/catalog_files.h"
#include "rules/knowledge/embedded.h"

namespace faultline {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

// Everything that a reader can ask of a node.
std::string written(const YamlNode& node) {
  std::string text = std::to_string(node.line());
  if (node.is_text()) text += "'" + std::string(node.text()) + "'";
  if (node.is_list()) {
    text += "[";
    for (const YamlNode& item : node.items()) text += written(item) + ",";
    text += "]";
  }
  if (node.is_map()) {
    text += "{";
    for (const auto& [key, value] : node.fields())
      text += written(key) + ":" + written(value) + ",";
    text += "}";
  }
  return text;
}

TEST(YamlNode, TellsWhatStandsInAFileAndWhere) {
  const YamlTree tree("- a: text\n  b: [1, '']\n  c: ~\n- e\n");
  EXPECT_EQ(tree.fault().what, "");
  EXPECT_EQ(written(tree.root()), "1[1{1'a':1'text',2'b':2[2'1',2'',],3'c':3,},4'e',]");
  const YamlNode& first = tree.root().items()[0];
  ASSERT_NE(first.find("b"), nullptr);
  EXPECT_THAT(first.find("b")->items(), SizeIs(2));
  ASSERT_NE(first.find("c"), nullptr) << "a field may be there and say nothing";
  EXPECT_EQ(first.find("d"), nullptr);
  EXPECT_EQ(tree.root().find("a"), nullptr);
}

TEST(YamlNode, WhatIsReferredToStandsThereAgain) {
  const YamlTree tree("a: &one [x]\nb: *one\n");
  EXPECT_EQ(written(*tree.root().find("b")), written(*tree.root().find("a")));
}

TEST(YamlNode, AKeyThatStandsTwiceIsKeptTwice) {
  EXPECT_THAT(YamlTree("a: 1\na: 2\n").root().fields(), SizeIs(2));
}

TEST(YamlNode, PackedFilesOfTheCatalogAreWhatTheirYamlSays) {
  std::size_t compared = 0;
  const auto compare = [&](const EmbeddedFile& file, const std::string& folder) {
    if (!file.name.ends_with(".yaml")) return;
    const std::string text = read_catalog_text(folder + std::string(file.name)).text;
    const YamlTree parsed(text);
    const YamlTree packed(file.text);
    EXPECT_EQ(packed.fault().what, "");
    EXPECT_EQ(written(packed.root()), written(parsed.root())) << file.name;
    EXPECT_EQ(parsed.pack(), file.text) << file.name;
    ++compared;
  };
  const std::string catalog = TESTS_DIR "/../rules/knowledge/catalog/";
  for (const EmbeddedFile& file : embedded_files()) compare(file, catalog);
  for (const EmbeddedFile& file : embedded_signatures()) compare(file, catalog + "signatures/");
  EXPECT_GT(compared, 40U);
}

TEST(YamlNode, BytesThatAreDamagedAreRefusedOrATree) {
  const std::string whole = YamlTree("- a: text\n  b: [1, 2, {c: d}]\n- e\n").pack();
  for (std::size_t cut = 18; cut < whole.size(); ++cut)
    EXPECT_NE(YamlTree(std::string_view(whole).substr(0, cut)).fault().what, "") << cut;
  for (std::size_t at = 18; at < whole.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      const YamlTree tree(damaged);
      EXPECT_LT(written(tree.root()).size(), 1000U);
    }
}

TEST(YamlNode, AFileThatStandsForMoreThanItHoldsIsRefused) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) bomb += before + (k < 9 ? ", " : "]\n");
  }
  EXPECT_THAT(YamlTree(bomb).fault().what, HasSubstr("expands to too much"));
}

TEST(YamlNode, WhatIsNoYamlIsRefusedWithItsLine) {
  const YamlTree tree("a: 1\nb: [1\nc: 2\n");
  EXPECT_THAT(tree.fault().what, HasSubstr("correct the YAML there"));
  EXPECT_GE(tree.fault().line, 2U);
  EXPECT_FALSE(tree.root().is_map());
}

}  // namespace
}  // namespace faultline
