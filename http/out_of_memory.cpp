#include "http/out_of_memory.h"

#include <unistd.h>

#include <string_view>

namespace faultline {

void end_out_of_memory() noexcept {
  constexpr int kStatus = 2;  // as of a server that cannot start
  constexpr std::string_view kWords =
      "faultline: there is not enough memory to go on; allow more, and start the server again\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kWords.data(), kWords.size());
  ::_exit(kStatus);
}

}  // namespace faultline
