#include "parsers/nccl/ncclras_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "parsers/scan.h"

namespace faultline {
namespace {

using Words = std::pair<std::string_view, std::string_view>;

constexpr Words kStates[] = {
    {"NOCOMM", "missing"},  {"UNKNOWN", "missing"},   {"INIT", "init"},
    {"RUNNING", "running"}, {"FINALIZE", "finalize"}, {"ABORT", "abort"},
};

constexpr std::int64_t kInProgress = 7;
constexpr std::string_view kErrors[] = {
    "",
    "Unhandled CUDA error",
    "System error",
    "Internal error",
    "Invalid argument",
    "Invalid usage",
    "Remote process error",
};

// A lost connection of the RAS network proves less than a peer that is declared dead.
constexpr Words kEvents[] = {
    {"PEER_NEW", "running"},
    {"PEER_CONNECTING", ""},
    {"PEER_CONNECTED", "running"},
    {"PEER_DISCONNECTED", ""},
    {"PEER_UNRESPONSIVE", "unresponsive"},
    {"PEER_KEEPALIVE_TIMEOUT", "unresponsive"},
    {"PEER_SEND_STUCK", ""},
    {"PEER_RETRY", ""},
    {"PEER_RECOVERED", "running"},
    {"PEER_INIT_TIMEOUT", ""},
    {"PEER_TIMEOUT_DEAD", "dead"},
    {"PEER_DEAD", "dead"},
};

template <std::size_t N>
const Words* find(const Words (&words)[N], std::string_view word) {
  const Words* found =
      std::ranges::find_if(words, [&](const Words& row) { return row.first == word; });
  return found == std::end(words) ? nullptr : found;
}

}  // namespace

std::optional<std::string> communicator_id_of(std::string_view hash) {
  Scan in(hash);
  std::uint64_t value = 0;
  in.skip("0x");
  if (!in.hex(value) || !in.done()) return std::nullopt;
  return fmt::format("{:#x}", value);
}

std::string_view rank_state_of(std::string_view status) {
  const Words* row = find(kStates, status);
  return row == nullptr ? std::string_view() : row->second;
}

std::string error_of_result(std::int64_t result) {
  if (result == kInProgress) return {};
  if (result >= 0 && result < std::ssize(kErrors))
    return std::string(kErrors[static_cast<std::size_t>(result)]);
  return fmt::format("Unexpected error {}", result);
}

std::string_view process_state_of(std::string_view event) {
  const Words* row = find(kEvents, event);
  return row == nullptr ? std::string_view() : row->second;
}

bool is_ncclras_event(std::string_view event) { return find(kEvents, event) != nullptr; }

}  // namespace faultline
