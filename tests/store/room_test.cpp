#include "store/room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commits.h"
#include "store/store.h"
#include "temporary_folder.h"

namespace faultline {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kGigabyte = std::uint64_t{1} << 30;

TEST(Room, WhatWasDeletedFromTheFileIsRoomOnAFullDisk) {
  const TemporaryFolder folder;
  std::uint64_t reusable = 0;
  Room room(folder.path(), [&] { return reusable; });
  const std::uint64_t free = room.free_bytes().value();
  room.set_least(free + 10 * kGigabyte);
  ASSERT_TRUE(room.lack().has_value());
  EXPECT_THAT(*room.lack(), HasSubstr("0 MB in the database file"));
  reusable = 20 * kGigabyte;
  EXPECT_EQ(room.lack(), std::nullopt);
}

TEST(Room, TheFileIsNotAskedWhileTheDiskHasEnough) {
  const TemporaryFolder folder;
  bool was_asked = false;
  const Room room(folder.path(), [&] { return was_asked = true; }, 1);
  EXPECT_EQ(room.lack(), std::nullopt);
  EXPECT_FALSE(was_asked);
}

TEST(Room, ADeletedJobMakesRoom) {
  const TemporaryFolder folder;
  Store store(folder / "f.db");
  RandomBatches random(3);
  std::string job;
  for (std::uint64_t i = 0; i < 400; ++i) {
    const Commit commit = nth_commit(random, "source", i);
    job = commit.source.job;
    ASSERT_EQ(outcome(store, commit), "");
  }
  const std::uint64_t before = store.reusable_bytes();
  const std::uint64_t on_disk = store.bytes_in_use();
  store.delete_job(job, Timestamp(std::chrono::hours(24 * 21'000)));
  store.finish_deleting();
  EXPECT_GT(store.reusable_bytes(), before + on_disk / 2);
}

}  // namespace
}  // namespace faultline
