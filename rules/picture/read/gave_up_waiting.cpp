#include "rules/picture/read/gave_up_waiting.h"

#include <algorithm>

#include "rules/picture/read/sayings.h"

namespace faultline {
namespace {

// The consequences of giving up come within minutes, when heartbeat monitors end the ranks. Later
// lines belong to another start, or to a job that went on.
constexpr std::int64_t kLongestUs = 15 * 60'000'000LL;

// By the clocks if both lines have one, because a launcher prints its table at the end of its log.
bool comes_before(const LineRef& a, const LineRef& b) {
  const Order order = order_of(a.time, b.time, false);
  return (order == Order::cannot_tell ? said_order(a, b) : order) == Order::before;
}

// Waited for its peers, the store or the master.
bool waited_in_vain(const MessageSignature& signature) {
  return signature.id.starts_with("torch.wait_timed_out") ||
         is(signature.cause, Trait::waited_in_vain);
}

}  // namespace

GaveUpWaiting::GaveUpWaiting(const View& view, const TorchCrew& crew) {
  for (const TorchRank* rank : crew.ranks()) {
    for (const TorchTimeout& timeout : rank->timeouts)
      if (crew.in_attempt(timeout.line)) add(timeout.line);
    for (const TorchSaying& saying : rank->said) {
      if (!crew.in_attempt(saying.line)) continue;
      const auto match = meaning_of(view, saying);
      if (match && waited_in_vain(*match->signature)) add(saying.line);
    }
  }
  std::ranges::sort(times_);
}

bool GaveUpWaiting::any_shortly_before(const LineRef& line) const {
  if (line.time.wall_us && !times_.empty()) {
    const auto since = std::ranges::lower_bound(times_, *line.time.wall_us - kLongestUs);
    return since != times_.end() && *since < *line.time.wall_us;
  }
  const auto same = first_.find(line.source);
  return same != first_.end() && comes_before(*same->second, line);
}

bool GaveUpWaiting::any_before(const LineRef& line) const {
  const auto same = first_.find(line.source);
  return (same != first_.end() && comes_before(*same->second, line)) ||
         (by_clock_ != nullptr && comes_before(*by_clock_, line));
}

void GaveUpWaiting::add(const LineRef& line) {
  if (line.time.wall_us) times_.push_back(*line.time.wall_us);
  const auto [known, is_new] = first_.try_emplace(line.source, &line);
  if (!is_new && comes_before(line, *known->second)) known->second = &line;
  if (line.time.wall_us && (by_clock_ == nullptr || comes_before(line, *by_clock_)))
    by_clock_ = &line;
}

}  // namespace faultline
