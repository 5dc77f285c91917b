// The columns of nccl-tests' tables. They changed with versions, with the collective and with
// flags, so a row is read by the names above it; where those are lost, by its shape.
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
  bool torn = false;              // what another printed stands there, on the same line
  std::array<double, 2> algbw{};  // GB/s, out of place and in place
  std::array<double, 2> busbw{};
  // Values found wrong; not told, if they were not checked, or only a deviation is printed.
  std::array<std::optional<double>, 2> wrong{};
};

struct NcclTestsLayout {
  int tokens = 0;   // of a whole row
  int leading = 0;  // before the first time
  int size = -1;
  int type = -1;
  int redop = -1;
  std::array<int, 2> algbw{-1, -1};
  std::array<int, 2> busbw{-1, -1};
  std::array<int, 2> wrong{-1, -1};
  // What a size and a bandwidth are counted in: bytes, and MB/s.
  int size_unit = 1;
  int bandwidth_unit = 1000;

  bool known() const { return tokens > 0; }
  void save(SavedBytesWriter& saved) const;
  void restore(SavedBytesReader& saved);
};

// The line that names the columns: "#  size  count  type  redop  root  time  algbw  busbw #wrong
// …". A script that prints the same may have fewer of them, and names of its own: "Size(B) Algo
// BW(GB/s) Bus BW(GB/s)".
std::optional<NcclTestsLayout> nccl_tests_layout(std::string_view head);

// A whole row's, by its shape alone.
std::optional<NcclTestsLayout> guessed_nccl_tests_layout(std::string_view row);

std::optional<NcclTestsRow> nccl_tests_row(NcclTestsLayout layout, std::string_view text);

// What was measured out of place, or in place: printed when the row has stood there for long, so
// that lines of others come between.
struct NcclTestsTimes {
  double algbw = 0;  // GB/s
  double busbw = 0;
  std::optional<double> wrong;
  bool torn = false;
};
std::optional<NcclTestsTimes> nccl_tests_times(std::uint64_t bytes, std::string_view text);

}  // namespace faultline
