// The bodies of /v1/logs: OpenTelemetry's ExportLogsServiceRequest.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "doors/record.h"
#include "model/result.h"

namespace faultline {

Result<void> read_otlp_json(std::string_view body, RecordVisitor& visitor);
Result<void> read_otlp_protobuf(std::string_view body, RecordVisitor& visitor);

// An ExportLogsServiceResponse. `refused`: records that will never be taken.
std::string otlp_answer(bool as_json, std::uint64_t refused, const std::string& why);

// A google.rpc.Status.
std::string otlp_status(bool as_json, int code, const std::string& message);

}  // namespace faultline
