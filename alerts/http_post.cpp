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

namespace faultline {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using boost::system::error_code;

constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);

constexpr std::uint32_t kMostHeaderBytes = 16 << 10;
// Of a refusal's reason; what else a receiver sends is of no interest.
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

http::request<http::string_body> request_of(const HttpPost& post) {
  http::request<http::string_body> request{http::verb::post, post.url.target, 11};
  request.set(http::field::host, post.url.host_header());
  request.set(http::field::user_agent, "Faultline");
  request.set(http::field::accept, "*/*");
  request.set(http::field::connection, "close");
  for (const auto& [name, value] : post.headers) request.set(name, value);
  request.body() = post.body;
  request.prepare_payload();
  return request;
}

// Sends and reads the answer's head, and a little of a refusal's body.
template <class Stream>
asio::awaitable<Attempt> converse(Stream& stream, beast::tcp_stream& transport,
                                  const HttpPost& post) {
  const http::request<http::string_body> request = request_of(post);
  auto [write_error, written] = co_await http::async_write(stream, request, kNoThrow);
  if (write_error) co_return unknown("does not take the message: " + write_error.message());
  beast::flat_buffer buffer(kMostHeaderBytes + kMostBodyBytes);
  http::response_parser<http::buffer_body> parser;
  parser.header_limit(kMostHeaderBytes);
  parser.body_limit(boost::none);  // it may be of any length; it is not read to its end
  auto [read_error, read] = co_await http::async_read_header(stream, buffer, parser, kNoThrow);
  if (read_error == beast::error::timeout)
    co_return unknown(fmt::format("gave no answer within {} ms", post.timeout.count()));
  if (read_error) co_return unknown("gives no answer that is HTTP: " + read_error.message());
  const unsigned status = parser.get().result_int();
  std::array<char, kMostBodyBytes> reason{};
  auto& body = parser.get().body();
  body.data = reason.data();
  body.size = reason.size();
  body.more = true;
  if (status / 100 != 2) {
    transport.expires_after(kReasonLimit);
    error_code error;
    while (!error && !parser.is_done() && body.size > 0)
      std::tie(error, std::ignore) =
          co_await http::async_read_some(stream, buffer, parser, kNoThrow);
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
  if (!post.ca_file.empty()) context.load_verify_file(post.ca_file, error);
  if (error) co_return unsent(fmt::format("{}: cannot be read: {}", post.ca_file, error.message()));
  beast::ssl_stream<beast::tcp_stream> stream(std::move(transport), context);
  stream.set_verify_callback(asio::ssl::host_name_verification(post.url.host));
  SSL_set_tlsext_host_name(stream.native_handle(), post.url.host.c_str());
  auto [failed] = co_await stream.async_handshake(asio::ssl::stream_base::client, kNoThrow);
  if (failed) co_return unsent("TLS: " + failed.message());
  // Closing without a word of farewell: all that matters has been read by then.
  co_return co_await converse(stream, beast::get_lowest_layer(stream), post);
}

}  // namespace

bool is_private(const asio::ip::address& address) {
  if (address.is_v4()) return is_private_v4(address.to_v4());
  const asio::ip::address_v6 v6 = address.to_v6();
  if (v6.is_v4_mapped()) return is_private_v4(asio::ip::make_address_v4(asio::ip::v4_mapped, v6));
  const auto bytes = v6.to_bytes();
  const bool unique_local = (bytes[0] & 0xfe) == 0xfc;
  // Only 2000::/3 is the public network; 64:ff9b::/96 and 2002::/16 lead to IPv4 addresses.
  const bool global = (bytes[0] & 0xe0) == 0x20 && !(bytes[0] == 0x20 && bytes[1] == 0x02);
  return unique_local || !global;
}

Attempt attempt_of(unsigned status, std::string_view retry_after, std::string_view body) {
  if (status / 100 == 2) return {DeliveryOutcome::accepted, {}, {}};
  Attempt attempt = unknown(fmt::format("answers {}", status));
  if (status / 100 == 3) attempt.why += ", a redirect, which is not followed";
  if (!body.empty()) attempt.why += ": " + printable(body);
  // What is wrong with the message stays wrong; what is wrong with the receiver can be mended.
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
  // The addresses are those that are connected to: nothing can be swapped in between.
  std::vector<tcp::endpoint> allowed;
  for (const auto& entry : found)
    if (post.allow_private || !is_private(entry.endpoint().address()))
      allowed.push_back(entry.endpoint());
  if (allowed.empty())
    co_return unsent(fmt::format("{} lies in a private network; allow_private = true allows that",
                                 post.url.host));
  beast::tcp_stream stream(executor);
  stream.expires_after(post.timeout);
  auto [connect_error, endpoint] = co_await stream.async_connect(allowed, kNoThrow);
  if (connect_error) co_return unsent("cannot be reached: " + connect_error.message());
  if (!post.url.tls) co_return co_await converse(stream, stream, post);
  co_return co_await over_tls(std::move(stream), post);
}

}  // namespace faultline
