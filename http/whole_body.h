// Reads a body that means nothing in part into memory, and unpacks it.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <string>
#include <variant>

#include "http/handlers.h"
#include "http/message.h"
#include "http/problem.h"

namespace faultline {

// Packed and unpacked alike.
inline constexpr std::size_t kMostWholeBody = std::size_t{64} << 20;

// kClientLeft as the status: nobody waits for an answer.
boost::asio::awaitable<std::variant<std::string, Problem>> read_whole_body(Exchange& exchange,
                                                                           HeldBodies::Share& held);

// Whether its Content-Type is JSON. Doors take anything else for protobuf, as their servers do.
bool has_json_body(const Request& request);

// Content-Encoding: none, gzip, or zstd.
std::variant<std::string, Problem> unpacked_body(const Request& request, std::string body);

}  // namespace faultline
