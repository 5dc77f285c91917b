#include "alerts/http_post.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/beast/version.hpp>
#include <charconv>

#include "alerts/authorities.h"

namespace faultline {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using boost::system::error_code;

constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);

constexpr std::uint32_t kMostHeaderBytes = 16 << 10;
// The most that is read of a body: the reason of a refusal is all that matters in it.
constexpr std::size_t kMostBodyBytes = 2 << 10;
constexpr std::size_t kMostReason = 200;
constexpr std::chrono::seconds kReasonLimit{2};
constexpr std::chrono::hours kMostRetryAfter{1};

Attempt unsent(std::string why) { return {DeliveryOutcome::unsent, std::move(why), {}}; }
Attempt unknown(std::string why) { return {DeliveryOutcome::unknown, std::move(why), {}}; }

bool in_network(const asio::ip::address_v4& address, const char* network) {
  const auto net = asio::ip::make_network_v4(network);
  return (address.to_uint() & net.netmask().to_uint()) == net.network().to_uint();
}

bool is_private_v4(const asio::ip::address_v4& address) {
  constexpr const char* kNetworks[] = {"0.0.0.0/8",    "10.0.0.0/8",     "100.64.0.0/10",
                                       "127.0.0.0/8",  "169.254.0.0/16", "172.16.0.0/12",
                                       "192.0.0.0/24", "192.168.0.0/16", "198.18.0.0/15",
                                       "224.0.0.0/4",  "240.0.0.0/4"};
  return std::ranges::any_of(kNetworks,
                             [&](const char* network) { return in_network(address, network); });
}

std::string printable(std::string_view text) {
  std::string out(text.substr(0, kMostReason));
  for (char& c : out)
    if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) >= 0x7f) c = ' ';
  return out;
}

// A connection, encrypted or not. Beast's own operations would be compiled for each of the two,
// which takes most of a minute.
class Wire {
 public:
  virtual ~Wire() = default;
  virtual asio::awaitable<std::size_t> read_some(asio::mutable_buffer into, error_code& error) = 0;
  virtual asio::awaitable<std::size_t> write_some(asio::const_buffer from, error_code& error) = 0;
};

template <class Stream>
class WireOver final : public Wire {
 public:
  explicit WireOver(Stream& stream) : stream_(stream) {}

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
  Stream& stream_;
};

std::string request_of(const HttpPost& post) {
  std::string request = fmt::format(
      "POST {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: Faultline\r\nAccept: */*\r\n"
      "Connection: close\r\n",
      post.url.target, post.url.host_header());
  for (const auto& [name, value] : post.headers) request += fmt::format("{}: {}\r\n", name, value);
  return request + fmt::format("Content-Length: {}\r\n\r\n{}", post.body.size(), post.body);
}

asio::awaitable<error_code> write_all(Wire& wire, std::string_view text) {
  error_code error;
  while (!text.empty() && !error)
    text.remove_prefix(co_await wire.write_some(asio::buffer(text), error));
  co_return error;
}

using AnswerParser = http::response_parser<http::buffer_body>;

// Gives the parser what the buffer holds. False: it needs more.
bool parse_some(beast::flat_buffer& buffer, AnswerParser& parser, error_code& error) {
  const std::size_t taken = parser.put(buffer.data(), error);
  buffer.consume(taken);
  if (error == http::error::need_more) error.clear();
  return taken > 0 || error;
}

// Reads more of the answer into the parser: all that arrives, or as much as it has room for.
asio::awaitable<error_code> read_more(Wire& wire, beast::flat_buffer& buffer,
                                      AnswerParser& parser) {
  error_code error;
  // The buffer may hold half of a chunk's header: then the parser takes nothing, and more is read.
  if (buffer.size() > 0 && parser.is_header_done() && parse_some(buffer, parser, error))
    co_return error;
  if (buffer.size() == buffer.max_size()) co_return http::error::header_limit;
  const auto room = buffer.prepare(std::min<std::size_t>(4096, buffer.max_size() - buffer.size()));
  const std::size_t bytes = co_await wire.read_some(room, error);
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

// Sends the request, then reads the head of the answer and, of a refusal, a little of the body.
asio::awaitable<Attempt> converse(Wire& wire, beast::tcp_stream& transport, const HttpPost& post) {
  const std::string request = request_of(post);
  error_code error = co_await write_all(wire, request);
  if (error) co_return unknown("sending the message failed: " + error.message());
  beast::flat_buffer buffer(kMostHeaderBytes + kMostBodyBytes);
  AnswerParser parser;
  parser.header_limit(kMostHeaderBytes);
  parser.body_limit(boost::none);  // any length is allowed: it is not read to its end
  std::array<char, kMostBodyBytes> reason{};
  auto& body = parser.get().body();
  body.data = reason.data();
  body.size = reason.size();
  body.more = true;
  while (!error && !parser.is_header_done()) error = co_await read_more(wire, buffer, parser);
  if (error == beast::error::timeout)
    co_return unknown(fmt::format("gave no answer within {} ms", post.timeout.count()));
  if (error) co_return unknown("gave no valid HTTP answer: " + error.message());
  const unsigned status = parser.get().result_int();
  if (status / 100 != 2) {
    transport.expires_after(kReasonLimit);
    while (!error && !parser.is_done() && body.size > 0)
      error = co_await read_more(wire, buffer, parser);
  }
  const std::string retry_after(parser.get()[http::field::retry_after]);
  co_return attempt_of(status, retry_after, {reason.data(), reason.size() - body.size});
}

asio::awaitable<Attempt> over_tls(beast::tcp_stream transport, const HttpPost& post) {
  asio::ssl::context context(asio::ssl::context::tls_client);
  context.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                      asio::ssl::context::no_tlsv1_1);
  context.set_verify_mode(asio::ssl::verify_peer);
  error_code error;
  context.set_default_verify_paths(error);
  if (const std::string file = authorities_elsewhere("/"); !file.empty())
    context.load_verify_file(file, error);
  if (!post.ca_file.empty()) context.load_verify_file(post.ca_file, error);
  if (error) co_return unsent(fmt::format("{}: cannot be read: {}", post.ca_file, error.message()));
  beast::ssl_stream<beast::tcp_stream> stream(std::move(transport), context);
  stream.set_verify_callback(asio::ssl::host_name_verification(post.url.host));
  SSL_set_tlsext_host_name(stream.native_handle(), post.url.host.c_str());
  auto [failed] = co_await stream.async_handshake(asio::ssl::stream_base::client, kNoThrow);
  if (failed) co_return unsent("TLS: " + failed.message());
  // Closes without a TLS shutdown: all that matters has been read by then.
  WireOver wire(stream);
  co_return co_await converse(wire, beast::get_lowest_layer(stream), post);
}

}  // namespace

bool is_private(const asio::ip::address& address) {
  if (address.is_v4()) return is_private_v4(address.to_v4());
  const asio::ip::address_v6 v6 = address.to_v6();
  if (v6.is_v4_mapped()) return is_private_v4(asio::ip::make_address_v4(asio::ip::v4_mapped, v6));
  const auto bytes = v6.to_bytes();
  const bool unique_local = (bytes[0] & 0xfe) == 0xfc;
  // Only 2000::/3 is public, except 2002::/16, which leads to IPv4 addresses. 64:ff9b::/96, which
  // also does, is outside it.
  const bool global = (bytes[0] & 0xe0) == 0x20 && !(bytes[0] == 0x20 && bytes[1] == 0x02);
  return unique_local || !global;
}

Attempt attempt_of(unsigned status, std::string_view retry_after, std::string_view body) {
  if (status / 100 == 2) return {DeliveryOutcome::accepted, {}, {}};
  Attempt attempt = unknown(fmt::format("answers {}", status));
  if (status / 100 == 3) attempt.why += ", a redirect, which is not followed";
  if (!body.empty()) attempt.why += ": " + printable(body);
  // A wrong message stays wrong, so it is not sent again. A wrong receiver can be fixed.
  if (status == 400 || status == 413 || status == 422) attempt.outcome = DeliveryOutcome::refused;
  std::int64_t seconds = 0;
  const char* end = retry_after.data() + retry_after.size();
  const auto [stop, error] = std::from_chars(retry_after.data(), end, seconds);
  if (error == std::errc{} && stop == end && seconds >= 0)
    attempt.retry_after = std::min<std::chrono::seconds>(
        std::chrono::seconds(std::min<std::int64_t>(seconds, 1'000'000)), kMostRetryAfter);
  return attempt;
}

asio::awaitable<Attempt> http_post(const HttpPost& post) {
  const auto executor = co_await asio::this_coro::executor;
  tcp::resolver resolver(executor);
  auto [resolve_error, found] =
      co_await resolver.async_resolve(post.url.host, post.url.port, kNoThrow);
  if (resolve_error)
    co_return unsent(fmt::format("{}: {}", post.url.host, resolve_error.message()));
  // Connects only to the addresses that were checked: no second look-up can give others.
  std::vector<tcp::endpoint> allowed;
  for (const auto& entry : found)
    if (post.allow_private || !is_private(entry.endpoint().address()))
      allowed.push_back(entry.endpoint());
  if (allowed.empty())
    co_return unsent(fmt::format("{} is a private address; set allow_private = true to allow it",
                                 post.url.host));
  beast::tcp_stream stream(executor);
  stream.expires_after(post.timeout);
  auto [connect_error, endpoint] = co_await stream.async_connect(allowed, kNoThrow);
  if (connect_error) co_return unsent("cannot be reached: " + connect_error.message());
  WireOver wire(stream);
  if (!post.url.tls) co_return co_await converse(wire, stream, post);
  co_return co_await over_tls(std::move(stream), post);
}

}  // namespace faultline
