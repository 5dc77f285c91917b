// A command as a receiver: the message on its stdin, its exit status the answer.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "alerts/attempt.h"

namespace faultline {

// 0: accepted. One that does not end in time is killed.
boost::asio::awaitable<Attempt> run_command(
    const std::vector<std::string>& command, const std::string& message,
    const std::vector<std::pair<std::string, std::string>>& environment,
    std::chrono::milliseconds timeout);

}  // namespace faultline
