#include "alerts/delivery.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "alerts/routing.h"
#include "alerts/send.h"
#include "logging/log.h"

namespace faultline {
namespace asio = boost::asio;
namespace {

using std::chrono::milliseconds;

constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);
constexpr milliseconds kFirstRetry{1'000};
constexpr milliseconds kLongestSleep{60'000};
// For how long Alertmanager is sent the end of an alert again, in case it has forgotten it.
constexpr std::chrono::minutes kTellResolved{15};
constexpr std::size_t kMostInOneMessage = 256;
// Until Alertmanager's inhibition knows an alert that was sent.
constexpr milliseconds kLearns{250};
constexpr std::chrono::minutes kRepeatComplaint{10};
constexpr std::chrono::seconds kStopLimit{5};
// Between two looks at whether the worker before has ended.
constexpr milliseconds kLooksAgain{20};

// A wait that doubles with each failure, up to the longest. It is random, so that not all senders
// come back to a receiver at once.
class Backoff {
 public:
  explicit Backoff(milliseconds longest) : longest_(longest) {}

  void reset() { next_ = kFirstRetry; }
  milliseconds fail() {
    const milliseconds base = std::min(next_, longest_);
    next_ = std::min(next_ * 2, longest_);
    std::uniform_real_distribution<double> jitter(0.5, 1.0);
    return milliseconds{
        static_cast<std::int64_t>(static_cast<double>(base.count()) * jitter(random_))};
  }

 private:
  milliseconds longest_;
  milliseconds next_ = kFirstRetry;
  std::minstd_rand random_{std::random_device{}()};
};

struct Counters {
  std::atomic<std::uint64_t> accepted{0};
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::uint64_t> failed{0};
  std::atomic<std::int64_t> last_accepted_us{0};

  void begin_at(const Counters& before) {
    accepted = before.accepted.load();
    refused = before.refused.load();
    failed = before.failed.load();
    last_accepted_us = before.last_accepted_us.load();
  }
};

std::vector<std::int64_t> waiting_ids(const std::vector<OutboxRow>& rows) {
  std::vector<std::int64_t> ids;
  for (const OutboxRow& row : rows)
    if (row.waits) ids.push_back(row.id);
  return ids;
}

// The rows that go into a message.
std::vector<OutboxRow> to_tell(const Receiver& receiver, const std::vector<OutboxRow>& rows) {
  std::vector<OutboxRow> told;
  for (const OutboxRow& row : rows)
    if (row.firing || receiver.send_resolved) told.push_back(row);
  return told;
}

// The rows of each message, in the order of sending. Alertmanager notifies at once of an alert that
// began longer ago than its group_wait. So it must learn of a cause before the symptoms that the
// cause inhibits, and of the cause's end after theirs.
std::vector<std::vector<OutboxRow>> turns_of(const Receiver& receiver,
                                             const std::vector<OutboxRow>& rows) {
  if (rows.empty()) return {};
  if (receiver.type != ReceiverType::alertmanager) return {rows};
  enum Turn : std::size_t { kCauses, kSymptoms, kEndedCauses, kTurns };
  std::vector<std::vector<OutboxRow>> turns(kTurns);
  for (const OutboxRow& row : rows) {
    const Turn of_cause = row.firing ? kCauses : kEndedCauses;
    turns[row.role == Role::cause ? of_cause : kSymptoms].push_back(row);
  }
  std::erase_if(turns, [](const std::vector<OutboxRow>& turn) { return turn.empty(); });
  return turns;
}

}  // namespace

class AlertDelivery::Impl {
 public:
  Impl(Store& store, DeliveryOptions options) : store_(store), options_(std::move(options)) {
    for (const Receiver& receiver : options_.receivers)
      workers_.push_back(std::make_shared<Worker>(context_, receiver));
  }

  ~Impl() { stop(); }

  void start(ServerAddress server) {
    server_ = std::move(server);
    for (const auto& worker : workers_) asio::co_spawn(context_, run(worker), asio::detached);
    thread_ = std::thread([this] {
      context_.run();
      ended_.set_value();
    });
  }

  // Messages under way get a moment to finish: one that is dropped may be sent twice.
  void stop() {
    if (!thread_.joinable()) return;
    asio::post(context_, [this] {
      stopping_ = true;
      work_.reset();
      for (const auto& worker : workers_) worker->timer.cancel();
    });
    if (ended_.get_future().wait_for(kStopLimit) != std::future_status::ready) context_.stop();
    thread_.join();
  }

  void wake() {
    asio::post(context_, [this] {
      for (const auto& worker : workers_) {
        worker->woken = true;
        if (!worker->backing_off) worker->timer.cancel();
      }
    });
  }

  void replace(std::vector<Receiver> receivers) {
    asio::post(context_, [this, receivers = std::move(receivers)] {
      if (stopping_) return;
      std::erase_if(leaving_, [](const auto& worker) { return worker->ended; });
      Workers next;
      for (const Receiver& receiver : receivers) {
        const auto before = last_of(receiver.name);
        if (before && !before->leaving && before->receiver == receiver) {
          next.push_back(before);
          continue;
        }
        auto worker = std::make_shared<Worker>(context_, receiver);
        if (before) worker->follow(before);
        asio::co_spawn(context_, run(worker), asio::detached);
        next.push_back(std::move(worker));
      }
      for (const auto& worker : workers_)
        if (std::ranges::find(next, worker) == next.end()) {
          worker->leave();
          leaving_.push_back(worker);
        }
      const std::lock_guard lock(mutex_);
      workers_ = std::move(next);
    });
  }

  void write(Exposition& out) {
    const Workers workers = [this] {
      const std::lock_guard lock(mutex_);
      return workers_;
    }();
    if (workers.empty()) return;
    out.family("faultline_alert_messages_total", "counter",
               "Messages to receivers, by how each attempt ended.");
    for (const auto& worker : workers) {
      const Labels labels{{"receiver", worker->receiver.name}, {"outcome", ""}};
      const auto sample = [&](std::string_view outcome, std::uint64_t count) {
        Labels with = labels;
        with.back().second = outcome;
        out.sample(with, count);
      };
      sample("accepted", worker->counters.accepted);
      sample("refused", worker->counters.refused);
      sample("failed", worker->counters.failed);
    }
    out.family("faultline_alerts_waiting", "gauge", "States still to be sent to a receiver.");
    for (const auto& worker : workers) {
      std::uint64_t waiting = 0;
      for (const WaitingGroup& group : store_.waiting_groups(worker->receiver.name))
        waiting += group.rows;
      out.sample({{"receiver", worker->receiver.name}}, waiting);
    }
    out.family("faultline_alert_last_accepted_timestamp_seconds", "gauge",
               "When the receiver last accepted a message, since 1970.");
    for (const auto& worker : workers)
      if (const std::int64_t last = worker->counters.last_accepted_us; last > 0)
        out.sample({{"receiver", worker->receiver.name}}, static_cast<double>(last) / 1e6);
  }

 private:
  struct Worker {
    Worker(asio::io_context& context, const Receiver& of)
        : receiver(of), timer(context), backoff(of.retry_max) {}

    // Begins when the other worker has ended, so that no receiver gets two messages at once.
    void follow(const std::shared_ptr<Worker>& other) {
      before = other;
      counters.begin_at(other->counters);
    }

    void leave() {
      leaving = true;
      timer.cancel();
    }

    const Receiver receiver;
    asio::steady_timer timer;
    Backoff backoff;
    Counters counters;
    std::shared_ptr<const Worker> before;
    bool woken = false;
    bool backing_off = false;
    bool leaving = false;
    bool ended = false;
    std::optional<Timestamp> told_again;
    Timestamp complained;
  };
  using Workers = std::vector<std::shared_ptr<Worker>>;

  // The worker that serves this receiver, or the last one that did; null: there is none.
  std::shared_ptr<Worker> last_of(std::string_view name) const {
    for (const Workers* some : {&workers_, &leaving_})
      for (auto worker = some->rbegin(); worker != some->rend(); ++worker)
        if ((*worker)->receiver.name == name) return *worker;
    return nullptr;
  }

  bool is_over(const Worker& worker) const { return stopping_ || worker.leaving; }

  // Holds the worker by a shared pointer, because replace() may drop it meanwhile.
  asio::awaitable<void> run(std::shared_ptr<Worker> its) {
    Worker& worker = *its;
    while (worker.before && !worker.before->ended && !stopping_) {
      worker.timer.expires_after(kLooksAgain);
      co_await worker.timer.async_wait(kNoThrow);
    }
    if (worker.before) worker.counters.begin_at(worker.before->counters);
    worker.before.reset();
    while (!is_over(worker)) {
      milliseconds sleep = kLongestSleep;
      try {
        worker.woken = false;
        sleep = co_await tell(worker);
      } catch (const std::exception& error) {
        complain(worker, error.what());
        sleep = worker.backoff.fail();
      }
      if (is_over(worker)) break;
      if (worker.woken && !worker.backing_off) continue;
      worker.timer.expires_after(sleep);
      co_await worker.timer.async_wait(kNoThrow);
      worker.backing_off = false;
    }
    worker.ended = true;
  }

  // Sends everything that is ready. Returns how long to sleep until more may be.
  asio::awaitable<milliseconds> tell(Worker& worker) {
    const Receiver& receiver = worker.receiver;
    for (;;) {
      const Timestamp now = options_.clock();
      Timestamp next = now + kLongestSleep;
      std::optional<std::string> ready;
      for (const WaitingGroup& group : store_.waiting_groups(receiver.name)) {
        Timestamp at = group.first_due + receiver.group_wait;
        if (group.last_delivered)
          at = std::max(at, *group.last_delivered + receiver.group_interval);
        if (at <= now) {
          ready = group.group;
          break;
        }
        next = std::min(next, at);
      }
      if (ready) {
        const auto wait = co_await tell_group(worker, *ready);
        if (!wait && !is_over(worker)) continue;
        if (!wait) co_return kLongestSleep;
        worker.backing_off = true;
        co_return *wait;
      }
      if (receiver.type == ReceiverType::alertmanager) {
        if (!worker.told_again || now >= *worker.told_again + receiver.resend) {
          worker.told_again = now;
          co_await tell_again(worker, now);
        }
        next = std::min(next, *worker.told_again + receiver.resend);
      }
      const auto wait = std::chrono::duration_cast<milliseconds>(next - options_.clock());
      co_return std::clamp(wait + milliseconds{1}, milliseconds{1}, kLongestSleep);
    }
  }

  // Returns how long to wait before the next attempt; nothing: no further attempt is needed.
  asio::awaitable<std::optional<milliseconds>> tell_group(Worker& worker,
                                                          const std::string& group) {
    const Receiver& receiver = worker.receiver;
    const Timestamp now = options_.clock();
    const std::vector<OutboxRow> rows = store_.begin_delivery(receiver.name, group, now);
    const std::vector<std::int64_t> ids = waiting_ids(rows);
    if (ids.empty()) co_return std::nullopt;
    Attempt attempt{DeliveryOutcome::accepted, {}, {}};
    const Occasion occasion{group, server_.url, now};
    const std::string delivery = fmt::format("{}-{}", receiver.name, ids.front());
    bool first = true;
    for (const std::vector<OutboxRow>& turn : turns_of(receiver, to_tell(receiver, rows))) {
      if (!std::exchange(first, false)) co_await let_it_learn();
      const std::vector<Alert> alerts = alerts_of(turn, server_);
      attempt = co_await send_alerts(receiver, alerts, occasion, delivery);
      count(worker, attempt);
      if (attempt.outcome != DeliveryOutcome::accepted) break;
    }
    store_.end_delivery(ids, attempt.outcome, options_.clock());
    if (attempt.outcome == DeliveryOutcome::accepted) worker.backoff.reset();
    if (attempt.outcome == DeliveryOutcome::accepted || attempt.outcome == DeliveryOutcome::refused)
      co_return std::nullopt;
    co_return attempt.retry_after
        ? std::max<milliseconds>(*attempt.retry_after, worker.backoff.fail())
        : worker.backoff.fail();
  }

  // Alertmanager forgets an alert that is not sent again.
  asio::awaitable<void> tell_again(Worker& worker, Timestamp now) {
    const Receiver& receiver = worker.receiver;
    const std::vector<OutboxRow> rows = store_.standing_rows(receiver.name, now - kTellResolved);
    const Occasion occasion{"", server_.url, now};
    const std::string delivery = fmt::format("{}-again", receiver.name);
    bool first = true;
    for (const std::vector<OutboxRow>& turn : turns_of(receiver, to_tell(receiver, rows))) {
      if (!std::exchange(first, false)) co_await let_it_learn();
      for (std::size_t at = 0; at < turn.size(); at += kMostInOneMessage) {
        const auto begin = turn.begin() + static_cast<std::ptrdiff_t>(at);
        const auto some =
            static_cast<std::ptrdiff_t>(std::min(turn.size() - at, kMostInOneMessage));
        const std::vector<OutboxRow> part(begin, begin + some);
        const std::vector<Alert> alerts = alerts_of(part, server_);
        const Attempt attempt = co_await send_alerts(receiver, alerts, occasion, delivery);
        count(worker, attempt);
        if (attempt.outcome != DeliveryOutcome::accepted) co_return;
      }
    }
  }

  asio::awaitable<void> let_it_learn() {
    asio::steady_timer timer(context_, kLearns);
    co_await timer.async_wait(kNoThrow);
  }

  void count(Worker& worker, const Attempt& attempt) {
    Counters& counters = worker.counters;
    if (attempt.outcome == DeliveryOutcome::accepted) {
      ++counters.accepted;
      counters.last_accepted_us = options_.clock().time_since_epoch().count();
      worker.complained = {};
      return;
    }
    ++(attempt.outcome == DeliveryOutcome::refused ? counters.refused : counters.failed);
    complain(worker, attempt.outcome == DeliveryOutcome::refused
                         ? attempt.why + "; it is not sent again"
                         : attempt.why);
  }

  // A receiver that is down for hours must not fill the log.
  void complain(Worker& worker, std::string_view why) {
    const Timestamp now = options_.clock();
    if (now - worker.complained < kRepeatComplaint) return;
    worker.complained = now;
    say(LogLevel::warning, "alert-not-delivered", "a receiver does not accept alerts",
        {{"receiver", worker.receiver.name}, {"why", why}});
  }

  Store& store_;
  DeliveryOptions options_;
  ServerAddress server_;
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_ =
      asio::make_work_guard(context_);
  std::mutex mutex_;
  Workers leaving_;        // used by the thread only
  Workers workers_;        // written by the thread under mutex_; others read it under mutex_
  bool stopping_ = false;  // used by the thread only
  std::promise<void> ended_;
  std::thread thread_;
};

AlertDelivery::AlertDelivery(Store& store, DeliveryOptions options)
    : impl_(std::make_unique<Impl>(store, std::move(options))) {}
AlertDelivery::~AlertDelivery() = default;
void AlertDelivery::start(ServerAddress server) { impl_->start(std::move(server)); }
void AlertDelivery::stop() { impl_->stop(); }
void AlertDelivery::replace(std::vector<Receiver> receivers) {
  impl_->replace(std::move(receivers));
}
void AlertDelivery::wake() { impl_->wake(); }
void AlertDelivery::write(Exposition& out) { impl_->write(out); }

std::string try_receiver(const Receiver& receiver, const std::string& external_url, Timestamp now) {
  asio::io_context context;
  const std::vector<Alert> alerts = alerts_of(sample_rows(now), {.url = external_url});
  const Occasion occasion{"itest", external_url, now};
  const std::string delivery = fmt::format("{}-test", receiver.name);
  auto answer =
      asio::co_spawn(context, send_alerts(receiver, alerts, occasion, delivery), asio::use_future);
  context.run();
  const Attempt attempt = answer.get();
  return attempt.outcome == DeliveryOutcome::accepted ? std::string() : attempt.why;
}

}  // namespace faultline
