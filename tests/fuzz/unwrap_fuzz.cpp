// Lines in any order, torn anywhere: the unwrapper does not crash, its memory is bounded, and one
// that is replaced after each line by a new one with the same memory gives the same result.
#include <cstdlib>
#include <string_view>
#include <vector>

#include "unwrapping.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace faultline;
  std::vector<std::string> lines;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  for (std::size_t end; (end = rest.find('\n')) != std::string_view::npos;
       rest.remove_prefix(end + 1))
    lines.emplace_back(rest.substr(0, end));
  lines.emplace_back(rest);

  if (unwrap_all(lines) != unwrap_all_with_restarts(lines)) std::abort();

  Unwrapper unwrapper(reference_time());
  unwrapper.restore({reinterpret_cast<const char*>(data), size});
  for (const std::string& line : lines) unwrapper.unwrap(line);
  if (unwrapper.save().size() > (std::size_t{2} << 20)) std::abort();
  return 0;
}
