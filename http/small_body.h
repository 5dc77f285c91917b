// Reads the body of a question into memory: a few texts, never a log.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <string>
#include <variant>

#include "http/message.h"

namespace faultline {

class RequestReader;

// The body; or the answer if it is too large, malformed or late.
boost::asio::awaitable<std::variant<std::string, Response>> read_small_body(
    RequestReader& reader, std::chrono::seconds limit);

}  // namespace faultline
