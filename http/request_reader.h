// RequestReader: reads one HTTP/1.x request from a connection, its body in pieces as they arrive.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "http/connection.h"
#include "http/message.h"
#include "http/problem.h"
#include "service/clock.h"

namespace faultline {

struct Gone {};  // the client left, or said nothing for too long

enum class BodyEvent { pieces, end, closed, timeout, woken, malformed };

class RequestReader {
 public:
  explicit RequestReader(Connection& connection);
  ~RequestReader();

  // After a problem, answer it and close the connection. Call it once.
  boost::asio::awaitable<std::variant<Request, Problem, Gone>> read_head();

  // The request as far as it was read.
  Request begun() const;

  // Tells a client that waits with its body (100-continue) to send it. Call it before the first
  // read_body().
  boost::asio::awaitable<bool> invite_body();

  // pieces(): valid until the next call.
  boost::asio::awaitable<BodyEvent> read_body(SteadyTime deadline);
  std::span<const std::string_view> pieces() const;

  bool done() const;        // the whole request has been read
  bool keep_alive() const;  // if the client wishes so
  bool old_client() const;  // HTTP/1.0
  StopReason stop_reason() const { return connection_.stop_reason(); }

 private:
  class Parser;

  std::variant<Request, Problem, Gone> accept_head();

  Connection& connection_;
  std::unique_ptr<Parser> parser_;
  bool waits_for_invitation_ = false;
  std::size_t consume_later_ = 0;  // bytes of input that pieces() points into
  bool needs_more_ = false;        // the parser has taken nothing of the input
};

}  // namespace faultline
