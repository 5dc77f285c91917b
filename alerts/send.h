// Tells one receiver one message.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <string>
#include <vector>

#include "alerts/attempt.h"
#include "alerts/messages.h"
#include "alerts/receiver.h"

namespace faultline {

// delivery: the same for each attempt at the same message, so that a receiver that heard it and
// could not say so knows it again.
boost::asio::awaitable<Attempt> send_alerts(const Receiver& receiver,
                                            const std::vector<Alert>& alerts,
                                            const Occasion& occasion, const std::string& delivery);

// A finding that never was, to try a receiver with.
std::vector<OutboxRow> sample_rows(Timestamp now);

}  // namespace faultline
