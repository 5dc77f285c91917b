#include "app/failure_text.h"

#include <new>
#include <system_error>

namespace faultline {

std::string failure_text(const std::exception& failure) {
  if (dynamic_cast<const std::bad_alloc*>(&failure) != nullptr)
    return "there is not enough memory; allow more";
  const auto* refused = dynamic_cast<const std::system_error*>(&failure);
  if (refused != nullptr && refused->code() == std::errc::resource_unavailable_try_again)
    return "the system refuses a thread; allow more memory or threads";
  return failure.what();
}

}  // namespace faultline
