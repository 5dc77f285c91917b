#include "ship/server_link.h"

#include <fmt/format.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/json.hpp>
#include <cctype>
#include <fstream>
#include <optional>
#include <utility>

namespace faultline {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;

std::string first_line_of(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
  return line;
}

using MaybeAnswer = std::shared_ptr<std::optional<ClientAnswer>>;

// Owns all that it uses: after a stop it is left where it waits.
asio::awaitable<void> ask_once(std::shared_ptr<HttpClient> client, ClientRequest request,
                               MaybeAnswer answer) {
  *answer = co_await client->ask(request);
}

}  // namespace

ServerLink::ServerLink(ShipServer server, ClientOptions options)
    : server_(std::move(server)), options_([&] {
        options.ca_file = server_.ca_file;
        return std::move(options);
      }()) {}

void ServerLink::stop() {
  stopped_ = true;
  io_.stop();
}

ClientAnswer ServerLink::ask(ClientRequest request, bool last) {
  if (!client_) client_ = std::make_shared<HttpClient>(server_.url, options_);
  if (!server_.token_file.empty())
    request.headers.emplace_back("Authorization", "Bearer " + first_line_of(server_.token_file));
  const auto answer = std::make_shared<std::optional<ClientAnswer>>();
  try {
    asio::co_spawn(io_, ask_once(client_, std::move(request), answer),
                   [](std::exception_ptr failure) {
                     if (failure) std::rethrow_exception(failure);
                   });
    io_.restart();
    if (!stopped_ || last) io_.run();
  } catch (const std::exception& failure) {  // such as no descriptor that is left
    return {.outcome = ClientAnswer::Outcome::unsent, .why = failure.what()};
  }
  if (!*answer) {
    // It was stopped in the middle; the connection is of no use any more.
    client_.reset();
    return {.outcome = ClientAnswer::Outcome::unknown, .why = "the agent stops"};
  }
  return std::move(**answer);
}

std::string ServerLink::target(std::string_view path) const {
  std::string base = server_.url.target;
  while (base.ends_with('/')) base.pop_back();
  return base.append(path);
}

std::string ServerLink::name() const {
  return fmt::format("{}://{}", server_.url.tls ? "https" : "http", server_.url.host_header());
}

std::string query_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || std::string_view("-._~/").find(c) != std::string_view::npos)
      out += c;
    else
      out += fmt::format("%{:02X}", byte);
  }
  return out;
}

std::string problem_in(const ClientAnswer& answer) {
  boost::system::error_code wrong;
  const json::value problem = json::parse(answer.body, wrong);
  const json::value* detail =
      !wrong && problem.is_object() ? problem.get_object().if_contains("detail") : nullptr;
  const std::string why =
      detail != nullptr && detail->is_string() ? std::string(detail->as_string()) : "";
  return why.empty() ? fmt::format("answers {}", answer.status)
                     : fmt::format("answers {}: {}", answer.status, why);
}

}  // namespace faultline
