#include "alerts/http_post.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/network_v4.hpp>
#include <charconv>

#include "client/http_client.h"

namespace faultline {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kMostReason = 200;
constexpr std::chrono::hours kMostRetryAfter{1};

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
  Attempt attempt{DeliveryOutcome::unknown, fmt::format("answers {}", status), {}};
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
  ClientOptions options{.ca_file = post.ca_file, .timeout = post.timeout};
  if (!post.allow_private) {
    options.allows = [](const asio::ip::address& address) { return !is_private(address); };
    options.none_allowed =
        fmt::format("{} is a private address; set allow_private = true to allow it", post.url.host);
  }
  HttpClient client(post.url, std::move(options));
  // It has a name because g++ 12 destroys such a temporary of a co_await twice.
  const ClientRequest request{
      .target = post.url.target, .headers = post.headers, .body = post.body};
  const ClientAnswer answer = co_await client.ask(request);
  if (answer.outcome == ClientAnswer::Outcome::unsent)
    co_return Attempt{DeliveryOutcome::unsent, answer.why, {}};
  if (answer.outcome == ClientAnswer::Outcome::unknown)
    co_return Attempt{DeliveryOutcome::unknown, answer.why, {}};
  co_return attempt_of(answer.status, answer.retry_after, answer.body);
}

}  // namespace faultline
