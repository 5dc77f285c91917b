#include "service/event_limit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

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
  job.events_were_dropped(kept - 10);
  std::size_t more = 0;
  for (int i = 0; i < 1000; ++i) more += sender.send({xid_event(31)});
  EXPECT_EQ(more, kept - 10) << "as if the dropped ones had never come";
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
