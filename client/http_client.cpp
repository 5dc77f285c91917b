#include "client/http_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/beast/version.hpp>
#include <optional>

#include "client/authorities.h"

namespace faultline {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using boost::system::error_code;

constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);

constexpr std::uint32_t kMostHeaderBytes = 16 << 10;
constexpr std::size_t kReadAtOnce = 4096;
constexpr std::chrono::seconds kReasonLimit{2};

ClientAnswer unsent(std::string why) {
  return {.outcome = ClientAnswer::Outcome::unsent, .why = std::move(why)};
}
ClientAnswer unknown(std::string why) {
  return {.outcome = ClientAnswer::Outcome::unknown, .why = std::move(why)};
}

std::string request_text(const ClientRequest& request, const Url& server, bool keeps_connection) {
  std::string text = fmt::format(
      "{} {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: Faultline\r\nAccept: */*\r\nConnection: {}\r\n",
      request.method, request.target, server.host_header(),
      keeps_connection ? "keep-alive" : "close");
  for (const auto& [name, value] : request.headers) text += fmt::format("{}: {}\r\n", name, value);
  if (request.method != "GET") text += fmt::format("Content-Length: {}\r\n", request.body.size());
  return text + "\r\n";
}

using AnswerParser = http::response_parser<http::buffer_body>;

// Gives the parser what the buffer holds. False: it needs more.
bool parse_some(beast::flat_buffer& buffer, AnswerParser& parser, error_code& error) {
  const std::size_t taken = parser.put(buffer.data(), error);
  buffer.consume(taken);
  if (error == http::error::need_more) error.clear();
  return taken > 0 || error;
}

}  // namespace

// A connection, encrypted or not. Beast's own operations would be compiled for each of the two,
// which takes most of a minute.
class HttpClient::Link {
 public:
  virtual ~Link() = default;
  virtual asio::awaitable<std::size_t> read_some(asio::mutable_buffer into, error_code& error) = 0;
  virtual asio::awaitable<std::size_t> write_some(asio::const_buffer from, error_code& error) = 0;
  virtual beast::tcp_stream& transport() = 0;

  asio::awaitable<error_code> write_all(std::string_view text) {
    error_code error;
    while (!text.empty() && !error)
      text.remove_prefix(co_await write_some(asio::buffer(text), error));
    co_return error;
  }

  bool was_used = false;
};

struct HttpClient::Opened {
  std::unique_ptr<Link> link;
  ClientAnswer failure;  // if there is no link
};

namespace {

template <class LinkBase, class Stream>
class LinkOver final : public LinkBase {
 public:
  template <class... Arguments>
  explicit LinkOver(std::unique_ptr<asio::ssl::context> context, Arguments&&... arguments)
      : context_(std::move(context)), stream_(std::forward<Arguments>(arguments)...) {}

  Stream& stream() { return stream_; }

  beast::tcp_stream& transport() override { return beast::get_lowest_layer(stream_); }

  asio::awaitable<std::size_t> read_some(asio::mutable_buffer into, error_code& error) override {
    auto [failed, bytes] = co_await stream_.async_read_some(into, kNoThrow);
    error = failed;
    co_return bytes;
  }

  asio::awaitable<std::size_t> write_some(asio::const_buffer from, error_code& error) override {
    auto [failed, bytes] = co_await stream_.async_write_some(from, kNoThrow);
    error = failed;
    co_return bytes;
  }

 private:
  std::unique_ptr<asio::ssl::context> context_;  // of an encrypted one; outlives the stream
  Stream stream_;
};

// Reads more of the answer into the parser: all that arrives, or as much as it has room for.
template <class LinkBase>
asio::awaitable<error_code> read_more(LinkBase& link, beast::flat_buffer& buffer,
                                      AnswerParser& parser) {
  error_code error;
  // The buffer may hold half of a chunk's header: then the parser takes nothing, and more is read.
  if (buffer.size() > 0 && parser.is_header_done() && parse_some(buffer, parser, error))
    co_return error;
  if (buffer.size() == buffer.max_size()) co_return http::error::header_limit;
  const auto room = buffer.prepare(std::min(kReadAtOnce, buffer.max_size() - buffer.size()));
  const std::size_t bytes = co_await link.read_some(room, error);
  buffer.commit(bytes);
  if (error == asio::error::eof) {
    if (!parser.got_some()) co_return http::error::end_of_stream;
    error.clear();
    parser.put_eof(error);
    co_return error;  // the connection has ended, so nothing more comes
  }
  if (error) co_return error;
  parse_some(buffer, parser, error);
  co_return error;
}

}  // namespace

HttpClient::HttpClient(Url server, ClientOptions options)
    : server_(std::move(server)), options_(std::move(options)) {}

HttpClient::~HttpClient() = default;

asio::awaitable<HttpClient::Opened> HttpClient::open() {
  const auto executor = co_await asio::this_coro::executor;
  tcp::resolver resolver(executor);
  auto [resolve_error, found] =
      co_await resolver.async_resolve(server_.host, server_.port, kNoThrow);
  if (resolve_error)
    co_return Opened{nullptr, unsent(fmt::format("{}: {}", server_.host, resolve_error.message()))};
  // Connects only to the addresses that were checked: no second look-up can give others.
  std::vector<tcp::endpoint> allowed;
  for (const auto& entry : found)
    if (!options_.allows || options_.allows(entry.endpoint().address()))
      allowed.push_back(entry.endpoint());
  if (allowed.empty()) co_return Opened{nullptr, unsent(options_.none_allowed)};
  beast::tcp_stream transport(executor);
  transport.expires_after(options_.timeout);
  auto [connect_error, endpoint] = co_await transport.async_connect(allowed, kNoThrow);
  if (connect_error)
    co_return Opened{nullptr, unsent("cannot be reached: " + connect_error.message())};
  error_code ignored;
  transport.socket().set_option(tcp::no_delay(true), ignored);
  if (!server_.tls)
    co_return Opened{
        std::make_unique<LinkOver<Link, beast::tcp_stream>>(nullptr, std::move(transport)), {}};

  auto context = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_client);
  context->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                       asio::ssl::context::no_tlsv1_1);
  context->set_verify_mode(asio::ssl::verify_peer);
  error_code error;
  context->set_default_verify_paths(error);
  if (const std::string file = authorities_elsewhere("/"); !file.empty())
    context->load_verify_file(file, error);
  if (!options_.ca_file.empty()) context->load_verify_file(options_.ca_file, error);
  if (error)
    co_return Opened{
        nullptr, unsent(fmt::format("{}: cannot be read: {}", options_.ca_file, error.message()))};
  asio::ssl::context& of_stream = *context;
  auto link = std::make_unique<LinkOver<Link, beast::ssl_stream<beast::tcp_stream>>>(
      std::move(context), std::move(transport), of_stream);
  auto& stream = link->stream();
  stream.set_verify_callback(asio::ssl::host_name_verification(server_.host));
  SSL_set_tlsext_host_name(stream.native_handle(), server_.host.c_str());
  auto [failed] = co_await stream.async_handshake(asio::ssl::stream_base::client, kNoThrow);
  if (failed) co_return Opened{nullptr, unsent("TLS: " + failed.message())};
  co_return Opened{std::move(link), {}};
}

asio::awaitable<ClientAnswer> HttpClient::ask(const ClientRequest& request) {
  const bool reused = link_ != nullptr;
  if (!link_) {
    Opened opened = co_await open();
    if (!opened.link) co_return std::move(opened.failure);
    link_ = std::move(opened.link);
  }
  ClientAnswer answer = co_await converse(request);
  // A server may close a connection that rests just when it is used again.
  if (reused && answer.outcome == ClientAnswer::Outcome::unsent) co_return co_await ask(request);
  co_return answer;
}

// Sends the request, then reads the answer. What it does not read to the end is closed without a
// TLS shutdown: all that matters has been read by then.
asio::awaitable<ClientAnswer> HttpClient::converse(const ClientRequest& request) {
  std::unique_ptr<Link> link = std::move(link_);
  link->transport().expires_after(options_.timeout);
  error_code error =
      co_await link->write_all(request_text(request, server_, options_.keeps_connection));
  // A server that refuses a body may answer before it has read all of it.
  if (!error) error = co_await link->write_all(request.body);
  if (error && link->was_used) co_return unsent(error.message());
  const std::string write_failure = error ? error.message() : "";
  error.clear();

  beast::flat_buffer buffer(kMostHeaderBytes + kReadAtOnce);
  AnswerParser parser;
  parser.header_limit(kMostHeaderBytes);
  parser.body_limit(boost::none);  // any length is allowed: it need not be read to its end
  std::string text(options_.most_body, '\0');
  auto& body = parser.get().body();
  body.data = text.data();
  body.size = text.size();
  body.more = true;
  while (!error && !parser.is_header_done()) error = co_await read_more(*link, buffer, parser);
  if (error && link->was_used && !parser.got_some()) co_return unsent(error.message());
  if (error && !write_failure.empty())
    co_return unknown("sending the message failed: " + write_failure);
  if (error == beast::error::timeout)
    co_return unknown(fmt::format("gave no answer within {} ms", options_.timeout.count()));
  if (error) co_return unknown("gave no valid HTTP answer: " + error.message());

  ClientAnswer answer{.outcome = ClientAnswer::Outcome::answered};
  answer.status = parser.get().result_int();
  answer.retry_after = parser.get()[http::field::retry_after];
  const bool accepted = answer.status / 100 == 2;
  if (!accepted) link->transport().expires_after(kReasonLimit);
  while ((!accepted || options_.reads_accepted) && !error && !parser.is_done() && body.size > 0)
    error = co_await read_more(*link, buffer, parser);
  text.resize(text.size() - body.size);
  answer.body = std::move(text);
  if (!error && parser.is_done() && options_.keeps_connection && parser.keep_alive() &&
      buffer.size() == 0) {
    link->was_used = true;
    link_ = std::move(link);
  }
  co_return answer;
}

}  // namespace faultline
