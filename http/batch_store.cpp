#include "http/batch_store.h"

#include <algorithm>
#include <set>
#include <utility>

#include "http/ingest_problems.h"
#include "http/offload.h"
#include "logging/log.h"

namespace faultline {
namespace asio = boost::asio;
namespace {

constexpr std::chrono::milliseconds kLook{200};
constexpr std::chrono::seconds kBeforeNextAttempt{1};
constexpr std::chrono::minutes kBetweenComplaints{1};
// How often a source that another connection writes to is tried again; then its lines go to another
// one, with a number behind the name.
constexpr int kMostPatience = 3;

}  // namespace

asio::awaitable<void> BatchStore::store(const MessageBatch& batch) {
  std::vector<Rest> rests;
  std::set<std::string> jobs;
  for (const auto& [destination, lines] : batch.lines.sources()) {
    rests.push_back({.destination = &destination, .lines = lines.text, .messages = lines.messages});
    jobs.insert(destination.job);
  }
  for (int attempt = 1;; ++attempt) {
    const bool is_last = stopping_;
    for (Rest& rest : rests) co_await begin(rest, attempt <= kMostPatience);
    for (Rest& rest : rests) co_await settle(rest);
    std::erase_if(rests, [](const Rest& rest) { return rest.lines.empty(); });
    if (rests.empty()) break;
    if (is_last) {
      for (Rest& rest : rests) lose(rest, SyslogLoss::shutdown);
      break;
    }
    co_await wakeup_->wait(steady_now() + kBeforeNextAttempt);
  }
  const std::vector<std::string> all(jobs.begin(), jobs.end());
  co_await judge_jobs_of_door(all, services_, threads_);
}

// `may_wait`: for a source that another connection writes to.
asio::awaitable<void> BatchStore::begin(Rest& rest, bool may_wait) {
  if (const auto why = co_await prepare_job_of_door(rest.destination->job, services_, threads_)) {
    lose(rest, SyslogLoss::refused);
    co_return;
  }
  rest.taken = {};
  Source source = source_of(*rest.destination);
  OpenSources& open = services_.jobs.open_sources();
  rest.lease = may_wait ? open.take_if_free(source.job, source.name, [] {})
                        : open.take_free(source.job, source.name, [] {});
  if (rest.lease == nullptr) co_return;
  source.name = rest.lease->name();
  rest.tracker = std::make_shared<CommitTracker>([wakeup = wakeup_] { wakeup->signal(); });
  auto take = [&] {
    try {
      const auto known = services_.jobs.settled_source(source.job, source.name);
      rest.from_offset = known ? known->position.offset : 0;
      rest.taken =
          take_door_lines(source, BodyStart{.offset = rest.from_offset}, rest.lines,
                          most_weight_of(rest.lines.size()), rest.lease, rest.tracker, services_);
    } catch (const StoreError&) {
      rest.taken.problem = store_problem(std::current_exception());
    }
  };
  co_await offload(threads_.parsing(), take);
  while (services_.jobs.is_congested() && rest.tracker->in_flight() > 0)
    co_await wakeup_->wait(steady_now() + kLook);
}

asio::awaitable<void> BatchStore::settle(Rest& rest) {
  if (rest.lease == nullptr) co_return;
  while (rest.tracker->in_flight() > 0) co_await wakeup_->wait(steady_now() + kLook);
  auto look = [&] { take_off_what_is_durable(rest); };
  co_await offload(threads_.parsing(), look);
  rest.lease = nullptr;
}

void BatchStore::take_off_what_is_durable(Rest& rest) {
  std::optional<Problem> problem = std::move(rest.taken.problem);
  if (!problem && rest.tracker->failure()) problem = store_problem(rest.tracker->failure());
  if (!problem && rest.taken.too_heavy) return lose(rest, SyslogLoss::refused);
  if (!problem && !rest.taken.lease_lost) {
    rest.lines = {};
    return;
  }
  try {
    const auto known = services_.jobs.settled_source(rest.lease->job(), rest.lease->name());
    std::uint64_t end = known ? known->position.offset : 0;
    // What follows is of the connection that took the source.
    if (rest.taken.lease_lost) end = std::min(end, rest.taken.next_offset);
    const std::uint64_t durable = end - std::min(end, rest.from_offset);
    rest.lines.remove_prefix(
        static_cast<std::size_t>(std::min<std::uint64_t>(durable, rest.lines.size())));
  } catch (const StoreError&) {
    // Nothing is known to be durable. If some of it is, it will be there twice.
  }
  const SteadyTime now = steady_now();
  if (!problem || now - said_ < kBetweenComplaints) return;
  said_ = now;
  say(LogLevel::error, "syslog-waits", "messages wait until the store takes them",
      {{"why", problem->detail}});
}

void BatchStore::lose(Rest& rest, SyslogLoss why) {
  services_.metrics.count_lost_syslog(why, rest.messages);
  rest.lines = {};
}

}  // namespace faultline
