// What the reports of ncclras have in common: its words for states and errors, and the ids of
// communicators.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/fact.h"

namespace faultline {

inline constexpr std::string_view kNcclras = "ncclras";
inline constexpr std::string_view kNcclrasMonitor = "ncclras_monitor";

// "00cf264af53edbe9" or "0xcf264af53edbe9" -> "0xcf264af53edbe9", as Init lines print it.
std::optional<std::string> communicator_id_of(std::string_view hash);

// RUNNING -> running, NOCOMM and UNKNOWN -> missing; empty: there is no such status.
std::string_view rank_state_of(std::string_view status);

// An ncclResult_t in the words of ncclras; empty: no error, or not yet decided.
std::string error_of_result(std::int64_t result);

// The state of a process according to an event of the monitor: dead, unresponsive, running; empty:
// the event says nothing that lasts.
std::string_view process_state_of(std::string_view event);
bool is_ncclras_event(std::string_view event);

}  // namespace faultline
