// Whatever a pickle claims to hold, reading it takes a bounded number of bytes and of allocations.
#include <gtest/gtest.h>

#include "counted_allocations.h"
#include "hostile_pickles.h"
#include "parsers/torch/pickle.h"

namespace faultline {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr std::size_t kMostAllocations = 100'000;

TEST(PickleMemory, IsBoundedWhateverAPickleClaims) {
  if (!COUNTS_ALLOCATIONS) GTEST_SKIP() << "sanitizers have their own allocator";
  for_each_hostile_pickle([](const HostilePickle& hostile) {
    SCOPED_TRACE(hostile.name);
    const counted::Allocations allocated;
    const Pickle pickle = read_pickle(hostile.bytes);
    EXPECT_EQ(pickle.outcome, Pickle::Outcome::refused);
    EXPECT_FALSE(pickle.reason.empty());
    // Includes the bytes of the pickle itself, of which no more than this are held.
    EXPECT_LT(allocated.peak() + std::min(hostile.bytes.size(), kMaxPickleBytes), kMostBytes);
    EXPECT_LT(allocated.number(), kMostAllocations);
  });
}

}  // namespace
}  // namespace faultline
