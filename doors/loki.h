// The bodies of /loki/api/v1/push.
#pragma once

#include <string_view>

#include "doors/record.h"
#include "model/result.h"

namespace faultline {

// {"streams":[{"stream":{...},"values":[["1772679449000000000","line"],...]}]}
Result<void> read_loki_json(std::string_view body, RecordVisitor& visitor);

// A PushRequest, after snappy.
Result<void> read_loki_protobuf(std::string_view body, RecordVisitor& visitor);

}  // namespace faultline
