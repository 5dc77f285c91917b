#include "app/read_ahead.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace faultline {
namespace {

using namespace std::chrono_literals;

SourceBatch batch(std::uint64_t number) {
  SourceBatch made;
  made.batch.lines = number;
  return made;
}

// "0: 1 2 end, 1: ...": all that it returns until its end.
std::vector<std::string> all(ReadAhead& ahead) {
  std::vector<std::string> got;
  while (!ahead.finished()) {
    const auto item = ahead.next(10s);
    if (!item) return {"nothing came"};
    const auto* read = std::get_if<SourceBatch>(&item->what);
    got.push_back(std::to_string(item->input) +
                  (read ? " batch " + std::to_string(read->batch.lines)
                        : " end " + std::get<InputEnd>(item->what).trouble));
  }
  return got;
}

TEST(ReadAhead, HandsOutInTheOrderOfTheInputsWhoeverIsFaster) {
  std::vector<std::string> expected;
  for (std::size_t input = 0; input < 200; ++input) {
    for (std::uint64_t i = 0; i < input % 7; ++i)
      expected.push_back(std::to_string(input) + " batch " + std::to_string(i));
    expected.push_back(std::to_string(input) + " end t" + std::to_string(input));
  }
  for (const unsigned threads : {1U, 2U, 8U}) {
    ReadAhead ahead(200, threads, [](std::size_t input, const Deliver& deliver) {
      std::mt19937 random(static_cast<unsigned>(input));
      for (std::uint64_t i = 0; i < input % 7; ++i) {
        for (unsigned wait = random() % 8; wait > 0; --wait) std::this_thread::yield();
        EXPECT_TRUE(deliver(batch(i)));
      }
      return InputEnd{true, "t" + std::to_string(input)};
    });
    EXPECT_EQ(all(ahead), expected);
  }
}

TEST(ReadAhead, WaitsWhenItIsTooFarAhead) {
  constexpr unsigned kThreads = 3;
  constexpr std::size_t kMost =
      kThreads * ReadAhead::kInputsPerThread * ReadAhead::kBatchesPerInput + kThreads;
  std::atomic<std::size_t> made = 0;
  ReadAhead ahead(100, kThreads, [&](std::size_t, const Deliver& deliver) {
    for (std::uint64_t i = 0; i < 50; ++i) {
      ++made;
      deliver(batch(i));
    }
    return InputEnd{true, ""};
  });
  std::size_t taken = 0;
  while (!ahead.finished()) {
    EXPECT_LE(made.load(), taken + kMost);
    const auto item = ahead.next(10s);
    ASSERT_TRUE(item);
    taken += std::holds_alternative<SourceBatch>(item->what) ? 1 : 0;
  }
  EXPECT_EQ(taken, 5000U);
}

TEST(ReadAhead, StopsReadingWhenNobodyWantsMore) {
  std::atomic<bool> told = false;
  {
    ReadAhead ahead(10, 1, [&](std::size_t, const Deliver& deliver) {
      while (deliver(batch(1))) {
      }
      told = true;
      return InputEnd{};
    });
    ASSERT_TRUE(ahead.next(10s));
  }
  EXPECT_TRUE(told);
}

TEST(ReadAhead, ThrowsWhatReadingThrewInItsTurn) {
  ReadAhead ahead(3, 2, [](std::size_t input, const Deliver& deliver) {
    if (input == 1) throw std::runtime_error("out of memory");
    deliver(batch(input));
    return InputEnd{true, ""};
  });
  EXPECT_TRUE(std::holds_alternative<SourceBatch>(ahead.next(10s)->what));
  EXPECT_TRUE(std::holds_alternative<InputEnd>(ahead.next(10s)->what));
  EXPECT_THROW((void)ahead.next(10s), std::runtime_error);
}

TEST(ReadAhead, DoesNotWaitLongerThanItsCallerHasPatience) {
  std::mutex gate;
  std::unique_lock closed(gate);
  ReadAhead ahead(1, 1, [&](std::size_t, const Deliver&) {
    const std::lock_guard wait(gate);
    return InputEnd{true, ""};
  });
  EXPECT_FALSE(ahead.next(1ms));
  closed.unlock();
  EXPECT_TRUE(ahead.next(10s));
  EXPECT_TRUE(ahead.finished());
}

}  // namespace
}  // namespace faultline
