// Errors as clients get them: RFC 9457, application/problem+json, with a detail that says what to
// do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "http/message.h"
#include "model/result.h"

namespace faultline {

struct Problem {
  unsigned status = 500;
  std::string detail;
  std::optional<std::uint64_t> next_offset;  // of an upload: what the server holds of the source
  std::optional<int> retry_after_seconds;
  Headers headers;           // Allow, Accept-Encoding, …
  std::string_view refused;  // reason of the Refusal, if the status alone gives none
};

// A Refusal's reason that several places give.
inline constexpr std::string_view kTooManyConnections = "connections";

Response problem_response(const Problem& problem);

// For a sender whose connection others need (StopReason::others_wait).
Problem gives_way(std::string_view what_to_do);

// 400, 404, 409 or 413, as its kind says.
Problem problem_from(const Error& error);
inline Response problem_response(const Error& error) {
  return problem_response(problem_from(error));
}

}  // namespace faultline
