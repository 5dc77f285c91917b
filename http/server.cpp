#include "http/server.h"

#include <fmt/format.h>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <exception>
#include <new>
#include <optional>
#include <set>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "http/audit.h"
#include "http/connection.h"
#include "http/connection_set.h"
#include "http/offload.h"
#include "http/out_of_memory.h"
#include "http/problem.h"
#include "http/threads.h"
#include "logging/log.h"

namespace faultline {
namespace asio = boost::asio;
namespace {

using asio::ip::tcp;

constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);

// When the server stops, requests in flight get this long; a restart waits as long.
constexpr std::chrono::seconds kStopLimit{8};

// Only so many refused clients at once are told why: a flood is not answered one by one.
constexpr std::size_t kMostRefusing = 64;

constexpr std::chrono::seconds kReconcileInterval{1};
constexpr std::chrono::seconds kHousekeepingInterval{5};
constexpr std::chrono::milliseconds kAcceptRetry{100};

tcp::endpoint endpoint_of(const ServerOptions& options) {
  boost::system::error_code error;
  const auto address = asio::ip::make_address(options.address, error);
  if (error) throw std::runtime_error(fmt::format("{} is not an IP address", options.address));
  return {address, options.port};
}

}  // namespace

class Server::Impl {
 public:
  Impl(const ServerOptions& options, Services& services)
      : options_(options),
        services_(services),
        strand_(asio::make_strand(context_)),
        acceptor_(strand_),
        signals_(strand_),
        hangups_(strand_),
        stop_timer_(strand_),
        reconcile_timer_(strand_),
        housekeeping_timer_(strand_),
        connections_(options.max_connections) {
    const tcp::endpoint endpoint = endpoint_of(options);
    try {
      acceptor_.open(endpoint.protocol());
      acceptor_.set_option(tcp::acceptor::reuse_address(true));
      acceptor_.bind(endpoint);
      acceptor_.listen();
    } catch (const boost::system::system_error& error) {
      throw std::runtime_error(fmt::format("cannot listen on {}:{}: {}", options.address,
                                           options.port, error.code().message()));
    }
    const tcp::endpoint bound = acceptor_.local_endpoint();
    const std::string address = bound.address().to_string();
    url_ = fmt::format("{}://{}:{}", options.tls == nullptr ? "http" : "https",
                       bound.address().is_v6() ? "[" + address + "]" : address, bound.port());
    if (options_.syslog)
      syslog_.emplace(context_, *options_.syslog, services_, threads_, options_.session.audit);
    signals_.add(SIGTERM);
    signals_.add(SIGINT);
    if (options_.on_hangup) hangups_.add(SIGHUP);
  }

  const std::string& url() const { return url_; }
  std::string syslog_address() const { return syslog_ ? syslog_->address() : ""; }

  void run() {
    signals_.async_wait([this](boost::system::error_code error, int) {
      if (!error) begin_stop();
    });
    asio::co_spawn(strand_, accept(), asio::detached);
    if (syslog_) syslog_->start();
    asio::co_spawn(strand_, reconcile_now_and_then(), asio::detached);
    asio::co_spawn(strand_, keep_house_now_and_then(), asio::detached);
    if (options_.on_hangup) asio::co_spawn(strand_, answer_hangups(), asio::detached);
    std::thread starting([this] { start_jobs(); });
    std::vector<std::thread> threads;
    const unsigned wanted = std::max(2U, std::thread::hardware_concurrency());
    try {
      for (unsigned i = 1; i < wanted; ++i) threads.emplace_back([this] { run_handlers(); });
    } catch (const std::exception& refused) {  // std::system_error or std::bad_alloc
      say(LogLevel::warning, "few-threads", "fewer threads than processors serve connections",
          {{"threads", threads.size() + 1}, {"why", refused.what()}});
    }
    run_handlers();
    for (std::thread& thread : threads) thread.join();
    starting.join();
    threads_.join();
    services_.jobs.finish();
    if (start_failure_) std::rethrow_exception(start_failure_);
  }

  void stop() {
    asio::post(strand_, [this] { begin_stop(); });
  }

 private:
  // In processor time, which leaves out what else the machine does, and waiting for the next
  // handler.
  void run_handlers() {
    try {
      for (auto before = processor_time(); context_.run_one() > 0;) {
        const auto now = processor_time();
        services_.metrics.note_handler(now - before);
        before = now;
      }
    } catch (const std::bad_alloc&) {
      end_out_of_memory();
    }
  }

  void start_jobs() {
    try {
      services_.jobs.start(stopping_);
    } catch (...) {
      start_failure_ = std::current_exception();
      stop();
    }
  }

  // Goes on accepting, whatever goes wrong with one connection: a server that listens but accepts
  // nobody looks alive, so nobody would start it again.
  asio::awaitable<void> accept() {
    while (!stopping_) {
      try {
        co_await accept_one();
      } catch (const std::exception& error) {
        // Most likely out of memory: what is in use will be given back, as descriptors are.
        say(LogLevel::error, "not-accepted", "a connection could not be accepted",
            {{"why", error.what()}});
      }
    }
  }

  asio::awaitable<void> accept_one() {
    const auto executor = asio::make_strand(context_);
    auto [error, socket] = co_await acceptor_.async_accept(executor, kNoThrow);
    if (stopping_) co_return;
    if (error) {
      // Out of descriptors, most likely: those in use will be given back.
      asio::steady_timer pause(strand_, kAcceptRetry);
      co_await pause.async_wait(kNoThrow);
      co_return;
    }
    start_session(std::move(socket));
  }

  void start_session(tcp::socket socket) {
    const auto executor = socket.get_executor();
    auto connection = std::make_shared<Connection>(
        std::move(socket), options_.tls == nullptr ? nullptr : options_.tls->channel());
    if (!connections_.has_room_for(*connection)) {
      services_.metrics.connection_refused();
      note_refusal(*connection);
      connections_.ask_for_room_for(*connection);
      if (refusing_ < kMostRefusing) start_refusal(std::move(connection), executor);
      return;
    }
    connections_.add(connection);
    services_.metrics.connection_opened();
    auto ended = [this, connection](std::exception_ptr failure) {
      if (failure) log_failure(failure);
      services_.metrics.connection_closed();
      connection->abort();
      asio::post(strand_, [this, connection] { forget(connection); });
    };
    try {
      asio::co_spawn(executor, run_session(connection, services_, threads_, options_.session),
                     std::move(ended));
    } catch (...) {
      // The session never ran, so `ended` is not called.
      services_.metrics.connection_closed();
      connections_.remove(connection);
      throw;
    }
  }

  // Tells the client why there is no room; the next one may find some.
  void start_refusal(std::shared_ptr<Connection> connection,
                     const asio::any_io_executor& executor) {
    ++refusing_;
    asio::co_spawn(executor, refuse(std::move(connection)),
                   [this](const std::exception_ptr&) { --refusing_; });
  }

  static void log_failure(const std::exception_ptr& failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      say(LogLevel::error, "connection-failed", "a connection ended with an error",
          {{"why", error.what()}});
    }
  }

  static Response no_room() {
    return problem_response(
        Problem{.status = 503,
                .detail = "too many connections are open; try again soon (--max-connections)",
                .retry_after_seconds = 5,
                .refused = kTooManyConnections});
  }

  void note_refusal(const Connection& connection) {
    if (options_.session.audit == nullptr) return;
    Request request;
    request.peer = connection.peer();
    options_.session.audit->refused(request, no_room());
  }

  static asio::awaitable<void> refuse(std::shared_ptr<Connection> connection) {
    const Response refusal = no_room();
    const std::string head = fmt::format(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: {}\r\nContent-Length: {}\r\n"
        "Retry-After: 5\r\nConnection: close\r\n\r\n",
        refusal.content_type, refusal.body.size());
    if (co_await connection->send(head, refusal.body)) co_await connection->close_gently();
  }

  void forget(const std::shared_ptr<Connection>& connection) {
    connections_.remove(connection);
    if (stopping_ && connections_.empty()) finish_stop();
  }

  // Finds what only time shows: a stream that stays open but is silent.
  asio::awaitable<void> reconcile_now_and_then() {
    return now_and_then(reconcile_timer_, kReconcileInterval, "findings could not be stored",
                        [this] { services_.jobs.reconcile_open(); });
  }

  asio::awaitable<void> keep_house_now_and_then() {
    return now_and_then(housekeeping_timer_, kHousekeepingInterval,
                        "the store could not be cleaned up", options_.on_housekeeping);
  }

  asio::awaitable<void> now_and_then(asio::steady_timer& timer, std::chrono::seconds between,
                                     std::string_view failure, std::function<void()> deed) {
    const auto do_if_ready = [this, &deed] {
      if (services_.jobs.ready()) deed();
    };
    while (!stopping_) {
      timer.expires_after(between);
      co_await timer.async_wait(kNoThrow);
      if (stopping_) co_return;
      try {
        co_await offload(threads_.answering(), do_if_ready);
      } catch (const std::exception& error) {
        // The disk refuses, or there is no memory: it may work next time.
        say(LogLevel::error, "upkeep-failed", failure, {{"why", error.what()}});
      }
    }
  }

  asio::awaitable<void> answer_hangups() {
    while (!stopping_) {
      auto [error, signal] = co_await hangups_.async_wait(kNoThrow);
      if (error || stopping_) co_return;
      co_await offload(threads_.answering(), options_.on_hangup);
    }
  }

  void begin_stop() {
    if (stopping_) return;
    stopping_ = true;
    services_.jobs.note_stop();
    threads_.long_reads().stop();
    if (syslog_) syslog_->stop();
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    signals_.cancel(ignored);
    hangups_.cancel(ignored);
    reconcile_timer_.cancel();
    housekeeping_timer_.cancel();
    if (connections_.empty()) return;
    for (const auto& connection : connections_.all()) connection->ask_to_stop(StopReason::shutdown);
    stop_timer_.expires_after(kStopLimit);
    stop_timer_.async_wait([this](boost::system::error_code cancelled) {
      if (cancelled) return;
      say(LogLevel::warning, "connections-cut", "connections did not end in time and are cut",
          {{"connections", connections_.size()}});
      for (const auto& connection : connections_.all()) connection->abort();
    });
  }

  void finish_stop() { stop_timer_.cancel(); }

  ServerOptions options_;
  Services& services_;
  asio::io_context context_;
  Threads threads_;
  asio::strand<asio::io_context::executor_type> strand_;  // for everything below
  tcp::acceptor acceptor_;
  asio::signal_set signals_;
  asio::signal_set hangups_;
  asio::steady_timer stop_timer_;
  asio::steady_timer reconcile_timer_;
  asio::steady_timer housekeeping_timer_;
  ConnectionSet connections_;
  std::optional<SyslogDoor> syslog_;
  std::atomic<std::size_t> refusing_{0};
  std::atomic<bool> stopping_{false};
  std::string url_;
  std::exception_ptr start_failure_;
};

Server::Server(const ServerOptions& options, Services& services)
    : impl_(std::make_unique<Impl>(options, services)) {}
Server::~Server() = default;

std::string Server::url() const { return impl_->url(); }
std::string Server::syslog_address() const { return impl_->syslog_address(); }
void Server::run() { impl_->run(); }
void Server::stop() { impl_->stop(); }

}  // namespace faultline
