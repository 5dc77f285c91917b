#include "http/syslog_door.h"

#include <fmt/format.h>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "doors/syslog.h"
#include "doors/syslog_framing.h"
#include "http/batch_store.h"
#include "http/connection.h"
#include "http/connection_set.h"
#include "http/datagrams.h"
#include "http/ingest_problems.h"
#include "http/message_basket.h"
#include "http/offload.h"
#include "logging/log.h"

namespace faultline {
namespace asio = boost::asio;
namespace {

using asio::ip::tcp;

// Messages wait so long for others, to be stored together.
constexpr std::chrono::milliseconds kGather{200};
constexpr std::chrono::milliseconds kWaitForBasket{200};
constexpr std::chrono::hours kAnyTime{1};
constexpr std::chrono::milliseconds kRetryAccept{100};
constexpr std::chrono::milliseconds kRetryStore{1000};
constexpr std::chrono::minutes kBetweenLines{1};

// When the server stops, clients are told; what they send until they have noticed is read: until
// nothing comes for a moment, but not for ever.
constexpr std::chrono::milliseconds kQuiet{2000};
constexpr std::chrono::seconds kMostFarewell{5};

constexpr std::size_t kDatagramsAtOnce = std::size_t{1} << 20;
constexpr int kMostLastRounds = 64;
constexpr int kMostPorts = 16;

DestinationDefaults defaults_for(const Services& services) {
  return {.job = job_of_unlabelled(services), .source = "syslog"};
}

}  // namespace

class SyslogDoor::Impl {
 public:
  Impl(asio::io_context& context, const SyslogOptions& options, Services& services,
       Threads& threads, AuditLog* audit)
      : context_(context),
        services_(services),
        audit_(audit),
        strand_(asio::make_strand(context)),
        turn_(asio::make_strand(threads.parsing())),
        acceptor_(strand_),
        wakeup_(std::make_shared<Wakeup>(strand_)),
        basket_(defaults_for(services)),
        store_(strand_, services, threads, wakeup_),
        connections_(options.max_connections) {
    listen(options);
  }

  std::string address() const {
    const tcp::endpoint at = acceptor_.local_endpoint();
    const std::string host = at.address().to_string();
    return fmt::format("{}:{}", at.address().is_v6() ? "[" + host + "]" : host, at.port());
  }

  void start() {
    asio::co_spawn(strand_, accept(), asio::detached);
    asio::co_spawn(strand_, receive_datagrams(), asio::detached);
    asio::co_spawn(strand_, store_batches(), asio::detached);
  }

  void stop() {
    asio::post(strand_, [this] { begin_stop(); });
  }

 private:
  void listen(const SyslogOptions& options) {
    boost::system::error_code error;
    const auto address = asio::ip::make_address(options.address, error);
    if (error) throw std::runtime_error(fmt::format("{} is not an IP address", options.address));
    // A port that TCP takes because it is free may not be free for UDP.
    for (int tries = options.port == 0 ? kMostPorts : 1;; --tries) {
      try {
        const tcp::endpoint endpoint(address, options.port);
        acceptor_.open(endpoint.protocol());
        acceptor_.set_option(tcp::acceptor::reuse_address(true));
        acceptor_.bind(endpoint);
        const asio::ip::udp::endpoint same(address, acceptor_.local_endpoint().port());
        datagrams_.emplace(strand_, same);
        acceptor_.listen();
        acceptor_.non_blocking(true);
        return;
      } catch (const boost::system::system_error& failure) {
        if (tries <= 1)
          throw std::runtime_error(fmt::format("cannot listen for syslog on {}:{}: {}",
                                               options.address, options.port,
                                               failure.code().message()));
        acceptor_.close(error);
      }
    }
  }

  asio::awaitable<void> accept() {
    ++senders_;
    while (!stopping_) {
      try {
        co_await accept_one();
      } catch (const std::exception& error) {
        say(LogLevel::error, "not-accepted", "a connection could not be accepted",
            {{"why", error.what()}});
      }
    }
    accept_those_that_wait();
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    --senders_;
  }

  asio::awaitable<void> accept_one() {
    const auto executor = asio::make_strand(context_);
    auto [error, socket] =
        co_await acceptor_.async_accept(executor, asio::as_tuple(asio::use_awaitable));
    if (!error) {
      start_connection(std::move(socket));
    } else if (!stopping_) {
      asio::steady_timer pause(strand_, kRetryAccept);
      co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
    }
  }

  // When the server stops: what these clients have sent would be lost.
  void accept_those_that_wait() {
    for (;;) {
      boost::system::error_code error;
      tcp::socket socket = acceptor_.accept(asio::make_strand(context_), error);
      if (error) return;
      start_connection(std::move(socket));
    }
  }

  void start_connection(tcp::socket socket) {
    const auto executor = socket.get_executor();
    auto connection = std::make_shared<Connection>(std::move(socket));
    if (!connections_.has_room_for(*connection)) {
      refuse(*connection, SyslogRefusal::too_many, "connections", "too many connections are open");
      connections_.ask_for_room_for(*connection);
      return;
    }
    connections_.add(connection);
    if (stopping_) connection->ask_to_stop(StopReason::shutdown);
    ++senders_;
    services_.metrics.syslog_opened();
    auto ended = [this, connection](const std::exception_ptr& failure) {
      if (failure) say_failed(failure);
      services_.metrics.syslog_closed();
      connection->abort();
      asio::post(strand_, [this, connection] {
        connections_.remove(connection);
        --senders_;
      });
    };
    asio::co_spawn(executor, read_connection(connection), std::move(ended));
  }

  void refuse(const Connection& connection, SyslogRefusal kind, std::string_view reason,
              std::string_view why) {
    services_.metrics.count_syslog_refusal(kind);
    if (audit_ != nullptr) audit_->refused_connection(reason, connection.peer(), why);
  }

  static void say_failed(const std::exception_ptr& failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      say(LogLevel::error, "connection-failed", "a connection ended with an error",
          {{"why", error.what()}});
    }
  }

  asio::awaitable<void> read_connection(std::shared_ptr<Connection> connection) {
    SyslogFraming framing;
    std::optional<SteadyTime> end_by;  // once the client was told to end
    SteadyTime until = steady_now() + kAnyTime;
    for (;;) {
      if (connection->asked_to_stop() && !end_by) {
        connection->say_no_more_comes();
        end_by = steady_now() + kMostFarewell;
        until = steady_now() + kQuiet;
      }
      const Fill fill = co_await connection->fill(until);
      if (fill == Fill::closed || (fill == Fill::timeout && end_by)) break;
      if (fill != Fill::woken)
        until = end_by ? std::min(steady_now() + kQuiet, *end_by) : steady_now() + kAnyTime;
      if (fill == Fill::data && !co_await take_bytes(*connection, framing)) {
        refuse(*connection, SyslogRefusal::no_syslog, "syslog", framing.why());
        co_return;
      }
      // One that goes on and on is not waited for.
      if (end_by && steady_now() >= *end_by) break;
    }
    auto finish = [&] {
      std::string_view message;
      if (framing.finish(message)) add(message, framing.was_cut(), connection->peer(), false);
    };
    co_await offload(turn_, finish);
  }

  // Waits until the basket has taken all that was read: meanwhile nothing more is read, and TCP
  // slows the client down. False: it is no syslog.
  asio::awaitable<bool> take_bytes(Connection& connection, SyslogFraming& framing) {
    auto& input = connection.input();
    for (;;) {
      bool is_syslog = true;
      std::string_view rest(static_cast<const char*>(input.data().data()), input.size());
      auto take = [&] { is_syslog = take_messages(rest, framing, connection.peer()); };
      co_await offload(turn_, take);
      input.consume(input.size() - rest.size());
      if (!is_syslog || rest.empty()) co_return is_syslog;
      wakeup_->signal();
      co_await connection.pause(steady_now() + kWaitForBasket);
    }
  }

  // In the basket's turn. Leaves in `bytes` what found no room.
  bool take_messages(std::string_view& bytes, SyslogFraming& framing, const std::string& peer) {
    std::string_view message;
    while (!bytes.empty() && basket_.has_room_for(MessageBasket::Sender::waits)) {
      const SyslogFraming::Found found = framing.next(bytes, message);
      if (found == SyslogFraming::Found::no_syslog) return false;
      if (found == SyslogFraming::Found::message) add(message, framing.was_cut(), peer, false);
    }
    return true;
  }

  void add(std::string_view message, bool is_cut, const std::string& peer, bool is_datagram) {
    services_.metrics.count_syslog(1, is_datagram);
    if (is_cut) services_.metrics.count_cut_syslog();
    read_syslog(message, utc_now(), basket_.place_for(message.size(), peer));
  }

  // When the server stops, it takes those that are there already; a flood is not waited for.
  asio::awaitable<void> receive_datagrams() {
    ++senders_;
    for (int rounds = 0; rounds < kMostLastRounds;) {
      if (stopping_) ++rounds;
      try {
        if (!co_await receive_some()) break;
      } catch (const std::exception& error) {
        say_failed(error);
      }
    }
    datagrams_->close();
    --senders_;
  }

  // False: the server stops, and there are none.
  asio::awaitable<bool> receive_some() {
    if (!stopping_) co_await datagrams_->wait();
    const std::vector<Datagram> datagrams = datagrams_->take(kDatagramsAtOnce);
    if (stopping_ && datagrams.empty()) co_return false;
    auto take = [&] { take_datagrams(datagrams); };
    co_await offload(turn_, take);
    services_.metrics.count_lost_syslog(SyslogLoss::kernel, datagrams_->take_dropped());
    co_return true;
  }

  static void say_failed(const std::exception& error) {
    say(LogLevel::error, "syslog-failed", "messages could not be taken", {{"why", error.what()}});
  }

  // In the basket's turn.
  void take_datagrams(const std::vector<Datagram>& datagrams) {
    for (const Datagram& datagram : datagrams) {
      if (datagram.text.empty()) continue;
      if (basket_.has_room_for(MessageBasket::Sender::does_not_wait)) {
        add(datagram.text, false, datagram.sender, true);
      } else {
        services_.metrics.count_lost_syslog(SyslogLoss::flood, 1);
        wakeup_->signal();
      }
    }
  }

  asio::awaitable<void> store_batches() {
    for (bool is_last = false; !is_last;) {
      is_last = stopping_ && senders_ == 0;
      try {
        if (!is_last) co_await wakeup_->wait(steady_now() + kGather);
        // When the server stops, those who wait for room must find some.
        if (services_.jobs.ready() || stopping_) co_await store_next();
      } catch (const std::exception& error) {
        say_failed(error);
      }
      tell_of_losses(is_last);
    }
  }

  asio::awaitable<void> store_next() {
    std::unique_ptr<MessageBatch> batch;
    auto take = [&] { batch = basket_.take(); };
    co_await offload(turn_, take);
    if (!batch) co_return;
    for (const auto& connection : connections_.all()) connection->wake();
    co_await store_one(*batch);
  }

  asio::awaitable<void> store_one(const MessageBatch& batch) {
    bool failed = false;
    try {
      if (services_.jobs.ready())
        co_await store_.store(batch);
      else
        services_.metrics.count_lost_syslog(SyslogLoss::shutdown, batch.lines.messages());
    } catch (const std::exception& error) {
      services_.metrics.count_lost_syslog(SyslogLoss::refused, batch.lines.messages());
      say(LogLevel::error, "syslog-failed", "messages could not be stored",
          {{"messages", batch.lines.messages()}, {"why", error.what()}});
      failed = true;
    }
    if (failed) co_await wakeup_->wait(steady_now() + kRetryStore);
  }

  void tell_of_losses(bool at_once) {
    const SteadyTime now = steady_now();
    if (!at_once && now - told_ < kBetweenLines) return;
    std::array<std::uint64_t, kSyslogLosses> lost{};
    for (std::size_t why = 0; why < kSyslogLosses; ++why)
      lost[why] = services_.metrics.lost_syslog(static_cast<SyslogLoss>(why));
    if (lost == told_lost_) return;
    const auto more = [&](SyslogLoss why) {
      const auto at = static_cast<std::size_t>(why);
      return lost[at] - told_lost_[at];
    };
    say(LogLevel::warning, "syslog-lost", "messages that came by syslog are not stored",
        {{"flood", more(SyslogLoss::flood)},
         {"kernel", more(SyslogLoss::kernel)},
         {"refused", more(SyslogLoss::refused)},
         {"shutdown", more(SyslogLoss::shutdown)}});
    told_ = now;
    told_lost_ = lost;
  }

  void begin_stop() {
    if (std::exchange(stopping_, true)) return;
    store_.stop();
    boost::system::error_code ignored;
    acceptor_.cancel(ignored);
    datagrams_->cancel_wait();
    for (const auto& connection : connections_.all()) connection->ask_to_stop(StopReason::shutdown);
    wakeup_->signal();
  }

  asio::io_context& context_;
  Services& services_;
  AuditLog* audit_;
  asio::strand<asio::io_context::executor_type> strand_;  // for what follows, except the basket
  asio::any_io_executor turn_;                            // of the basket
  tcp::acceptor acceptor_;
  std::optional<Datagrams> datagrams_;
  std::shared_ptr<Wakeup> wakeup_;  // of store_batches()
  MessageBasket basket_;
  BatchStore store_;
  ConnectionSet connections_;
  int senders_ = 0;  // coroutines that may still put something into the basket
  bool stopping_ = false;
  SteadyTime told_{};
  std::array<std::uint64_t, kSyslogLosses> told_lost_{};
};

SyslogDoor::SyslogDoor(asio::io_context& context, const SyslogOptions& options, Services& services,
                       Threads& threads, AuditLog* audit)
    : impl_(std::make_unique<Impl>(context, options, services, threads, audit)) {}
SyslogDoor::~SyslogDoor() = default;

std::string SyslogDoor::address() const { return impl_->address(); }
void SyslogDoor::start() { impl_->start(); }
void SyslogDoor::stop() { impl_->stop(); }

}  // namespace faultline
