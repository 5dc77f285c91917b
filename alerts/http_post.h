// One POST to a receiver: bounded in time and in what is read of the answer, without redirects.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/address.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alerts/attempt.h"
#include "client/url.h"

namespace faultline {

struct HttpPost {
  Url url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::string ca_file;  // empty: the system's authorities
  bool allow_private = false;
  std::chrono::milliseconds timeout{10'000};  // for all of it
};

// Whether an address is not public: in a private network, or of the machine itself.
bool is_private(const boost::asio::ip::address& address);

// What a status means for the message: accepted, refused for good, or to be tried again.
Attempt attempt_of(unsigned status, std::string_view retry_after, std::string_view body);

boost::asio::awaitable<Attempt> http_post(const HttpPost& post);

}  // namespace faultline
