// How an attempt to tell a receiver something ended.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "store/outbox_row.h"

namespace faultline {

struct Attempt {
  DeliveryOutcome outcome = DeliveryOutcome::unsent;
  std::string why;                                  // for people, unless it was accepted
  std::optional<std::chrono::seconds> retry_after;  // as the receiver wishes
};

}  // namespace faultline
