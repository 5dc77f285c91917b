// Sends one message to one receiver.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <string>
#include <vector>

#include "alerts/attempt.h"
#include "alerts/messages.h"
#include "alerts/receiver.h"

namespace faultline {

// delivery: the same for each attempt to send the same message, so that a receiver recognises a
// message that it took but could not acknowledge.
boost::asio::awaitable<Attempt> send_alerts(const Receiver& receiver,
                                            const std::vector<Alert>& alerts,
                                            const Occasion& occasion, const std::string& delivery);

// An invented finding, to test a receiver with.
std::vector<OutboxRow> sample_rows(Timestamp now);

}  // namespace faultline
