// The addresses that take logs, each in its own protocol, as a shipper speaks it.
#pragma once

#include <string>
#include <string_view>

#include "faults/client.h"
#include "faults/ledger.h"

namespace faultline::faults {

// The line as the server stores it: without a newline.
std::string as_stored(const SentSource& source, std::string_view line);

// The body in the protocol of the source's door.
Shipment shipment_of(const SentSource& source, const SentBody& body);

enum class Taken { all, nothing, wrong };

// What an answer says of a body. Taken::nothing: the client sends it again.
Taken taken(const Answer& answer, const SentSource& source, const SentBody& body);

}  // namespace faultline::faults
