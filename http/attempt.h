// ?attempt=N of a question about a job that was started again.
#pragma once

#include <memory>
#include <variant>

#include "http/message.h"
#include "service/services.h"

namespace faultline {

// The diagnosis of the run that the request means, the latest where it says none; or what to answer
// where there is none.
std::variant<std::shared_ptr<const Diagnosis>, Response> diagnosis_meant(const Request& request,
                                                                         Services& services);

}  // namespace faultline
