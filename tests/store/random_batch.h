// Batches for the store's tests, with any content.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "model/batch.h"

namespace faultline {

class RandomBatches {
 public:
  explicit RandomBatches(std::uint32_t seed) : random_(seed) {}

  std::uint64_t number(std::uint64_t below) {
    return std::uniform_int_distribution<std::uint64_t>(0, below - 1)(random_);
  }
  bool chance(int percent) { return number(100) < static_cast<std::uint64_t>(percent); }

  // Mostly small numbers, sometimes any.
  std::uint64_t any() { return chance(70) ? number(100) : random_(); }

  // Any bytes: NUL, broken UTF-8, line ends.
  std::string bytes(std::size_t most) {
    std::string text(number(most + 1), ' ');
    for (char& c : text) c = static_cast<char>(number(256));
    return text;
  }

  EventTime time() {
    EventTime time;
    if (chance(50)) time.wall_us = static_cast<std::int64_t>(random_());
    if (chance(30)) time.uptime_us = static_cast<std::int64_t>(any());
    time.uncertainty_us = static_cast<std::int64_t>(any());
    time.zone_assumed = chance(30);
    return time;
  }

  Fact fact() {
    switch (number(4)) {
      case 0:
        return CommunicatorInit{.communicator = random_(),
                                .rank = static_cast<int>(number(64)),
                                .gpu = "0000:3b:00.0",
                                .parent = chance(50) ? std::optional(random_()) : std::nullopt,
                                .function = bytes(20),
                                .complete = chance(50)};
      case 1:
        return CommunicatorEnd{.communicator = random_(), .ending = CommunicatorEnding::aborted};
      case 2:
        return HostBooted{.kernel = bytes(10)};
      default:
        return GpuXid{.gpu = "0000:3b:00.0", .code = 79, .detail = bytes(60)};
    }
  }

  // Its values need not make sense, except that places count upwards.
  Batch batch() {
    Batch batch;
    batch.from_offset = any();
    batch.to_offset = any();
    batch.first_line = any();
    batch.lines = any();
    batch.recognized = any();
    batch.skipped = any();
    batch.left_out = any();
    batch.end = static_cast<SourceEnd>(number(3));
    if (chance(50)) batch.dialects = {{"nccl", any()}, {bytes(8), any()}};
    if (chance(50)) batch.subsystems = {{"NET", any()}, {bytes(8), any()}};
    batch.speakers.resize(number(5));
    for (Speaker& speaker : batch.speakers)
      speaker = {bytes(12), static_cast<std::int64_t>(any()), static_cast<int>(number(10)) - 1,
                 static_cast<int>(number(10)) - 1};
    batch.signatures.resize(number(6));
    for (Signature& signature : batch.signatures)
      signature = {bytes(10),
                   any(),
                   static_cast<int>(number(20)) - 2,
                   static_cast<int>(number(9)),
                   static_cast<int>(number(70)),
                   chance(20),
                   chance(20)};
    std::uint32_t order = 0;
    batch.runs.resize(number(5));
    batch.events.resize(number(4));
    for (CallRun& run : batch.runs) fill(run, order++);
    for (Event& event : batch.events) fill(event, order++);
    return batch;
  }

 private:
  void fill(CallRun& run, std::uint32_t order) {
    run.order = order;
    run.speaker = static_cast<std::uint32_t>(any());
    run.communicator = random_();
    run.nranks = static_cast<int>(number(1000));
    run.first_time = time();
    run.last_time = time();
    run.last_text = bytes(200);
    const bool regular = chance(50);
    const std::size_t calls = number(chance(10) ? 3000 : 30);
    for (std::uint32_t i = 0; i < calls; ++i) {
      if (regular)
        run.calls.push_back({i / 3 + 7, i % 5, i * 4 + order, i * 600, i / 4 * 250});
      else
        run.calls.push_back({any(), static_cast<std::uint32_t>(any()),
                             static_cast<std::uint32_t>(any()), static_cast<std::uint32_t>(any()),
                             static_cast<std::uint32_t>(any())});
    }
  }

  void fill(Event& event, std::uint32_t order) {
    event = {order,     static_cast<std::uint32_t>(number(6)), any(), any(), time(), fact(),
             bytes(300)};
  }

  std::mt19937_64 random_;
};

}  // namespace faultline
