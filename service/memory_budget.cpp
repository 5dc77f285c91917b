#include "service/memory_budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "logging/log.h"

namespace faultline {
namespace {

constexpr std::chrono::minutes kQuiet{1};  // then the lack is over

}  // namespace

LacksMemory::LacksMemory(std::chrono::seconds try_after)
    : StoreError(
          "all jobs together take as much memory as the server may use (--memory), and this one "
          "is large"),
      retry_after(try_after) {}

MemoryBudget::MemoryBudget(std::uint64_t most, Measure used)
    : most_(most), used_(std::move(used)) {}

bool MemoryBudget::is_above(std::uint64_t times, std::uint64_t of) const {
  const std::uint64_t most = most_;
  return most > 0 && used_() > most / of * times;
}

std::uint64_t MemoryBudget::excess() const {
  const std::uint64_t enough = most_ / 8 * 7;
  return used_() - std::min(used_(), enough);
}

bool MemoryBudget::is_small(std::uint64_t bytes) const {
  constexpr std::uint64_t kSmall = std::uint64_t{16} << 20;
  constexpr std::uint64_t kPart = 64;
  return bytes < std::min(kSmall, most_ / kPart);
}

void MemoryBudget::note_lack() {
  lacked_at_ = steady_now();
  if (lacks_.exchange(true)) return;
  say(LogLevel::warning, "memory-lacks",
      "all jobs together take more memory than --memory allows: some rest, and large ones wait",
      {{"bytes", fmt::to_string(used_())}, {"budget", fmt::to_string(most())}});
}

void MemoryBudget::look_for_end() {
  if (!lacks_ || is_exceeded() || steady_now() - lacked_at_.load() < kQuiet) return;
  lacks_ = false;
  say(LogLevel::info, "memory-suffices", "there is enough memory for the jobs again",
      {{"bytes", fmt::to_string(used_())}, {"budget", fmt::to_string(most())}});
}

}  // namespace faultline
