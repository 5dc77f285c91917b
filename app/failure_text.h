// What a person reads of a failure that ends a command.
#pragma once

#include <exception>
#include <string>

namespace faultline {

// In place of the system's words for want of memory or of threads, which name neither.
std::string failure_text(const std::exception& failure);

}  // namespace faultline
