// A command as a receiver: it gets the message on stdin, and its exit status is the answer.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "alerts/attempt.h"

namespace faultline {

// Exit status 0: accepted. A command that does not end in time is killed.
boost::asio::awaitable<Attempt> run_command(
    const std::vector<std::string>& command, const std::string& message,
    const std::vector<std::pair<std::string, std::string>>& environment,
    std::chrono::milliseconds timeout);

}  // namespace faultline
