// What the columns of a bandwidth table mean. Scripts name them as they like, with the unit after
// the name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace faultline {

enum class Meaning { other, size, type, redop, algbw, busbw };

struct Column {
  Meaning means = Meaning::other;
  int unit = 1;  // in bytes for a size, in MB/s for a bandwidth
};

// "Size(B) Algo BW(GB/s) Bus BW(GB/s)": three columns. Empty: a word belongs to no known name.
std::vector<Column> columns_in(std::string_view head);

// "134217728", "128M": the size in bytes.
std::optional<std::uint64_t> size_in(std::string_view text, int unit);

}  // namespace faultline
