// Commits for the store's tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "random_batch.h"
#include "store/store.h"

namespace faultline {

constexpr Timestamp kNoon = Timestamp(std::chrono::hours(24 * 20000 + 12));
constexpr std::uint64_t kStep = 100;  // bytes per commit

// The commit number `index` of its source, counted from 0.
inline Commit nth_commit(RandomBatches& random, const std::string& source, std::uint64_t index) {
  Commit commit;
  commit.source = {.job = "llama", .name = source, .host = "n1", .rank = 3};
  commit.batch = random.batch();
  commit.batch.from_offset = index * kStep;
  commit.batch.to_offset = commit.batch.from_offset + kStep;
  commit.batch.recognized = index;
  commit.position = {commit.batch.to_offset, 7 * (index + 1), random.bytes(20)};
  commit.fingerprint = {commit.batch.from_offset, commit.batch.to_offset, random.any(),
                        random.any(), index % 2 == 0};
  commit.received = kNoon + std::chrono::seconds(index);
  return commit;
}

// Submits the commit and waits. Returns the error of the store, or nothing.
inline std::string outcome(Store& store, Commit commit) {
  std::string said;
  store.submit(std::move(commit),
               [&](const std::shared_ptr<const Commit>&, std::exception_ptr failure) {
                 try {
                   if (failure) std::rethrow_exception(failure);
                 } catch (const std::exception& error) {
                   said = error.what();
                 }
               });
  store.drain();
  return said;
}

// In these tests all calls are in their batches.
inline void expect_no_calls(std::string_view) { ADD_FAILURE() << "calls that nobody kept"; }

inline std::vector<StoredBatch> replay_all(Store& store, std::string_view job = "llama") {
  std::vector<StoredBatch> all;
  store.replay(job, expect_no_calls, [&](const StoredBatch& stored) { all.push_back(stored); });
  return all;
}

inline void expect_stored(const StoredBatch& stored, const Commit& commit) {
  EXPECT_EQ(stored.source, commit.source);
  EXPECT_EQ(stored.batch, commit.batch);
  EXPECT_EQ(stored.received, commit.received);
}

}  // namespace faultline
