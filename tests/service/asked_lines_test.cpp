#include "service/asked_lines.h"

#include <gtest/gtest.h>

namespace faultline {
namespace {

Catalog asking_for(const std::string& literal) {
  MessageSignature signature{.id = "a.b", .literals = {literal}, .pattern = literal};
  Catalog catalog;
  catalog.signatures =
      std::make_shared<const Signatures>(std::vector<MessageSignature>{std::move(signature)});
  return catalog;
}

TEST(AskedLines, GoByTheCatalogThatIsInForce) {
  LiveCatalog catalog(asking_for("quota exceeded"));
  const AskedLines asked(catalog);
  EXPECT_TRUE(asked.wants("quota exceeded on /data", ""));
  EXPECT_FALSE(asked.wants("out of inodes", ""));
  catalog.replace(asking_for("out of inodes"));
  EXPECT_FALSE(asked.wants("quota exceeded on /data", ""));
  EXPECT_TRUE(asked.wants("out of inodes", ""));
}

TEST(LiveCatalog, LeavesAReaderTheOneItBeganWith) {
  LiveCatalog catalog(asking_for("quota exceeded"));
  const auto before = catalog.get();
  catalog.replace(asking_for("out of inodes"));
  EXPECT_TRUE(before->signatures->wants("quota exceeded", ""));
  EXPECT_TRUE(catalog.get()->signatures->wants("out of inodes", ""));
  EXPECT_EQ(catalog.version(), 1u);
}

}  // namespace
}  // namespace faultline
