// Connection: one client's socket, the bytes read ahead from it, and what its coroutine sleeps on.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/request_rate.h"
#include "http/tls.h"
#include "http/wakeup.h"
#include "service/clock.h"

namespace faultline {

enum class Fill {
  data,     // more bytes lie in input()
  closed,   // the client is gone, or has no more to say
  timeout,  // the deadline came first
  woken,    // something else asks for attention: a commit is done, the server stops
  full,     // input() holds all it may and nobody took any of it
};

enum class StopReason {
  none,
  shutdown,
  others_wait,  // others need a connection, and this one is silent or slow
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // The socket's executor is a strand. `tls`: null if the connection is not encrypted.
  explicit Connection(boost::asio::ip::tcp::socket socket, std::unique_ptr<TlsChannel> tls = {});

  // Reads what is there, or waits for it.
  boost::asio::awaitable<Fill> fill(SteadyTime deadline);

  // False: the client is gone, or does not take it in time.
  boost::asio::awaitable<bool> send(std::string_view head, std::string_view body);

  // Tells the client so; what it sends can still be read.
  void say_no_more_comes();

  // Says that nothing more will be sent and reads on for a moment, so that the client gets to see
  // the answer instead of a reset for what it is still sending.
  boost::asio::awaitable<void> close_gently();

  // Sleeps until woken or the deadline.
  boost::asio::awaitable<void> pause(SteadyTime deadline);

  void wake() { wakeup_->signal(); }
  std::function<void()> waker() const;

  // Requests in flight are finished, but no new one is read. From any thread.
  void ask_to_stop(StopReason reason);
  bool asked_to_stop() const { return stop_reason_ != StopReason::none; }
  StopReason stop_reason() const { return stop_reason_; }

  // When bytes last came from the client.
  SteadyTime last_bytes() const { return last_bytes_; }
  // Of the request that is being read; TLS has to be agreed upon before the first one.
  RequestRate& rate() { return rate_; }
  const RequestRate& rate() const { return rate_; }
  void abort();  // from any thread

  boost::beast::flat_buffer& input() { return input_; }
  const std::string& peer() const { return peer_; }
  bool encrypted() const { return tls_ != nullptr; }
  // Verified by TLS; null: the client showed none.
  std::shared_ptr<const ClientCertificate> client_certificate() const {
    return tls_ ? tls_->client_certificate() : nullptr;
  }
  // Why TLS ended the connection; empty: it did not.
  std::string tls_failure() const { return tls_ ? tls_->failure() : ""; }

 private:
  void await_readable();
  // Sends what TLS has to send; false: the client is gone.
  boost::asio::awaitable<bool> send_encrypted();
  // Decrypts into input(); nothing: more bytes from the client are needed.
  boost::asio::awaitable<std::optional<Fill>> decrypt(std::size_t room);
  boost::asio::awaitable<bool> send_as_it_is(std::string_view head, std::string_view body);

  boost::asio::ip::tcp::socket socket_;
  std::unique_ptr<TlsChannel> tls_;
  bool agrees_on_tls_;
  std::vector<char> encrypted_;  // as they came from the socket
  std::shared_ptr<Wakeup> wakeup_;
  boost::beast::flat_buffer input_;
  std::size_t read_size_;
  std::string peer_;
  bool awaiting_readable_ = false;
  bool readable_ = false;
  std::atomic<StopReason> stop_reason_{StopReason::none};
  std::atomic<SteadyTime> last_bytes_{steady_now()};
  RequestRate rate_;
};

}  // namespace faultline
