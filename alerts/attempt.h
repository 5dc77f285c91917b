// How an attempt to send a message to a receiver ended.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "store/outbox_row.h"

namespace faultline {

struct Attempt {
  DeliveryOutcome outcome = DeliveryOutcome::unsent;
  std::string why;                                  // for people; empty if it was accepted
  std::optional<std::chrono::seconds> retry_after;  // if the receiver asked for it
};

}  // namespace faultline
