// The logs of bench/ship.sh: each line has a number, so that whoever has lines of a log can be
// asked which of them it has.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace faultline {

inline constexpr int kLogs = 16;
inline constexpr const char* kHost = "gpu-7";

inline std::string log_name(int log) { return fmt::format("rank{}.log", log); }

// A folder with the logs, and what tells what they should be.
struct LogFolder {
  std::filesystem::path folder;

  std::filesystem::path log(int number) const { return folder / "logs" / log_name(number); }
  // All that was ever written to a log, one behind the other.
  std::filesystem::path truth(int number) const { return folder / "truth" / log_name(number); }
  std::filesystem::path acts_file() const { return folder / "acts"; }
};

// What was written to each log while it was rotated in one way: lines `first` to `last`, from 1.
struct Act {
  std::string name;
  int log = 0;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

inline std::vector<Act> acts_in(const LogFolder& logs) {
  std::ifstream file(logs.acts_file());
  std::vector<Act> acts;
  for (Act act; file >> act.name >> act.log >> act.first >> act.last;) acts.push_back(act);
  return acts;
}

// A line with its number: "note 17 of ... end". A server keeps it, because it is no call. What a
// shipper made of it may stand around it.
constexpr std::string_view kNote = "note ";
constexpr std::string_view kEndOfNote = " end";

inline std::optional<std::uint64_t> number_of_note(std::string_view line) {
  const std::size_t begin = line.find(kNote);
  if (begin == std::string_view::npos || line.find(kEndOfNote, begin) == std::string_view::npos)
    return std::nullopt;
  line.remove_prefix(begin + kNote.size());
  std::uint64_t number = 0;
  const auto [end, wrong] = std::from_chars(line.data(), line.data() + line.size(), number);
  return wrong == std::errc() ? std::optional(number) : std::nullopt;
}

}  // namespace faultline
