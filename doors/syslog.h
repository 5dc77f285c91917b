// A message of syslog: RFC 5424, RFC 3164, and what programs send in the place of these.
#pragma once

#include <string_view>

#include "doors/record.h"
#include "model/time.h"

namespace faultline {

// Gives exactly one message: what cannot be taken apart is a message as it is. `received`: when it
// came, which says of which year it is if it does not say so itself.
void read_syslog(std::string_view text, Timestamp received, RecordVisitor& visitor);

}  // namespace faultline
