// Which receivers are told of which findings, and from when on.
#pragma once

#include <string_view>
#include <vector>

#include "alerts/receiver.h"
#include "store/outbox_row.h"

namespace faultline {

// '*' stands for any characters.
bool matches(std::string_view pattern, std::string_view text);

// A function of its arguments; as AlertRouting::route asks.
std::vector<Delivery> route(const std::vector<Receiver>& receivers, const AlertSubject& subject);

}  // namespace faultline
