#include "http/connection.h"

#include <fmt/format.h>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <netinet/tcp.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace faultline {
namespace asio = boost::asio;
namespace {

constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);  // errors as values

// Most connections send little; one that fills its buffer gets a larger one.
constexpr std::size_t kSmallRead = std::size_t{8} << 10;
constexpr std::size_t kLargeRead = std::size_t{256} << 10;
constexpr std::size_t kMaxInput = kLargeRead + (std::size_t{64} << 10);

constexpr std::chrono::seconds kSendLimit{60};
constexpr std::chrono::seconds kLingerLimit{2};
constexpr std::size_t kLingerBytes = std::size_t{64} << 20;

// The answer to a client that asks without TLS.
std::string speak_tls() {
  constexpr std::string_view kText = "this port speaks TLS: begin with https\n";
  return fmt::format(
      "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n"
      "Connection: close\r\n\r\n{}",
      kText.size(), kText);
}

using KeepIdle = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPIDLE>;
using KeepInterval = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPINTVL>;

std::string address_of(const asio::ip::tcp::socket& socket) {
  boost::system::error_code error;
  const auto endpoint = socket.remote_endpoint(error);
  return error ? "unknown" : endpoint.address().to_string();
}

}  // namespace

Connection::Connection(asio::ip::tcp::socket socket, std::unique_ptr<TlsChannel> tls)
    : socket_(std::move(socket)),
      tls_(std::move(tls)),
      agrees_on_tls_(tls_ != nullptr),
      wakeup_(std::make_shared<Wakeup>(socket_.get_executor())),
      input_(kMaxInput),
      read_size_(kSmallRead),
      peer_(address_of(socket_)) {
  if (agrees_on_tls_) rate_.begin(0);
  boost::system::error_code ignored;
  socket_.non_blocking(true, ignored);
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  // A stream may be silent for long, so TCP checks whether its sender still lives.
  socket_.set_option(asio::socket_base::keep_alive(true), ignored);
  socket_.set_option(KeepIdle(60), ignored);
  socket_.set_option(KeepInterval(15), ignored);
}

std::function<void()> Connection::waker() const {
  return [wakeup = wakeup_] { wakeup->signal(); };
}

void Connection::await_readable() {
  if (awaiting_readable_) return;
  awaiting_readable_ = true;
  socket_.async_wait(asio::ip::tcp::socket::wait_read,
                     [self = shared_from_this()](boost::system::error_code) {
                       self->awaiting_readable_ = false;
                       self->readable_ = true;
                       self->wakeup_->signal();
                     });
}

asio::awaitable<Fill> Connection::fill(SteadyTime deadline) {
  const std::size_t room = std::min(read_size_, kMaxInput - input_.size());
  if (room == 0) co_return Fill::full;
  for (;;) {
    if (tls_)
      if (const auto filled = co_await decrypt(room)) co_return *filled;
    boost::system::error_code error;
    readable_ = false;
    if (tls_) encrypted_.resize(read_size_);
    const std::size_t bytes = tls_ ? socket_.read_some(asio::buffer(encrypted_), error)
                                   : socket_.read_some(input_.prepare(room), error);
    if (!error) {
      last_bytes_ = steady_now();
      rate_.received(bytes);
      if (bytes == read_size_) read_size_ = std::min(read_size_ * 4, kLargeRead);
      if (tls_) {
        tls_->feed(std::span(encrypted_).first(bytes));
        continue;
      }
      input_.commit(bytes);
      co_return Fill::data;
    }
    if (error != asio::error::would_block && error != asio::error::interrupted)
      co_return Fill::closed;
    await_readable();
    rate_.wait_begins(steady_now());
    const bool is_woken = co_await wakeup_->wait(deadline);
    rate_.wait_ends(steady_now());
    if (!is_woken && steady_now() >= deadline) co_return Fill::timeout;
    if (!readable_) co_return Fill::woken;
  }
}

asio::awaitable<std::optional<Fill>> Connection::decrypt(std::size_t room) {
  std::size_t bytes = 0;
  const auto into = input_.prepare(room);
  const TlsChannel::State state = tls_->read({static_cast<char*>(into.data()), into.size()}, bytes);
  input_.commit(bytes);
  if (agrees_on_tls_ && tls_->is_agreed()) {
    agrees_on_tls_ = false;
    rate_.end();
  }
  // Sends what belongs to the handshake, or why it failed.
  if (!co_await send_encrypted()) co_return Fill::closed;
  if (state == TlsChannel::State::open) co_return Fill::data;
  if (state == TlsChannel::State::wants_bytes) co_return std::nullopt;
  if (tls_->spoke_plainly()) {
    const std::string answer = speak_tls();
    co_await send_as_it_is(answer, {});
  }
  co_return Fill::closed;
}

asio::awaitable<bool> Connection::send_encrypted() {
  const std::string output = tls_->take_output();
  if (output.empty()) co_return true;
  co_return co_await send_as_it_is(output, {});
}

asio::awaitable<bool> Connection::send(std::string_view head, std::string_view body) {
  if (!tls_) co_return co_await send_as_it_is(head, body);
  if (!tls_->write(head) || !tls_->write(body)) co_return false;
  co_return co_await send_encrypted();
}

asio::awaitable<bool> Connection::send_as_it_is(std::string_view head, std::string_view body) {
  const std::array buffers{asio::const_buffer(head.data(), head.size()),
                           asio::const_buffer(body.data(), body.size())};
  // If the client does not take the bytes, closing the socket ends the write.
  asio::steady_timer limit(socket_.get_executor(), kSendLimit);
  limit.async_wait([self = shared_from_this()](boost::system::error_code cancelled) {
    boost::system::error_code ignored;
    if (!cancelled) self->socket_.close(ignored);
  });
  const auto [error, bytes] = co_await asio::async_write(socket_, buffers, kNoThrow);
  co_return !error;
}

void Connection::say_no_more_comes() {
  boost::system::error_code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
}

asio::awaitable<void> Connection::close_gently() {
  if (tls_) {
    tls_->say_goodbye();
    if (!co_await send_encrypted()) co_return;
  }
  say_no_more_comes();
  boost::system::error_code ignored;
  const SteadyTime deadline = steady_now() + kLingerLimit;
  for (std::size_t read = 0; read < kLingerBytes;) {
    input_.clear();
    const Fill fill_result = co_await fill(deadline);
    if (fill_result != Fill::data && fill_result != Fill::woken) break;
    read += input_.size();
  }
  socket_.close(ignored);
}

asio::awaitable<void> Connection::pause(SteadyTime deadline) { co_await wakeup_->wait(deadline); }

void Connection::ask_to_stop(StopReason reason) {
  stop_reason_ = reason;
  wake();
}

void Connection::abort() {
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    boost::system::error_code ignored;
    self->socket_.close(ignored);
  });
}

}  // namespace faultline
