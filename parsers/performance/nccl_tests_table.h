// The columns of the tables of nccl-tests. They depend on the version, the collective and flags, so
// a row is read by the names above it. If these are lost, it is read by its shape.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/saved_bytes.h"

namespace faultline {

struct NcclTestsRow {
  std::uint64_t size = 0;         // bytes
  std::string redop;              // sum, none; empty: no such column
  bool measured = false;          // false: the row stops before its first time
  bool torn = false;              // text of another process follows on the same line
  std::array<double, 2> algbw{};  // GB/s, out of place and in place
  std::array<double, 2> busbw{};
  // The number of wrong values; none if nothing was checked, or only a deviation is printed.
  std::array<std::optional<double>, 2> wrong{};
};

struct NcclTestsLayout {
  int tokens = 0;   // words in a whole row
  int leading = 0;  // words before the first time
  int size = -1;
  int type = -1;
  int redop = -1;
  std::array<int, 2> algbw{-1, -1};
  std::array<int, 2> busbw{-1, -1};
  std::array<int, 2> wrong{-1, -1};
  // The units of sizes (in bytes) and of bandwidths (in MB/s).
  int size_unit = 1;
  int bandwidth_unit = 1000;

  bool known() const { return tokens > 0; }
  void save(SavedBytesWriter& saved) const;
  void restore(SavedBytesReader& saved);
};

// Reads the line that names the columns: "#  size  count  type  redop  root  time  algbw  busbw
// #wrong …". Scripts that print such tables may have fewer columns, and other names: "Size(B) Algo
// BW(GB/s) Bus BW(GB/s)".
std::optional<NcclTestsLayout> nccl_tests_layout(std::string_view head);

// The layout of a whole row, by its shape alone.
std::optional<NcclTestsLayout> guessed_nccl_tests_layout(std::string_view row);

std::optional<NcclTestsRow> nccl_tests_row(NcclTestsLayout layout, std::string_view text);

// The times out of place or in place. They are printed long after the first columns of the row, so
// other lines may come between.
struct NcclTestsTimes {
  double algbw = 0;  // GB/s
  double busbw = 0;
  std::optional<double> wrong;
  bool torn = false;
};
std::optional<NcclTestsTimes> nccl_tests_times(std::uint64_t bytes, std::string_view text);

}  // namespace faultline
