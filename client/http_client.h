// HttpClient: asks one server, bounded in time and in what is read of an answer, without redirects.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/address.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/url.h"

namespace faultline {

struct ClientRequest {
  std::string method = "POST";
  std::string target;  // path and query
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

struct ClientAnswer {
  // unsent: the server cannot have seen the request; unknown: it may have.
  enum class Outcome { unsent, unknown, answered };
  Outcome outcome = Outcome::unsent;
  std::string why;  // for people, if it was not answered
  unsigned status = 0;
  std::string retry_after;  // the header
  std::string body;         // its beginning
};

struct ClientOptions {
  std::string ca_file;                        // beside the system's authorities
  std::chrono::milliseconds timeout{10'000};  // for all of a request
  // What is read of a body. A body that is not read to its end costs the connection.
  std::size_t most_body = std::size_t{2} << 10;
  bool reads_accepted = false;  // the bodies of 2xx, too
  // For further requests. A request on a kept connection is sent again on a new one if it got no
  // answer, so it must be one that changes nothing when it comes twice.
  bool keeps_connection = false;
  // If not empty: which addresses may be connected to, and what to say if none may.
  std::function<bool(const boost::asio::ip::address&)> allows;
  std::string none_allowed;
};

class HttpClient {
 public:
  // `server`: its target does not matter.
  HttpClient(Url server, ClientOptions options);
  ~HttpClient();

  // One at a time.
  boost::asio::awaitable<ClientAnswer> ask(const ClientRequest& request);

 private:
  class Link;
  struct Opened;

  boost::asio::awaitable<Opened> open();
  boost::asio::awaitable<ClientAnswer> converse(const ClientRequest& request);

  Url server_;
  ClientOptions options_;
  std::unique_ptr<Link> link_;  // kept from the request before
};

}  // namespace faultline
