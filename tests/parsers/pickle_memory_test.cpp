// However a pickle is made, reading it takes a bounded number of bytes and of allocations: what it
// claims to hold is not believed before it is there.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

#include "parsers/pickle.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COUNTS_ALLOCATIONS 0
#else
#define COUNTS_ALLOCATIONS 1
#endif

namespace {

std::atomic<std::size_t> live_bytes = 0;
std::atomic<std::size_t> peak_bytes = 0;
std::atomic<std::size_t> allocations = 0;

}  // namespace

#if COUNTS_ALLOCATIONS
void* operator new(std::size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  const std::size_t live = live_bytes += malloc_usable_size(memory);
  if (live > peak_bytes) peak_bytes = live;
  ++allocations;
  return memory;
}
void operator delete(void* memory) noexcept {
  if (memory != nullptr) live_bytes -= malloc_usable_size(memory);
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
#endif

namespace faultline {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kMostBytes = 64 * kMiB;
constexpr std::size_t kMostAllocations = 100'000;

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

struct Hostile {
  const char* name;
  std::string bytes;
};

std::vector<Hostile> hostile_pickles() {
  using namespace std::string_literals;
  const std::string begin = "\x80\x02"s;
  std::string doubling = begin + "]q\0"s;
  for (char i = 0; i < 100; ++i) doubling += "](h"s + i + 'h' + i + "eq" + static_cast<char>(i + 1);
  return {
      {"code", begin + "cos\nsystem\n(X\x02\0\0\0lstR."s},
      {"marks", begin + repeated("(", 4 * kMiB)},
      {"lists within lists", begin + repeated("]", 8 * kMiB) + repeated("a", 8 * kMiB) + "."},
      {"tuples within tuples", begin + ")" + repeated("\x85", 16 * kMiB) + "."},
      {"a list that doubles", doubling + "."},
      {"a place in the memo far away", begin + "]r\xff\xff\xff\x7f."s},
      {"a text that is not there", "\x80\x04\x8d\0\0\0\0\0\0\0\x10x"s},
      {"numbers", begin + "](" + repeated("K\x01", 16 * kMiB) + "e."},
      {"nothing, often", begin + "](" + repeated("N", 32 * kMiB) + "e."},
      {"one thing, often", begin + "]q\0("s + repeated("h\0"s, 16 * kMiB) + "e."},
      {"texts", begin + "](" + repeated("X\x10\0\0\0yyyyyyyyyyyyyyyy"s, kMiB) + "e."},
      {"a frame without an end", "\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\x7f}."s},
  };
}

TEST(PickleMemory, IsBoundedWhateverAPickleClaims) {
  if (!COUNTS_ALLOCATIONS) GTEST_SKIP() << "sanitizers have their own allocator";
  for (const Hostile& hostile : hostile_pickles()) {
    SCOPED_TRACE(hostile.name);
    const std::size_t before = live_bytes;
    const std::size_t allocated = allocations;
    peak_bytes = before;
    const Pickle pickle = read_pickle(hostile.bytes);
    EXPECT_EQ(pickle.outcome, Pickle::Outcome::refused);
    EXPECT_LT(peak_bytes - before, kMostBytes);
    EXPECT_LT(allocations - allocated, kMostAllocations);
  }
}

}  // namespace
}  // namespace faultline
