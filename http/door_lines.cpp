#include "http/door_lines.h"

#include <exception>
#include <utility>

#include "http/ingest_problems.h"
#include "http/offload.h"

namespace faultline {
namespace asio = boost::asio;

asio::awaitable<std::optional<Problem>> prepare_job_of_door(const std::string& job,
                                                            std::string_view peer,
                                                            Services& services, Threads& threads) {
  if (const auto good = check_name("job", job); !good) co_return problem_from(good.error());
  if (auto problem = set_aside_problem(services.jobs, job)) co_return problem;
  auto prepare = [&] { services.jobs.prepare(job); };
  // A server that ends reads no more jobs.
  if (services.jobs.is_prepared(job) || services.jobs.is_stopping()) co_return std::nullopt;
  co_await offload(threads.answering(job, peer), prepare);
  co_return set_aside_problem(services.jobs, job);
}

Source source_of(const Destination& destination) {
  return {.job = destination.job,
          .name = printable_name(destination.source),
          .host = printable_name(destination.host),
          .rank = destination.rank};
}

DoorLinesTaken take_door_lines(Source source, BodyStart start, std::string_view lines,
                               std::uint64_t most_weight, std::shared_ptr<SourceLease> lease,
                               std::shared_ptr<CommitTracker> tracker, Services& services) {
  DoorLinesTaken taken;
  try {
    FileStream stream(std::move(source), start, services.store, services.jobs, std::move(tracker),
                      std::move(lease));
    stream.limit_weight(most_weight);
    stream.feed(lines);
    stream.end(true, false);
    taken.weight = stream.weight();
    taken.too_heavy = stream.too_heavy();
    taken.lease_lost = stream.lease_lost();
    taken.next_offset = stream.next_offset();
    taken.push = stream.take_push();
    services.metrics.count_duplicates(stream.receipt().duplicate_bytes);
  } catch (const StoreError&) {
    taken.problem = store_problem(std::current_exception());
  }
  return taken;
}

asio::awaitable<void> judge_jobs_of_door(const std::vector<std::string>& jobs,
                                         std::string_view peer, Services& services,
                                         Threads& threads) {
  for (const std::string& job : jobs) {
    if (services.jobs.is_stopping()) co_return;
    auto reconcile = [&] { services.jobs.reconcile_soon(job); };
    co_await offload(threads.answering(job, peer), reconcile);
  }
}

}  // namespace faultline
