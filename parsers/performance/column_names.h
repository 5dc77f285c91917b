// Columns of a bandwidth table by what they mean: scripts name them as they like, with the unit
// behind.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace faultline {

enum class Meaning { other, size, type, redop, algbw, busbw };

struct Column {
  Meaning means = Meaning::other;
  int unit = 1;  // of a size in bytes, of a bandwidth in MB/s
};

// "Size(B) Algo BW(GB/s) Bus BW(GB/s)": three. Empty: some word is no part of a name.
std::vector<Column> columns_in(std::string_view head);

// "134217728", "128M", in bytes.
std::optional<std::uint64_t> size_in(std::string_view text, int unit);

}  // namespace faultline
