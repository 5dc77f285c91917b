// A hostile dump on its way in takes little memory and time, and the resulting fact says why it was
// refused.
#include <gtest/gtest.h>

#include <chrono>

#include "counted_allocations.h"
#include "hostile_pickles.h"
#include "ingest/reader.h"

namespace faultline {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr std::size_t kPiece = std::size_t{64} << 10;  // as bodies and files are read

// The factor is for debug builds on busy machines.
constexpr auto kMostTime = std::chrono::milliseconds(100) * 20;

TEST(DumpMemory, IsBoundedFromTheFirstByteToTheRefusal) {
  if (!COUNTS_ALLOCATIONS) GTEST_SKIP() << "sanitizers have their own allocator";
  for_each_hostile_pickle([](const HostilePickle& hostile) {
    SCOPED_TRACE(hostile.name);
    const counted::Allocations allocated;
    const auto begun = Clock::now();
    Reader reader(Cursor{}, Timestamp{});
    for (std::size_t at = 0; at < hostile.bytes.size(); at += kPiece)
      reader.feed(std::string_view(hostile.bytes).substr(at, kPiece));
    reader.close();
    const Batch batch = reader.take();
    EXPECT_LT(Clock::now() - begun, kMostTime);
    EXPECT_LT(allocated.peak(), kMostBytes);
    ASSERT_EQ(batch.events.size(), 1U);
    EXPECT_FALSE(std::get<FlightRecorderDump>(batch.events.front().fact).refused.empty());
    EXPECT_EQ(batch.skipped, 1U);
  });
}

}  // namespace
}  // namespace faultline
