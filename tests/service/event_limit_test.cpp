#include "service/event_limit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "service/folded_job.h"

namespace faultline {
namespace {

constexpr std::size_t kMost = 100;

Event xid_event(int code, std::string gpu = "0000:1b:00.0") {
  return {.fact = GpuXid{.gpu = std::move(gpu), .code = code}, .text = "a line"};
}

// A batch of one second of one source.
Batch batch_of(std::vector<Event> events, std::uint64_t number) {
  Batch batch{.from_offset = 1000 * number, .to_offset = 1000 * (number + 1), .lines = 10};
  batch.speakers = {Speaker{}};
  batch.events = std::move(events);
  for (std::uint32_t i = 0; i < batch.events.size(); ++i) batch.events[i].order = i;
  return batch;
}

class Sender {
 public:
  explicit Sender(FoldedJob& job) : job_(job) {}

  // Returns how many events were kept.
  std::size_t send(std::vector<Event> events) {
    Batch batch = batch_of(std::move(events), number_);
    job_.limit(batch);
    stored_.push_back({.number = ++number_, .source = {"j", "dmesg", "n", -1}, .batch = batch});
    job_.fold(stored_.back());
    return batch.events.size();
  }
  const std::vector<StoredBatch>& stored() const { return stored_; }

 private:
  FoldedJob& job_;
  std::int64_t number_ = 0;
  std::vector<StoredBatch> stored_;
};

std::uint64_t told_left_out(FoldedJob& job) {
  std::uint64_t lines = 0;
  for (const JobState::LeftOut& one : FoldedJob::Reading(job)->left_out()) lines += one.lines;
  return lines;
}

TEST(EventLimit, AStormFillsItsShareAndWhatIsOverIsCounted) {
  FoldedJob job("j", {.events = kMost});
  Sender sender(job);
  std::size_t kept = 0;
  for (int i = 0; i < 1000; ++i) kept += sender.send({xid_event(31)});
  EXPECT_LT(kept, kMost);
  EXPECT_GE(kept, kMost / 2);
  EXPECT_EQ(told_left_out(job), 1000 - kept);
}

TEST(EventLimit, WhatComesAfterAStormIsStillTaken) {
  FoldedJob job("j", {.events = kMost});
  Sender sender(job);
  for (int i = 0; i < 1000; ++i) sender.send({xid_event(31)});
  EXPECT_EQ(sender.send({xid_event(79, "0000:2b:00.0")}), 1U);
  bool is_told = false;
  const FoldedJob::Reading reading(job);
  for (const XidIncident& incident : reading->hardware().xids()) is_told |= incident.code == 79;
  EXPECT_TRUE(is_told);
}

TEST(EventLimit, WhatIsNotStoredAnyMoreMakesRoom) {
  FoldedJob job("j", {.events = kMost});
  Sender sender(job);
  std::size_t kept = 0;
  for (int i = 0; i < 1000; ++i) kept += sender.send({xid_event(31)});
  EXPECT_EQ(sender.send({xid_event(31)}), 0U);
  job.events_were_dropped(std::vector<Event>(kept - 10, xid_event(31)));
  std::size_t more = 0;
  for (int i = 0; i < 1000; ++i) more += sender.send({xid_event(31)});
  EXPECT_EQ(more, kept - 10) << "as if the dropped ones had never come";
}

TEST(EventLimit, WhatIsNotStoredAnyMoreIsTakenOffTheShareOfItsKind) {
  FoldedJob job("j", {.events = kMost});
  Sender sender(job);
  for (int i = 0; i < 1000; ++i) sender.send({xid_event(31)});
  // More stay than the first half.
  for (int code = 100; code < 110; ++code) sender.send({xid_event(code)});
  EXPECT_EQ(sender.send({xid_event(31)}), 0U);
  job.events_were_dropped({xid_event(31)});
  EXPECT_EQ(sender.send({xid_event(100)}), 0U) << "what went was of another kind";
  EXPECT_EQ(sender.send({xid_event(31)}), 1U);
  EXPECT_EQ(sender.send({xid_event(31)}), 0U);
}

TEST(EventLimit, WhatWasDroppedWeighsNothing) {
  FoldedJob job("j", {.events = kMost});
  Sender sender(job);
  sender.send({xid_event(31)});
  const std::uint64_t weight = job.weight();
  Event long_one = xid_event(48);
  long_one.text = std::string(5000, 'x');
  sender.send({xid_event(31), long_one});
  EXPECT_GT(job.weight(), weight);
  job.events_were_dropped({xid_event(31), long_one});
  EXPECT_EQ(job.weight(), weight) << "nor do the bytes of logs";
}

TEST(EventsToDrop, AreAsManyAsStayOrAPartOfTheLimit) {
  constexpr std::uint64_t kLimit = 4'000'000;
  const auto is_worth = [](std::uint64_t all, std::uint64_t superseded, std::uint64_t spared) {
    return is_worth_dropping({.all = all, .superseded = superseded}, spared, 4'000'000, kLimit);
  };
  EXPECT_FALSE(is_worth(0, 0, 0));
  EXPECT_FALSE(is_worth(3000, 3000, 0)) << "too few";
  EXPECT_TRUE(is_worth(8000, 4000, 0));
  EXPECT_FALSE(is_worth(8001, 4000, 0));
  EXPECT_FALSE(is_worth(12000, 8000, 4000)) << "the spared ones stay";
  EXPECT_FALSE(is_worth(12000, 4000, 8000));
  EXPECT_TRUE(is_worth(2'000'000, kLimit / 16, 0)) << "before the limit is reached";
  EXPECT_FALSE(is_worth(2'000'000, kLimit / 16 - 1, 0));
}

TEST(EventsToDrop, AreLookedForSeldomWhereAllAreNeeded) {
  std::uint64_t spared = 0;
  std::uint64_t looked_at = 0;
  constexpr std::uint64_t kEvents = 900'000;
  for (std::uint64_t all = 0; all <= kEvents; all += 100) {
    const HeldEvents held{.all = all, .superseded = all};
    if (!is_worth_dropping(held, spared, 0, 4'000'000)) continue;
    looked_at += all;
    spared = held.superseded;
  }
  EXPECT_LE(looked_at, 2 * kEvents) << "the passes together";
}

TEST(EventLimit, AReplayCountsTheSame) {
  FoldedJob job("j", {.events = kMost});
  Sender sender(job);
  for (int i = 0; i < 300; ++i) sender.send({xid_event(31), xid_event(48)});
  FoldedJob again("j", {.events = kMost});
  for (const StoredBatch& stored : sender.stored()) again.fold(stored);
  EXPECT_EQ(told_left_out(again), told_left_out(job));
  EXPECT_GT(told_left_out(again), 0U);
  for (const int code : {31, 48, 79, 119}) {
    Batch live = batch_of({xid_event(code), xid_event(code)}, 1000);
    Batch replayed = live;
    job.limit(live);
    again.limit(replayed);
    EXPECT_EQ(replayed.events.size(), live.events.size()) << code;
    EXPECT_EQ(replayed.events.empty(), code == 31 || code == 48) << code;
  }
}

}  // namespace
}  // namespace faultline
