// Counts the memory that operator new returns. It replaces the program's operator new, so exactly
// one file of a test program includes it.
#pragma once

#include <malloc.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COUNTS_ALLOCATIONS 0
#else
#define COUNTS_ALLOCATIONS 1
#endif

namespace faultline::counted {

inline std::atomic<std::size_t> live_bytes = 0;
inline std::atomic<std::size_t> peak_bytes = 0;
inline std::atomic<std::size_t> allocations = 0;

// The allocations made during its lifetime.
class Allocations {
 public:
  Allocations() : bytes_(live_bytes), number_(allocations) { peak_bytes = bytes_; }
  std::size_t peak() const { return peak_bytes - bytes_; }
  std::size_t number() const { return allocations - number_; }

 private:
  std::size_t bytes_;
  std::size_t number_;
};

}  // namespace faultline::counted

#if COUNTS_ALLOCATIONS
void* operator new(std::size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  const std::size_t live = faultline::counted::live_bytes += malloc_usable_size(memory);
  if (live > faultline::counted::peak_bytes) faultline::counted::peak_bytes = live;
  ++faultline::counted::allocations;
  return memory;
}
void operator delete(void* memory) noexcept {
  if (memory != nullptr) faultline::counted::live_bytes -= malloc_usable_size(memory);
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
#endif
