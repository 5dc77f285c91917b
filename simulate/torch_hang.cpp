#include "simulate/torch_hang.h"

#include "simulate/chance.h"

namespace faultline::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A rank that times out this much later than the first one is taken down before.
constexpr seconds kApart{8};
constexpr std::size_t kEnoughCalls = 512;

}  // namespace

TorchHang::TorchHang(const Attempt& attempt) {
  const TorchVersion& version = *closest_torch(attempt.job.options.torch);
  for (int rank = 0; rank < attempt.job.cluster.ranks(); ++rank) {
    const RankPlan& plan = attempt.plan_of(rank);
    if (!plan.raises.empty() && plan.init == InitStop::none &&
        (raiser < 0 || stands_since(attempt, rank) < *failure)) {
      raiser = rank;
      failure = stands_since(attempt, rank);
    }
    if (plan.killed || !plan.raises.empty()) continue;
    const TorchCalls calls(attempt, rank, kEnoughCalls);
    const TorchCall* stuck = calls.stuck();
    if (stuck == nullptr) continue;
    const Timestamp at = timeout_of(version, *stuck, rank);
    if (first_timeout && at >= *first_timeout) continue;
    first_timeout = at;
    initiator = rank;
  }
}

Timestamp timeout_of(const TorchVersion& version, const TorchCall& call, int rank) {
  // Polled every second; from 2.3 on ten times a second.
  const std::uint64_t poll = version.since(2, 3) ? 100 : 1'000;
  return call.created + version.timeout() +
         milliseconds(1 + chance(0x7e11, rank, call.sequence) % poll);
}

Timestamp stands_since(const Attempt& attempt, int rank) {
  const Stand& stand = attempt.stands[static_cast<std::size_t>(rank)];
  return attempt.begin() + kTraining +
         kCallTime * (attempt.program.longest_step() * stand.inside.step + stand.inside.call);
}

TorchEnd end_of(const Attempt& attempt, const TorchHang& hang, const TorchCalls& calls, int rank) {
  const RankPlan& plan = attempt.plan_of(rank);
  if (!plan.raises.empty()) return TorchEnd::raises;
  if (plan.init == InitStop::waiting) return TorchEnd::no_store;
  if (plan.init != InitStop::none) return TorchEnd::none;
  if (!plan.cuda_error.empty()) return TorchEnd::cuda_fails;
  if (plan.killed) return TorchEnd::silent;
  if (attempt.stands[static_cast<std::size_t>(rank)].finished) return TorchEnd::none;
  if (attempt.plan.peers_notice && hang.failure) return TorchEnd::remote;
  const TorchVersion& version = *closest_torch(attempt.job.options.torch);
  const TorchCall* stuck = calls.stuck();
  if (stuck != nullptr && timeout_of(version, *stuck, rank) <= *hang.first_timeout + kApart)
    return TorchEnd::times_out;
  return hang.first_timeout ? TorchEnd::told : TorchEnd::none;
}

Timestamp process_end(const Attempt& attempt, const TorchHang& hang, const TorchCalls& calls,
                      int rank) {
  const TorchVersion& version = *closest_torch(attempt.job.options.torch);
  switch (end_of(attempt, hang, calls, rank)) {
    case TorchEnd::raises:
    case TorchEnd::cuda_fails:
    case TorchEnd::silent:
    case TorchEnd::none:
      return stands_since(attempt, rank) + milliseconds(900);
    case TorchEnd::remote:
      return *hang.failure + seconds(4) + milliseconds(chance(0xe0d, rank) % 2'000);
    case TorchEnd::no_store:
      return attempt.begin() + version.timeout() + seconds(2);
    case TorchEnd::times_out:
    case TorchEnd::told:
      return *hang.first_timeout + (version.since(2, 9) ? seconds(61) : seconds(2)) +
             milliseconds(chance(0xe0d, rank) % 900);
  }
  return attempt.begin();
}

}  // namespace faultline::simulation
