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
boost::asio::awaitable<std::variant<std::string, Problem>> read_whole_body(const Request& request,
                                                                           Exchange& exchange,
                                                                           HeldBodies::Share& held);

// Content-Encoding: none, gzip, or zstd.
std::variant<std::string, Problem> unpacked_body(const Request& request, std::string body);

}  // namespace faultline
