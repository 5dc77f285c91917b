// Memory for texts that had to be changed: they live until the next clear().
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory_resource>
#include <span>
#include <string_view>

namespace faultline {

class TextPool {
 public:
  void clear() { memory_.release(); }

  std::span<char> room(std::size_t size) {
    return {static_cast<char*>(memory_.allocate(std::max<std::size_t>(size, 1), 1)), size};
  }

  std::string_view copy(std::string_view text) {
    const std::span<char> copied = room(text.size());
    std::copy(text.begin(), text.end(), copied.begin());
    return {copied.data(), copied.size()};
  }

 private:
  // Enough for all but the longest lines, so that the common case does not allocate.
  std::array<std::byte, std::size_t{32} << 10> first_;
  std::pmr::monotonic_buffer_resource memory_{first_.data(), first_.size()};
};

}  // namespace faultline
