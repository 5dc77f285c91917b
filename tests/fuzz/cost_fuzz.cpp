// Any lines as a job's logs: the cost of reading, folding and diagnosing them is in proportion to
// their size. Eight hosts with the same log cost at most twelve times as much as one.
#include <sanitizer/allocator_interface.h>
#include <time.h>

#include <fmt/format.h>

#include <atomic>

#include "ingest/reader.h"
#include "model/json.h"
#include "oracle.h"
#include "rules/answer/diagnosis.h"
#include "rules/answer/diagnosis_forms.h"

namespace {

using namespace faultline;

constexpr int kHosts = 8;
constexpr double kMostGrowth = 12;
// The cost of a diagnosis without any lines, and of some growth of tables.
constexpr double kFreeAllocations = 50'000;
constexpr double kFreeBytes = 16 << 20;
constexpr double kFreeSeconds = 0.5;
// The limit for one host: so many bytes of memory for each byte of its log.
constexpr double kMostBytesPerByte = 20'000;

std::atomic<std::uint64_t> allocations = 0;
std::atomic<std::uint64_t> bytes = 0;

void count(const volatile void*, std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  bytes.fetch_add(size, std::memory_order_relaxed);
}
void count_nothing(const volatile void*) {}

struct Cost {
  double allocations = 0;
  double bytes = 0;
  double seconds = 0;
};

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

const Catalog& catalog() {
  static const Catalog shipped = load_catalog();
  return shipped;
}

// Lines of NCCL begin with their host, so each copy gets a host name of its own.
std::string as_host(std::string_view text, int host) {
  std::string out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n') + 1);
    const std::string_view whole = line.empty() ? text : line;
    const std::size_t end = whole.find_first_of(": ");
    if (end != std::string_view::npos && end > 0 && whole[end] == ':' && host > 0)
      out += fmt::format("{}-{}{}", whole.substr(0, end), host, whole.substr(end));
    else
      out += whole;
    text.remove_prefix(whole.size());
  }
  return out;
}

Cost cost_of(std::string_view text, int hosts) {
  std::vector<std::string> logs;
  for (int host = 0; host < hosts; ++host) logs.push_back(as_host(text, host));
  const std::uint64_t allocations_before = allocations;
  const std::uint64_t bytes_before = bytes;
  const double begun = processor_seconds();
  JobState job("j");
  for (int host = 0; host < hosts; ++host) {
    Reader reader(Cursor{}, Timestamp{});
    reader.feed(logs[static_cast<std::size_t>(host)]);
    reader.close();
    job.apply({.job = "j", .name = fmt::format("h{}.log", host), .host = fmt::format("h{}", host)},
              reader.take(), Timestamp(std::chrono::seconds(1'700'000'000)));
  }
  const Diagnosis diagnosis =
      diagnose(job, catalog(), {.now = Timestamp(std::chrono::seconds(1'700'001'000))});
  require(!to_text(diagnosis).empty(), "a diagnosis says something");
  return {static_cast<double>(allocations - allocations_before),
          static_cast<double>(bytes - bytes_before), processor_seconds() - begun};
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  __sanitizer_install_malloc_and_free_hooks(count, count_nothing);
  (void)catalog();
  (void)cost_of("a line\n", kHosts);  // first use: builds what is built only once
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  const Cost one = cost_of(text, 1);
  const Cost eight = cost_of(text, kHosts);
  const std::string costs = fmt::format(
      "{} bytes of log: {} allocations of {} bytes in {:.3f} s; eight: {} of {} in {:.3f} s", size,
      one.allocations, one.bytes, one.seconds, eight.allocations, eight.bytes, eight.seconds);
  require(one.bytes <= kFreeBytes + kMostBytesPerByte * static_cast<double>(size),
          "memory follows the size of the log; " + costs);
  require(eight.allocations <= kFreeAllocations + kMostGrowth * one.allocations,
          "steps follow the number of hosts; " + costs);
  require(eight.bytes <= kFreeBytes + kMostGrowth * one.bytes,
          "memory follows the number of hosts; " + costs);
  require(eight.seconds <= kFreeSeconds + kMostGrowth * one.seconds,
          "time follows the number of hosts; " + costs);
  return 0;
}
