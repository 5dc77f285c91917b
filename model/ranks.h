// Sets of ranks as short text: every rank's dump lists all members of its groups, maybe thousands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace faultline {

// No job has this many. Larger numbers in a text are no ranks.
inline constexpr int kMaxRanks = 1 << 20;

// "0-7", "2-14/4" (every fourth), "0-3 8 12-15". Ranks ascend.
std::string to_text(const std::vector<int>& ranks);

// The reverse. Ignores what to_text never writes.
std::vector<int> ranks_of(std::string_view text);

// "[0, 1, 2]", as PyTorch prints them: every number in it, in ascending order and once.
std::vector<int> ranks_in_list(std::string_view text);

}  // namespace faultline
