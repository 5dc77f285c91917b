#include "http/request_reader.h"

#include <fmt/format.h>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>

#include <utility>
#include <vector>

namespace faultline {
namespace asio = boost::asio;
namespace http = boost::beast::http;
namespace {

constexpr std::uint32_t kMaxHeadBytes = 32 << 10;
constexpr std::size_t kMaxTargetBytes = 8 << 10;

// Between requests a connection may rest; the header of a request that has begun must arrive
// sooner.
constexpr std::chrono::seconds kIdleLimit{75};
constexpr std::chrono::seconds kHeadLimit{30};

// Hands the pieces of a body on as views into the connection's buffer, without copying them.
struct ViewBody {
  using value_type = std::vector<std::string_view>;

  class reader {
   public:
    template <bool IsRequest, class Fields>
    reader(http::header<IsRequest, Fields>&, value_type& pieces) : pieces_(pieces) {}

    void init(const boost::optional<std::uint64_t>&, boost::system::error_code& error) {
      error = {};
    }

    template <class Buffers>
    std::size_t put(const Buffers& buffers, boost::system::error_code& error) {
      error = {};
      std::size_t bytes = 0;
      for (auto it = asio::buffer_sequence_begin(buffers); it != asio::buffer_sequence_end(buffers);
           ++it) {
        const asio::const_buffer buffer = *it;
        pieces_.emplace_back(static_cast<const char*>(buffer.data()), buffer.size());
        bytes += buffer.size();
      }
      return bytes;
    }

    void finish(boost::system::error_code& error) { error = {}; }

   private:
    value_type& pieces_;
  };
};

Problem malformed(std::string_view what) {
  return {.status = 400,
          .detail = fmt::format("the request is not valid HTTP: {}", what),
          .refused = "malformed"};
}

Problem too_long_a_target() {
  return {.status = 414,
          .detail = fmt::format("the target is longer than {} bytes", kMaxTargetBytes)};
}

Problem too_large_a_head() {
  return {.status = 431,
          .detail = fmt::format("the header fields are longer than {} bytes", kMaxHeadBytes)};
}

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

// Clients that think we are a proxy send "http://host/path": a server has to take that as "/path",
// and its host instead of what the Host header says.
struct AskedFor {
  std::optional<std::string_view> host;  // none: as the Host header has it
  std::string_view target;
};

AskedFor asked_for(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!equal_ignoring_case(target.substr(0, scheme.size()), scheme)) continue;
    target.remove_prefix(scheme.size());
    const std::size_t end = std::min(target.find_first_of("/?"), target.size());
    const std::string_view path = target.substr(end);
    return {target.substr(0, end), path.starts_with('/') ? path : "/"};
  }
  return {std::nullopt, target};
}

// Whether the input is "0", a line end and one byte. The shortest end of a body is "0" and two line
// ends. Once Beast has seen the first line, it relies on being given all of that.
bool is_last_chunk_begun(boost::asio::const_buffer input) {
  constexpr std::string_view kLastChunk = "0\r\n";
  const std::string_view bytes(static_cast<const char*>(input.data()), input.size());
  return bytes.size() == kLastChunk.size() + 1 && bytes.starts_with(kLastChunk);
}

}  // namespace

class RequestReader::Parser : public http::request_parser<ViewBody> {};

RequestReader::RequestReader(Connection& connection)
    : connection_(connection), parser_(std::make_unique<Parser>()) {
  parser_->header_limit(kMaxHeadBytes);
  parser_->body_limit(boost::none);
}

RequestReader::~RequestReader() {
  connection_.input().consume(consume_later_);
  connection_.rate().end();
}

bool RequestReader::done() const { return parser_->is_done(); }
bool RequestReader::keep_alive() const { return parser_->keep_alive(); }
bool RequestReader::old_client() const { return parser_->get().version() == 10; }

std::span<const std::string_view> RequestReader::pieces() const { return parser_->get().body(); }

asio::awaitable<std::variant<Request, Problem, Gone>> RequestReader::read_head() {
  auto& input = connection_.input();
  bool begun = false;
  bool target_read = false;
  SteadyTime deadline = steady_now() + kIdleLimit;
  for (;;) {
    if (input.size() > 0) {
      boost::system::error_code error;
      if (!std::exchange(begun, true)) {
        deadline = steady_now() + kHeadLimit;
        connection_.rate().begin(input.size());
      }
      const std::size_t used = parser_->put(input.cdata(), error);
      target_read |= used > 0;
      if (error == http::error::header_limit)
        co_return target_read ? too_large_a_head() : too_long_a_target();
      input.consume(used);
      if (error && error != http::error::need_more) {
        if (error == http::error::bad_version)
          co_return Problem{.status = 505, .detail = "only HTTP/1.0 and HTTP/1.1 are spoken here"};
        co_return malformed(error.message());
      }
      if (parser_->is_header_done()) break;
    }
    const Fill filled = co_await connection_.fill(deadline);
    if (filled == Fill::timeout && begun)
      co_return Problem{.status = 408, .detail = "the request's header did not arrive in time"};
    if (filled == Fill::full) co_return too_large_a_head();
    if (filled == Fill::closed || filled == Fill::timeout) co_return Gone{};
    if (connection_.asked_to_stop() && !begun) co_return Gone{};
    if (stop_reason() == StopReason::others_wait)
      co_return gives_way("send the request again later");
  }
  co_return accept_head();
}

Request RequestReader::begun() const {
  const auto& message = parser_->get();
  Request request;
  request.method = view(message.method_string());
  request.target = asked_for(view(message.target())).target;
  request.path = request.target.substr(0, request.target.find('?'));
  request.peer = connection_.peer();
  return request;
}

std::variant<Request, Problem, Gone> RequestReader::accept_head() {
  const auto& message = parser_->get();
  Request request = begun();
  request.certificate = connection_.client_certificate();
  request.encrypted = connection_.encrypted();
  request.has_body = !parser_->is_done();
  if (!request.has_body) connection_.rate().end();
  const auto host = asked_for(view(message.target())).host;
  if (host) request.headers.emplace_back("Host", *host);
  for (const auto& field : message)
    if (!host || field.name() != http::field::host)
      request.headers.emplace_back(view(field.name_string()), view(field.value()));

  if (message.version() != 10 && message.version() != 11)
    return Problem{.status = 505, .detail = "only HTTP/1.0 and HTTP/1.1 are spoken here"};
  if (request.target.size() > kMaxTargetBytes) return too_long_a_target();
  if (host && host->empty()) return malformed("the address that it asks for names no host");
  if (message.count(http::field::host) != 1 && message.version() == 11)
    return malformed("it must have one Host header");
  // A proxy may have looked at the other one.
  if (message.count(http::field::authorization) > 1)
    return malformed("it must have one Authorization header at most");
  const std::string_view transfer = view(message[http::field::transfer_encoding]);
  if (message.count(http::field::transfer_encoding) > 0 &&
      !equal_ignoring_case(transfer, "chunked"))
    return Problem{.status = 501, .detail = "the only Transfer-Encoding known here is chunked"};
  const std::string_view expect = view(message[http::field::expect]);
  if (!expect.empty() && !equal_ignoring_case(expect, "100-continue"))
    return Problem{.status = 417, .detail = "the only expectation known here is 100-continue"};
  waits_for_invitation_ = !expect.empty() && request.has_body && message.version() == 11;
  // From here on the parser goes as far through the input as it can.
  parser_->eager(true);
  return request;
}

asio::awaitable<bool> RequestReader::invite_body() {
  if (!std::exchange(waits_for_invitation_, false)) co_return true;
  co_return co_await connection_.send("HTTP/1.1 100 Continue\r\n\r\n", "");
}

asio::awaitable<BodyEvent> RequestReader::read_body(SteadyTime deadline) {
  auto& input = connection_.input();
  auto& pieces = parser_->get().body();
  for (;;) {
    input.consume(std::exchange(consume_later_, 0));
    pieces.clear();
    if (parser_->is_done()) {
      connection_.rate().end();
      co_return BodyEvent::end;
    }
    if (input.size() > 0 && !(needs_more_ && is_last_chunk_begun(input.cdata()))) {
      boost::system::error_code error;
      consume_later_ = parser_->put(input.cdata(), error);
      if (error && error != http::error::need_more) co_return BodyEvent::malformed;
      needs_more_ = error && consume_later_ == 0;
      if (!pieces.empty()) co_return BodyEvent::pieces;
      if (parser_->is_done()) continue;
      input.consume(std::exchange(consume_later_, 0));
    }
    switch (co_await connection_.fill(deadline)) {
      case Fill::data:
        break;
      case Fill::closed:
        co_return BodyEvent::closed;
      case Fill::timeout:
        co_return BodyEvent::timeout;
      case Fill::woken:
        co_return BodyEvent::woken;
      case Fill::full:
        co_return BodyEvent::malformed;  // a chunk's header without end
    }
  }
}

}  // namespace faultline
