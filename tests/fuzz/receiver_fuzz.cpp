// Any bytes as the address and the answer of a receiver of alerts: an accepted address can be used,
// and only printable text of an answer reaches a terminal.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <fmt/format.h>

#include "alerts/http_post.h"
#include "oracle.h"

namespace {

using namespace faultline;
namespace asio = boost::asio;
using tcp = asio::ip::tcp;

void read_url(std::string_view text) {
  const auto url = parse_url(text);
  if (!url.has_value()) {
    require(!url.error().message.empty(), "a complaint says what is wrong");
    return;
  }
  require(!url->host.empty() && !url->port.empty() && url->target.starts_with('/'),
          "an address has a host, a port and a target");
  for (const std::string& part : {url->host, url->port, url->target, url->host_header()})
    require(part.find_first_of("\r\n \t") == std::string::npos, "no part ends the request's line");
  const std::string again =
      fmt::format("{}://{}{}", url->tls ? "https" : "http", url->host_header(), url->target);
  const auto same = parse_url(again);
  require(same.has_value() && same->host == url->host && same->target == url->target,
          "an address written again is the same");
}

void check(const Attempt& attempt) {
  require(!has_control_characters(attempt.why, false), "a reason can be shown");
  require(attempt.why.size() < 1024, "a reason is short");
  require((attempt.outcome == DeliveryOutcome::accepted) == attempt.why.empty(),
          "whatever was not accepted says why");
  if (attempt.retry_after)
    require(*attempt.retry_after <= std::chrono::hours{1} && attempt.retry_after->count() >= 0,
            "nobody makes us wait for ever");
}

// The attempt connects to this machine, to a server that answers with these bytes.
Attempt answered(std::string_view answer) {
  asio::io_context io;
  tcp::acceptor acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  tcp::socket socket(io);
  acceptor.async_accept(socket, [&](boost::system::error_code error) {
    if (error) return;
    boost::system::error_code ignored;
    asio::write(socket, asio::buffer(answer), ignored);
    socket.shutdown(tcp::socket::shutdown_send, ignored);
  });
  HttpPost post{.url = {.host = "127.0.0.1",
                        .port = std::to_string(acceptor.local_endpoint().port()),
                        .target = "/"},
                .body = "{}",
                .allow_private = true,
                .timeout = std::chrono::milliseconds(2000)};
  Attempt attempt;
  bool done = false;
  asio::co_spawn(io, http_post(post), [&](const std::exception_ptr& failure, Attempt result) {
    require(!failure, "an answer throws nothing");
    attempt = std::move(result);
    done = true;
  });
  io.run();
  require(done, "an attempt ends");
  return attempt;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const std::string_view url = input.text();
  read_url(url);
  const std::string_view answer = input.rest();
  check(attempt_of(input.byte() * 3U, url, answer));
  if (answer.empty()) return 0;
  const Attempt attempt = answered(answer);
  check(attempt);
  if (attempt.outcome == DeliveryOutcome::accepted)
    require(answer.starts_with("HTTP/1.") && answer.find(" 2") != std::string_view::npos,
            "only a status of success is one");
  return 0;
}
