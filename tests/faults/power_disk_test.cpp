#include "faults/power_disk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "workshop.h"

namespace faultline::faults {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::Pair;

constexpr std::uint32_t kFile = 20;

// Operations one after the other; each takes one byte of the journal.
class Deeds {
 public:
  PowerDisk disk;

  void create(std::string_view name) { apply({.deed = Deed::create, .file = kFile}, name); }
  void write(std::uint64_t offset, std::string_view bytes) {
    apply({.deed = Deed::write, .file = kFile, .offset = offset}, bytes);
  }
  void truncate(std::uint64_t length) {
    apply({.deed = Deed::truncate, .file = kFile, .offset = length}, "");
  }
  void remove(std::string_view name) { apply({.deed = Deed::remove}, name); }
  void rename(std::string_view from, std::string_view to) {
    apply({.deed = Deed::rename, .offset = from.size()}, std::string(from) + std::string(to));
  }
  // Syncs what was done until now, or until `began`.
  void sync() { sync(end_); }
  void sync(std::uint64_t began) {
    apply({.deed = Deed::sync, .file = kFile, .offset = began}, "");
  }
  void sync_folder() { apply({.deed = Deed::sync_folder, .offset = end_}, ""); }
  std::uint64_t now() const { return end_; }

  // All sets of files that power cuts with many seeds leave.
  std::set<std::map<std::string, std::string>> left() const {
    std::set<std::map<std::string, std::string>> all;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      Workshop workshop;
      Random random(seed);
      disk.leave_behind(workshop.folder(), random);
      std::map<std::string, std::string> files;
      for (const auto& entry : fs::directory_iterator(workshop.folder()))
        files[entry.path().filename()] = read_file(entry.path());
      all.insert(files);
    }
    return all;
  }

 private:
  void apply(DeedHeader header, std::string_view content) {
    header.size = content.size();
    disk.apply(header, content, ++end_);
  }

  std::uint64_t end_ = 0;
};

TEST(PowerDisk, KeepsWhatWasSyncedWhateverTheChance) {
  Deeds deeds;
  deeds.create("a");
  deeds.write(0, "synced");
  deeds.sync();
  deeds.sync_folder();
  EXPECT_THAT(deeds.left(), ElementsAre(ElementsAre(Pair("a", "synced"))));
  EXPECT_FALSE(deeds.disk.has_unsynced());
}

TEST(PowerDisk, MayKeepOrLoseWhatWasNotSynced) {
  Deeds deeds;
  deeds.create("a");
  deeds.write(0, "old");
  deeds.sync();
  deeds.sync_folder();
  deeds.write(0, "new");
  EXPECT_THAT(deeds.left(),
              ElementsAre(ElementsAre(Pair("a", "new")), ElementsAre(Pair("a", "old"))));
  EXPECT_TRUE(deeds.disk.has_unsynced());
}

TEST(PowerDisk, DoesNotCountAWriteToASyncThatBeganBeforeIt) {
  Deeds deeds;
  deeds.create("a");
  deeds.write(0, "old");
  deeds.sync();
  deeds.sync_folder();
  const std::uint64_t began = deeds.now();
  deeds.write(0, "new");
  deeds.sync(began);
  EXPECT_EQ(deeds.left().size(), 2u);
}

TEST(PowerDisk, TearsAWriteAtSectorsOfTheDiskOnly) {
  Deeds deeds;
  deeds.create("a");
  deeds.write(0, std::string(1536, '.'));
  deeds.sync();
  deeds.sync_folder();
  deeds.write(500, std::string(1000, 'x'));  // it touches three sectors
  const auto left = deeds.left();
  EXPECT_EQ(left.size(), 8u) << "each of the three is there or not";
  for (const auto& files : left) {
    const std::string& text = files.at("a");
    for (std::size_t sector = 0; sector < 3; ++sector) {
      const std::string written = text.substr(std::max<std::size_t>(500, sector * 512),
                                              std::min<std::size_t>(1500, sector * 512 + 512) -
                                                  std::max<std::size_t>(500, sector * 512));
      EXPECT_EQ(written.find_first_not_of(written.front()), std::string::npos);
    }
  }
}

TEST(PowerDisk, FillsWithZerosWhatWasNeverWritten) {
  Deeds deeds;
  deeds.create("a");
  deeds.write(2, "x");
  deeds.sync();
  deeds.sync_folder();
  EXPECT_THAT(deeds.left(), ElementsAre(ElementsAre(Pair("a", std::string("\0\0x", 3)))));
}

TEST(PowerDisk, MayLoseAFileWhoseFolderWasNotSynced) {
  Deeds deeds;
  deeds.create("a");
  deeds.write(0, "synced");
  deeds.sync();
  EXPECT_THAT(deeds.left(), ElementsAre(testing::IsEmpty(), ElementsAre(Pair("a", "synced"))));
}

TEST(PowerDisk, KeepsTheOrderOfWhatHappensToNames) {
  Deeds deeds;
  deeds.create("a");
  deeds.write(0, "synced");
  deeds.sync();
  deeds.sync_folder();
  deeds.rename("a", "b");
  deeds.remove("b");
  EXPECT_THAT(deeds.left(), ElementsAre(testing::IsEmpty(), ElementsAre(Pair("a", "synced")),
                                        ElementsAre(Pair("b", "synced"))));
}

TEST(PowerDisk, MayForgetThatAFileWasCut) {
  Deeds deeds;
  deeds.create("a");
  deeds.write(0, "long");
  deeds.sync();
  deeds.sync_folder();
  deeds.truncate(0);
  EXPECT_THAT(deeds.left(),
              ElementsAre(ElementsAre(Pair("a", "")), ElementsAre(Pair("a", "long"))));
}

}  // namespace
}  // namespace faultline::faults
