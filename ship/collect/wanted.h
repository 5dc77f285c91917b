// What a server asks for. It may be hostile: nothing of it is more than a name to look up, a name
// to compare, or a number.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace faultline {

struct CollectRequest {
  std::string id;  // printable ASCII; empty if it has none that is sound
  std::string job;
  std::string kind;
  std::set<int> ranks;  // empty: all
  std::string why;      // for people
  std::string fault;    // why it is refused as it stands
};

struct WantedAnswer {
  std::vector<CollectRequest> wanted;
  std::string fault;  // of the answer as a whole
};

constexpr std::size_t kMostOfWantedAnswer = std::size_t{64} << 10;
WantedAnswer read_wanted(std::string_view body);

// For a line of the log: what cannot be printed is replaced, and what is long is cut.
std::string in_log(std::string_view text, std::size_t most_bytes = 120);

}  // namespace faultline
