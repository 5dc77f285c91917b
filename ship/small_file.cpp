#include "ship/small_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "ship/log_part.h"

namespace faultline {

std::string read_small_file(const std::string& path, std::size_t most) {
  const OpenDescriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  std::string text;
  while (file.ok() && text.size() < most) {
    char block[4096];
    const ssize_t count = read(file.get(), block, std::min(sizeof block, most - text.size()));
    if (count <= 0) break;
    text.append(block, static_cast<std::size_t>(count));
  }
  return text;
}

}  // namespace faultline
