// ?attempt=N of a question about a job that was started again.
#pragma once

#include <memory>
#include <variant>

#include "http/message.h"
#include "service/services.h"

namespace faultline {

// The diagnosis of the attempt that the request names, by default the latest; or the answer if
// there is no such job or attempt.
std::variant<std::shared_ptr<const Diagnosis>, Response> diagnosis_meant(const Request& request,
                                                                         Services& services);

}  // namespace faultline
