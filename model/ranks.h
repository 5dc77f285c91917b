// Sets of ranks as short text: what a group of a thousand ranks takes in every rank's dump.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace faultline {

// No job has as many. More are not taken from a text.
inline constexpr int kMaxRanks = 1 << 20;

// "0-7", "2-14/4" (every fourth), "0-3 8 12-15". Ranks ascend.
std::string to_text(const std::vector<int>& ranks);

// The reverse; what to_text never writes is passed over.
std::vector<int> ranks_of(std::string_view text);

// "[0, 1, 2]", as PyTorch prints them: every number in it, in ascending order and once.
std::vector<int> ranks_in_list(std::string_view text);

}  // namespace faultline
