#include "http/batch_store.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <exception>
#include <set>
#include <utility>

#include "http/ingest_problems.h"
#include "http/offload.h"
#include "logging/log.h"

namespace faultline {
namespace asio = boost::asio;
namespace {

constexpr std::chrono::milliseconds kLongestForOurselves{500};
constexpr std::chrono::milliseconds kLook{200};
constexpr std::chrono::seconds kBeforeNextAttempt{1};
constexpr int kMostWaits = 5;
constexpr std::chrono::minutes kBetweenComplaints{1};

asio::awaitable<void> judge_one(std::string job, Services& services, Threads& threads) {
  auto judge = [&] {
    if (!services.jobs.is_stopping()) services.jobs.reconcile_soon(job);
  };
  try {
    co_await offload(threads.answering(job, ""), judge);
  } catch (const std::exception& error) {
    say(LogLevel::error, "not-judged", "a job that got messages could not be judged",
        {{"job", job}, {"why", error.what()}});
  }
}

}  // namespace

asio::awaitable<void> BatchStore::store(const MessageBatch& batch) {
  std::vector<Rest> rests;
  std::set<std::string> jobs;
  for (const auto& [destination, lines] : batch.lines.sources()) {
    rests.push_back({.destination = &destination, .lines = lines.text, .messages = lines.messages});
    jobs.insert(destination.job);
  }
  for (;;) {
    const bool is_last = stopping_;
    for (Rest& rest : rests) co_await begin(rest);
    for (Rest& rest : rests) co_await settle(rest);
    std::erase_if(rests, [](const Rest& rest) { return rest.lines.empty(); });
    if (rests.empty()) break;
    if (is_last) {
      for (Rest& rest : rests) lose(rest, SyslogLoss::shutdown);
      break;
    }
    co_await pause();
  }
  for (const std::string& job : jobs) judge_beside(job);
}

// Not with wakeup_, which others signal all the time.
asio::awaitable<void> BatchStore::pause() {
  if (stopping_) co_return;
  pause_.expires_after(kBeforeNextAttempt);
  co_await pause_.async_wait(asio::as_tuple(asio::use_awaitable));
}

void BatchStore::stop() {
  stopping_ = true;
  pause_.cancel();
}

// A job that takes long to judge, or is read again, must not keep the messages of others waiting.
// When the server ends, the next one judges.
void BatchStore::judge_beside(const std::string& job) {
  if (!stopping_)
    asio::co_spawn(pause_.get_executor(), judge_one(job, services_, threads_), asio::detached);
}

// What fails leaves the lines for the next attempt.
asio::awaitable<void> BatchStore::begin(Rest& rest) {
  rest.lease = nullptr;
  try {
    co_await try_to_begin(rest);
  } catch (const std::exception& error) {
    complain(error.what());
  }
}

asio::awaitable<void> BatchStore::try_to_begin(Rest& rest) {
  const std::string& job = rest.destination->job;
  if (const auto why = co_await prepare_job_of_door(job, "", services_, threads_)) {
    // One job must not keep the messages of the others waiting for long.
    if (why->status == 503 && ++rest.waits < kMostWaits)
      complain(why->detail);
    else
      lose(rest, SyslogLoss::refused);
    co_return;
  }
  rest.taken = {};
  rest.from_offset = UINT64_MAX;
  rest.tracker = std::make_shared<CommitTracker>([wakeup = wakeup_] { wakeup->signal(); });
  Source source = source_of(*rest.destination);
  // If another connection writes to the source, the lines go to one with a number behind the name.
  // The server itself, which ends sources that are silent, has it for a moment only.
  OpenSources& open = services_.jobs.open_sources();
  const SteadyTime begun = steady_now();
  while (rest.lease == nullptr && !stopping_ && steady_now() - begun < kLongestForOurselves) {
    rest.lease = open.take_if_free(source.job, source.name, [] {});
    if (rest.lease == nullptr) co_await wakeup_->wait(steady_now() + kLook);
  }
  if (rest.lease == nullptr) rest.lease = open.take_free(source.job, source.name, [] {});
  if (rest.lease == nullptr) co_return;
  source.name = rest.lease->name();
  auto take = [&] {
    try {
      const auto known = services_.jobs.settled_source(source.job, source.name);
      rest.from_offset = known ? known->position.offset : 0;
      rest.taken =
          take_door_lines(source, BodyStart{.offset = rest.from_offset}, rest.lines,
                          most_weight_of(rest.lines.size()), rest.lease, rest.tracker, services_);
    } catch (const std::exception&) {
      // Some of it may be on its way to the disk.
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
  } catch (const std::exception&) {
    // Nothing is known to be durable. If some of it is, it will be there twice.
  }
  if (problem) complain(problem->detail);
}

void BatchStore::complain(std::string_view why) {
  const SteadyTime now = steady_now();
  if (now - said_.load() < kBetweenComplaints) return;
  said_ = now;
  say(LogLevel::error, "syslog-waits", "messages wait until the store takes them", {{"why", why}});
}

void BatchStore::lose(Rest& rest, SyslogLoss why) {
  services_.metrics.count_lost_syslog(why, rest.messages);
  rest.lines = {};
}

}  // namespace faultline
